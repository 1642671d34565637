import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tracert_kernels import twins

from tests.kernels.paged import Paged, Shape, paged


def store(case: Paged, key: torch.Tensor, value: torch.Tensor, *, planned: bool = False) -> None:
    """Run the twin on the case's tokens."""
    plan = None
    if planned:
        plan = twins.plan(
            case.table,
            case.rows,
            case.query_start,
            case.context,
            case.token_row,
            case.position,
            case.shape.page_size,
        )
    twins.store_kv(key, value, case.cache, case.table, case.token_row, case.position, plan=plan)


def fresh(case: Paged, dtype: torch.dtype | None = None) -> tuple[torch.Tensor, torch.Tensor]:
    """A key and a value for each token of the case, unlike any other."""
    shape = (len(case.position), case.shape.kv_heads, case.shape.dim)
    key = torch.randn(shape, generator=torch.Generator().manual_seed(9)).to(dtype or case.shape.dtype)
    return key, key + 1


@settings(deadline=None, max_examples=60)
@given(
    sequences=st.lists(
        st.integers(1, 70).flatmap(lambda context: st.tuples(st.just(context), st.integers(0, context))),
        min_size=1,
        max_size=6,
    ),
    page_size=st.sampled_from([16, 32, 64]),
    dtype=st.sampled_from([torch.float32, torch.bfloat16, torch.float16]),
    planned=st.booleans(),
)
def test_each_token_lands_in_its_slot_and_nowhere_else(
    sequences: list[tuple[int, int]], page_size: int, dtype: torch.dtype, planned: bool
) -> None:
    """The arena afterwards is the arena before with just the slots of the tokens replaced."""
    case = paged(sequences, Shape(page_size, dtype=dtype), garbage=5.0)
    key, value = fresh(case)
    expected = case.arena.clone()
    for token, (row, position) in enumerate(zip(case.token_row, case.position, strict=True)):
        page = int(case.table[row, int(position) // page_size])
        expected[page, 1, 0, int(position) % page_size] = key[token]
        expected[page, 1, 1, int(position) % page_size] = value[token]
    store(case, key, value, planned=planned)
    assert torch.equal(expected, case.arena)


def test_what_is_stored_is_in_the_caches_dtype() -> None:
    """fp32 keys are rounded to a bf16 cache as torch rounds."""
    case = paged([(20, 1)], Shape(dtype=torch.bfloat16), garbage=0.0)
    key, value = fresh(case, torch.float32)
    store(case, key, value)
    assert torch.equal(key[0].bfloat16(), case.cache[case.held(0)[1], 0, 3])


def test_the_row_says_where_at_execution() -> None:
    """A page swapped in the table after the arguments were made is the page that is written."""
    case = paged([(20, 1)], Shape(), garbage=0.0)
    before = case.held(0)[1]
    unused = next(page for page in range(1, len(case.arena)) if page not in case.held(0))
    case.table[case.rows[0], 1] = unused
    old = case.cache[before].clone()
    key, value = fresh(case)
    store(case, key, value)
    assert torch.equal(key[0], case.cache[unused, 0, 3])
    assert torch.equal(old, case.cache[before])


@pytest.mark.parametrize("planned", [False, True], ids=["alone", "planned"])
@pytest.mark.parametrize(
    ("name", "change", "match"),
    [
        ("table", -1, "page -1 is out of range"),
        ("table", 7, "page 7 is out of range 0..7"),
        ("table", 2**31 - 1, "page 2147483647 is out of range 0..7"),
        ("token_row", -1, "row -1 is out of range 0..3"),
        ("token_row", 3, "row 3 is out of range 0..3"),
        ("position", -1, "position -1 is out of range 0..80"),
        ("position", 80, "position 80 is out of range 0..80"),
    ],
)
def test_out_of_range_raises_and_writes_nothing(name: str, change: int, match: str, planned: bool) -> None:
    """Ids, rows and positions never wrap, and the tokens before the wrong one are not written either."""
    case = paged([(40, 2)], Shape(), garbage=0.0)
    assert len(case.arena) == 7
    if name == "table":
        case.table[case.rows[0], 2] = change
    else:
        getattr(case, name)[1] = change
    before = case.arena.clone()
    key, value = fresh(case)
    with pytest.raises(IndexError, match=match):
        store(case, key, value, planned=planned)
    assert torch.equal(before, case.arena)
