import pytest
import torch
from tracert_kernels import twins
from tracert_kernels.plan import Batch, Plan
from tracert_kernels.scratch import Scratch

from tests.kernels.paged import Paged, Shape, paged


def plan(case: Paged, scratch: Scratch | None = None) -> Plan:
    """The plan of the case."""
    return twins.plan(
        case.table,
        case.rows,
        case.query_start,
        case.context,
        case.token_row,
        case.position,
        case.shape.page_size,
        scratch=scratch,
    )


def test_slots_are_the_tables() -> None:
    """A token's slot is the page that its row names now, and its place in it."""
    case = paged([(40, 3), (16, 1)], Shape())
    made = plan(case)
    held = case.held(0)
    assert torch.equal(torch.tensor([held[2], held[2], held[2], case.held(1)[0]]), made.slot_page)
    assert torch.equal(torch.tensor([5, 6, 7, 15]), made.slot_offset)
    assert max(held[2], case.held(1)[0]) == made.slot_page_max


def test_only_walked_entries_are_followed() -> None:
    """ceil(context / page_size) entries: the wrong ids behind them are not met, the last one is."""
    case = paged([(32, 1), (33, 1)], Shape())
    assert max(case.held(0) + case.held(1)) == plan(case).page_max
    case.context[0] = 33
    assert plan(case).page_max == 2**31 - 1


def test_sequences_of_like_length_are_attended_to_together() -> None:
    """One batch for those that little padding makes alike; those far longer, and chunks, go alone."""
    case = paged([(60, 1), (900, 1), (20, 5), (50, 1)], Shape())
    made = plan(case)
    (batch,) = made.batches
    assert torch.equal(torch.tensor([0, 7]), batch.tokens)
    assert torch.equal(torch.tensor([case.held(0), case.held(3)]), batch.own)
    assert torch.equal(torch.tensor([4, 14]), batch.dead.sum(1))
    assert sorted((span.first, span.end, span.context) for span in made.spans) == [(1, 2, 900), (2, 7, 20)]


def test_a_batch_is_no_larger_than_the_caches() -> None:
    """Past some 5,000 tokens a batch is split, but two sequences may stay together."""
    made = plan(paged([(1600, 1)] * 5, Shape(dim=16, kv_heads=1, groups=1)))
    assert sorted(len(batch.tokens) for batch in made.batches) == [2, 3]
    made = plan(paged([(4000, 1)] * 4, Shape(dim=16, kv_heads=1, groups=1)))
    assert sorted(len(batch.tokens) for batch in made.batches) == [2, 2]


def test_a_common_prefix_is_read_once() -> None:
    """Pages that sequences begin with are shared, but each keeps one of its own to hold its last token."""
    case = paged([(161, 1), (145, 1), (144, 1)], Shape(), prefix=9)
    (batch,) = plan(case).batches
    assert case.held(0)[:8] == batch.shared.tolist()
    own = [case.held(0)[8:], [*case.held(1)[8:], case.held(1)[8]], [case.held(2)[8]] * 3]
    assert own == batch.own.tolist()
    assert torch.equal(torch.tensor([15, 31, 32]), batch.dead.sum(1))


def test_a_short_common_prefix_is_not_worth_a_product_of_its_own() -> None:
    """Below eight shared pages the sequences stay a plain batch."""
    (batch,) = plan(paged([(128, 1), (128, 1)], Shape(), prefix=8)).batches
    assert batch.shared.tolist() == []
    assert batch.own.shape == (2, 8)


def test_value_rows_name_live_values_of_their_own_head() -> None:
    """Each bag lists its sequence's values in order, and something live in place of what is dead."""
    own = torch.tensor([[3, 5], [4, 4]])
    batch = Batch(torch.tensor([0, 1]), own[0, :0], own, torch.tensor([5, 2]), page_size=4)
    rows, bags = batch.value_rows(page_rows=100, kv_heads=2, groups=3, covers="valid")
    assert torch.equal(torch.arange(0, 96, 8), bags)
    by_bag = rows.view(2, 2, 3, 8)
    assert by_bag[0, 0, 2].tolist() == [308, 310, 312, 314, 508, 308, 308, 308]
    assert by_bag[1, 1, 0].tolist() == [409, 411, 409, 409, 409, 409, 409, 409]


def test_value_rows_name_the_dead_where_pages_are_covered_whole() -> None:
    """A walked page is named to its end; where a sequence has fewer pages, its first stands again."""
    own = torch.tensor([[3, 5], [4, 4]])
    batch = Batch(torch.tensor([0, 1]), own[0, :0], own, torch.tensor([5, 2]), page_size=4)
    rows, _ = batch.value_rows(page_rows=100, kv_heads=2, groups=3, covers="page")
    by_bag = rows.view(2, 2, 3, 8)
    assert by_bag[0, 0, 2].tolist() == [308, 310, 312, 314, 508, 510, 512, 514]
    assert by_bag[1, 1, 0].tolist() == [409, 411, 413, 415, 409, 411, 413, 415]


def test_scratch_is_the_callers() -> None:
    """The same bytes come back for the same name, larger ones when they no longer fit."""
    scratch = Scratch()
    first = scratch.take("keys", (4, 8), torch.float32)
    assert first.data_ptr() == scratch.take("keys", (2, 8), torch.bfloat16).data_ptr()
    assert first.data_ptr() != scratch.take("values", (4, 8), torch.float32).data_ptr()
    assert scratch.take("keys", (40, 8), torch.float32).shape == (40, 8)
    case = paged([(40, 1), (40, 1)], Shape())
    assert plan(case, scratch).scratch is scratch


@pytest.mark.parametrize(
    ("name", "index", "value", "match"),
    [
        ("query_start", 1, -1, "-1 queries"),
        ("query_start", 1, 60, "60 queries, context 40"),
        ("context", 0, 0, "1 queries, context 0"),
        ("context", 0, 81, "context 81: a row of the table holds 5 pages"),
        ("rows", 0, -1, "row -1 is out of range 0..4"),
        ("rows", 0, 4, "row 4 is out of range 0..4"),
    ],
)
def test_what_makes_no_sense_raises(name: str, index: int, value: int, match: str) -> None:
    """Counts and rows that no batch can have are refused, not clamped."""
    case = paged([(40, 1), (40, 1)], Shape())
    getattr(case, name)[index] = value
    with pytest.raises(IndexError, match=match):
        plan(case)
