from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tracert_kernels import twins

from tests.kernels.paged import Paged, Shape, paged

TOLERANCE = {torch.float32: 1e-5, torch.float16: 3e-3, torch.bfloat16: 2e-2}


def attend(case: Paged, *, planned: bool = False, out: torch.Tensor | None = None) -> torch.Tensor:
    """What the twin writes for the case."""
    out = torch.full_like(case.queries, float("nan")) if out is None else out
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
    twins.paged_attention(
        out,
        case.queries,
        case.cache,
        case.table,
        case.rows,
        case.query_start,
        case.context,
        case.scale,
        plan=plan,
    )
    return out


def assert_right(case: Paged, out: torch.Tensor) -> None:
    """Close to attention in float64 over the same tokens."""
    torch.testing.assert_close(
        case.expected(),
        out.double(),
        atol=TOLERANCE[min(case.shape.dtype, out.dtype, key=lambda dtype: dtype.itemsize)],
        rtol=TOLERANCE[out.dtype],
    )


BATCHES = {
    "one decode": [(37, 1)],
    "first token": [(1, 1)],
    "ragged decodes": [(5, 1), (64, 1), (33, 1), (16, 1)],
    "a whole prefill": [(45, 45)],
    "a chunk": [(70, 21)],
    "a chunk of one page": [(32, 16)],
    "mixed": [(40, 1), (29, 29), (17, 1), (50, 3)],
    "nothing to ask": [(20, 0), (20, 2)],
    "several blocks of queries": [(150, 150), (200, 65)],
    "lengths far apart": [(1, 1), (800, 1), (2, 1), (790, 1)],
}


@pytest.mark.parametrize("planned", [False, True], ids=["alone", "planned"])
@pytest.mark.parametrize("sequences", BATCHES.values(), ids=BATCHES.keys())
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_attention_over_pages_is_attention_over_tokens(
    dtype: torch.dtype, sequences: list[tuple[int, int]], planned: bool
) -> None:
    """Decode, prefill, chunks and mixes agree with float64, though all that is no token is NaN."""
    case = paged(sequences, Shape(dtype=dtype))
    assert_right(case, attend(case, planned=planned))


@pytest.mark.parametrize("planned", [False, True], ids=["alone", "planned"])
@pytest.mark.parametrize(
    "contexts",
    [(129, 129), (129, 160, 143), (300, 129, 131), (1000, 144, 145), (128, 128)],
    ids=["one token of their own", "a page or two", "ragged", "far apart", "nothing of their own"],
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_a_shared_prefix(dtype: torch.dtype, contexts: tuple[int, ...], planned: bool) -> None:
    """Sequences that begin with the same pages get what they would get alone."""
    case = paged([(context, 1) for context in contexts], Shape(dtype=dtype), prefix=8)
    assert case.held(0)[:8] == case.held(1)[:8]
    assert_right(case, attend(case, planned=planned))


@pytest.mark.parametrize("page_size", [16, 32, 128, 256])
@pytest.mark.parametrize("dim", [16, 64, 128])
@pytest.mark.parametrize(("kv_heads", "groups"), [(1, 1), (3, 3), (2, 4)])
def test_every_served_shape(page_size: int, dim: int, kv_heads: int, groups: int) -> None:
    """Page sizes, head sizes and head groups over the range that models use."""
    case = paged([(150, 1), (30, 7), (257, 1)], Shape(page_size, kv_heads, groups, dim, torch.bfloat16))
    assert_right(case, attend(case))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_fp32_queries_over_a_narrow_cache(dtype: torch.dtype) -> None:
    """An fp32 query is answered in fp32, to fp32's precision, whatever the cache holds."""
    case = paged([(50, 1), (40, 11)], Shape(dtype=dtype), query_dtype=torch.float32)
    torch.testing.assert_close(case.expected(), attend(case).double(), atol=1e-5, rtol=1e-5)


def test_queries_and_answers_may_be_slices() -> None:
    """Strided views of wider tensors, as a fused projection gives, are read and written in place."""
    case = paged([(37, 1), (50, 1), (70, 70), (30, 1)], Shape())
    wide = torch.full((len(case.queries), 10, 32), 9.0)
    wide[:, 2:8] = case.queries
    answers = torch.full((len(case.queries), 10, 32), 9.0)
    sliced = replace(case, queries=wide[:, 2:8])
    assert_right(case, attend(sliced, out=answers[:, 3:9]))
    assert bool((answers[:, :3] == 9.0).all())
    assert bool((answers[:, 9:] == 9.0).all())


@settings(deadline=None, max_examples=60)
@given(
    sequences=st.lists(
        st.integers(1, 70).flatmap(lambda context: st.tuples(st.just(context), st.integers(1, context))),
        min_size=1,
        max_size=6,
    ),
    shape=st.builds(
        Shape,
        st.sampled_from([16, 32]),
        st.integers(1, 3),
        st.integers(1, 3),
        st.just(16),
        st.just(torch.float32),
    ),
    seed=st.integers(0, 1000),
    prefix=st.integers(0, 4),
)
def test_any_batch(sequences: list[tuple[int, int]], shape: Shape, seed: int, prefix: int) -> None:
    """No mix of contexts, chunks and common pages is special, with and without a plan."""
    prefix = min(prefix, *(context // shape.page_size for context, _ in sequences), 4)
    case = paged(sequences, shape, seed=seed, prefix=prefix)
    assert_right(case, attend(case))
    assert_right(case, attend(case, planned=True))


@pytest.mark.parametrize("garbage", [float("inf"), float("-inf"), 3e38])
@pytest.mark.parametrize("sequences", [[(37, 1), (50, 1)], [(37, 9)]], ids=["decode", "prefill"])
def test_dead_tails_have_no_influence(sequences: list[tuple[int, int]], garbage: float) -> None:
    """The answer is the same to the bit whatever lies where no token is."""
    shape = Shape(dtype=torch.bfloat16)
    clean, dirty = (paged(sequences, shape, garbage=fill) for fill in (0.0, garbage))
    assert torch.equal(attend(clean), attend(dirty))


def test_the_table_is_read_when_the_kernel_runs() -> None:
    """Swapping two rows of the table swaps the answers: nothing about pages is known earlier."""
    case = paged([(40, 1), (40, 1)], Shape())
    before = attend(case)
    first, second = case.rows.tolist()
    case.table[[first, second]] = case.table[[second, first]]
    case.queries.copy_(case.queries[[1, 0]])
    torch.testing.assert_close(before[[1, 0]], attend(case))


@pytest.mark.parametrize("planned", [False, True], ids=["alone", "planned"])
@pytest.mark.parametrize("entry", [-1, -2, 10_000, 2**31 - 1])
@pytest.mark.parametrize("queries", [1, 4], ids=["decode", "prefill"])
def test_a_wrong_page_raises(queries: int, entry: int, planned: bool) -> None:
    """A walked entry that names no page raises, and nothing is written."""
    case = paged([(40, 1), (40, queries)], Shape())
    case.table[case.rows[1], 2] = entry
    out = torch.full_like(case.queries, 7.0)
    with pytest.raises(IndexError, match=str(entry)):
        attend(case, planned=planned, out=out)
    assert bool((out == 7.0).all())


def test_the_first_page_too_many_raises() -> None:
    """The highest id that exists is served, the next one is not."""
    case = paged([(16, 1)], Shape())
    pages = case.arena.shape[0]
    case.arena[:] = 1.0
    case.table[case.rows[0], 0] = pages - 1
    torch.testing.assert_close(torch.ones_like(case.queries), attend(case))
    case.table[case.rows[0], 0] = pages
    with pytest.raises(IndexError, match=f"page {pages} is out of range 0..{pages}"):
        attend(case)


@pytest.mark.parametrize("row", [-1, 4])
def test_a_wrong_row_raises(row: int) -> None:
    """A row that the table lacks raises, negative ones included."""
    case = paged([(20, 1), (20, 1)], Shape())
    case.rows[0] = row
    with pytest.raises(IndexError, match=f"row {row} is out of range 0..4"):
        attend(case)


def test_a_context_wider_than_the_row_raises() -> None:
    """More pages than a row has entries cannot be walked."""
    case = paged([(20, 1)], Shape(), width=2)
    case.table[:] = 1
    case.context[0] = 33
    with pytest.raises(IndexError, match="context 33"):
        attend(case)
