import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tracert_kernels import twins
from tracert_kernels.guard import NOTHING, first_value

from tests.kernels import guard_cases
from tests.kernels.paged import Shape, paged

sequence = st.integers(1, 90).flatmap(lambda context: st.tuples(st.just(context), st.integers(0, context)))
BAD = (0, -1, 2**31 - 1, -(2**31), 10_000)


@settings(deadline=None, max_examples=50)
@given(st.data(), st.lists(sequence, min_size=1, max_size=5), st.sampled_from(["valid", "page"]))
def test_rows_that_name_no_page_are_noted_and_left_alone(data, sequences, covers):
    """Whatever the table holds: the first bad entry is told, others are answered as without a guard."""
    entries = [(b, index) for b, (context, _) in enumerate(sequences) for index in range(-(-context // 16))]
    where = data.draw(st.lists(st.sampled_from(entries), max_size=4))
    bad = [(b, index, data.draw(st.sampled_from(BAD))) for b, index in where]
    guard_cases.check_followed(twins, sequences, bad, covers=covers)


def test_the_first_id_past_the_pool_is_bad_and_the_last_page_is_not():
    """Pages are 1 to pages - 1."""
    case = paged([(40, 1)], Shape())
    guard = guard_cases.guard_of(case)
    for page, bad in ((len(case.arena), [2, len(case.arena)]), (len(case.arena) - 1, [-1, 0])):
        guard_cases.planted(case, [(0, 2, page)])
        twins.follow_rows(guard, case.table, case.rows, case.context, 16, len(case.arena))
        assert [3, *bad] == guard.notes[case.rows[0], :3].tolist()


def test_a_row_that_is_too_short_has_a_bad_entry_behind_its_end():
    """Nothing of it is read, and nothing raised."""
    case = paged([(60, 1)], Shape(), width=4)
    case.context[0] = 65
    guard = guard_cases.guard_of(case)
    twins.follow_rows(guard, case.table, case.rows, case.context, 16, len(case.arena))
    assert [5, 4, -1] == guard.notes[case.rows[0], :3].tolist()
    out = guard_cases.forward(twins, case, guard)
    assert (out == 0).all()


def test_nothing_is_stored_for_a_row_that_names_no_page():
    """Good pages of a bad row stay as they are, too."""
    guard_cases.check_stored_elsewhere_not(twins)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float8_e4m3fn, torch.int8], ids=str)
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_the_first_value_that_is_not_finite_in_what_is_stored(dtype, value):
    """The lowest layer first, then the lowest position; 8 bits tell of it though they may not keep it."""
    guard_cases.check_first_value(twins, dtype, stage="keys", value=value)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float8_e4m3fn, torch.int8], ids=str)
def test_the_first_value_that_is_not_finite_in_what_attention_gives(dtype):
    """It is told of the query's position: where the bytes lie that it met is for the history to say."""
    guard_cases.check_first_value(twins, dtype, stage="attention", value=float("nan"))


def test_a_number_that_what_it_is_stored_as_cannot_hold():
    """1e6 is finite, and infinite in fp16."""
    case = paged([(40, 1)], Shape(dtype=torch.float16), query_dtype=torch.float32, garbage=0.5)
    guard = guard_cases.guard_of(case, layer=7)
    twins.follow_rows(guard, case.table, case.rows, case.context, 16, len(case.arena))
    large = torch.full((1, 2, 32), 1e6)
    twins.store_kv(large, large, case.cache, guard.seen, case.token_row, case.position, guard=guard)
    assert first_value(int(guard.notes[case.rows[0], 3])) == (7, "keys", 39)


def test_finite_numbers_whose_sum_is_not_are_finite():
    """The quick look may say that something is wrong; the closer one finds nothing."""
    case = paged([(40, 1)], Shape(dtype=torch.float32), garbage=0.5)
    guard = guard_cases.guard_of(case)
    twins.follow_rows(guard, case.table, case.rows, case.context, 16, len(case.arena))
    large = torch.full((1, 2, 32), 3e38)
    twins.store_kv(large, large, case.cache, guard.seen, case.token_row, case.position, guard=guard)
    assert NOTHING == guard.notes[case.rows[0], 3]
