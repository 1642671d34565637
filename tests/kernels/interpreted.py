"""The Triton kernels in Triton's interpreter, against the twins; `test_interpreted.py` runs this file.

Triton decides once, when it is imported, whether it interprets: hence a process of its own.
"""

from collections.abc import Iterator

import pytest
import torch
from tracert_kernels import triton_kernels, twins
from tracert_kernels.guard import NOTHING, Guard
from tracert_kernels.kv_types import KV_TYPES, Covers
from tracert_kernels.twins.stored import widened

from tests.kernels import access_cases, cover_cases, guard_cases, narrow_floats
from tests.kernels.paged import Paged, Shape, paged
from tests.some import a_few, grid

TOLERANCE = {torch.float32: 1e-5, torch.float16: 3e-3, torch.bfloat16: 2e-2}
COVERS: tuple[Covers, ...] = ("valid", "page")


@pytest.fixture(autouse=True)
def _right_floats() -> Iterator[None]:
    """bf16 and fp8 as a GPU computes them."""
    with pytest.MonkeyPatch.context() as patch:
        narrow_floats.repair(patch)
        yield


def as_bytes(memory: torch.Tensor) -> torch.Tensor:
    """What lies in memory."""
    return memory.view(torch.uint8)


def alike(expected: torch.Tensor, actual: torch.Tensor, dim: int) -> None:
    """The same bytes, but that one NaN is as good as another."""
    if expected.dtype == torch.int8:
        assert torch.equal(expected[..., :dim], actual[..., :dim])
    of = [widened(memory, dim, torch.float32) for memory in (expected, actual)]
    torch.testing.assert_close(*of, rtol=0, atol=0, equal_nan=True)


def assert_alike(case: Paged) -> None:
    """The Triton kernel answers as the twin does, and writes every answer."""
    answers = []
    for kernels in (twins, triton_kernels):
        out = torch.full_like(case.queries, float("nan"))
        kernels.paged_attention(
            out,
            case.queries,
            case.cache,
            case.table,
            case.rows,
            case.query_start,
            case.context,
            case.scale,
            plan=None,
        )
        answers.append(out)
    tolerance = TOLERANCE[case.queries.dtype]
    torch.testing.assert_close(answers[0], answers[1], atol=tolerance, rtol=tolerance)


SEQUENCES = {
    "one decode": [(37, 1)],
    "decodes": [(5, 1), (64, 1), (33, 1), (1, 1)],
    "a whole prefill": [(45, 45)],
    "a chunk": [(70, 21)],
    "mixed": [(40, 1), (29, 29), (17, 1), (50, 3)],
    "nothing to ask": [(20, 0), (20, 2), (20, 0)],
}


@pytest.mark.parametrize(
    ("sequences", "dtype"),
    grid(lambda name, kv_type: name == "decodes" or kv_type == "bf16", SEQUENCES, KV_TYPES),
)
def test_attention(sequences: list[tuple[int, int]], dtype: torch.dtype) -> None:
    """Decode, prefill, chunks and mixes; all that is no token is NaN, unused entries are out of range."""
    assert_alike(paged(sequences, Shape(dtype=dtype)))


@pytest.mark.parametrize(
    ("page_size", "dim", "heads"),
    grid(
        lambda *names: names in (("16", "48", "1x8"), ("64", "128", "1x1"), ("256", "16", "3x3")),
        {"16": 16, "64": 64, "256": 256},
        {"16": 16, "48": 48, "128": 128},
        {"1x1": (1, 1), "3x3": (3, 3), "1x8": (1, 8)},
    ),
)
def test_attention_over_shapes(page_size: int, dim: int, heads: tuple[int, int]) -> None:
    """Pages larger and smaller than a tile, head sizes that are no power of two, groups that need padding."""
    assert_alike(paged([(90, 1), (20, 4)], Shape(page_size, *heads, dim)))


@pytest.mark.parametrize(
    ("dtype", "query_dtype"),
    grid(
        lambda kv_type, query: query == "torch.float32" or kv_type == "bf16",
        KV_TYPES,
        {str(dtype): dtype for dtype in TOLERANCE},
    ),
)
def test_queries_of_one_type_over_a_cache_of_another(dtype: torch.dtype, query_dtype: torch.dtype) -> None:
    """Answers are as precise as the queries are, whatever the cache holds."""
    assert_alike(paged([(50, 1), (40, 11)], Shape(dtype=dtype), query_dtype=query_dtype))


@pytest.mark.parametrize(
    ("sequences", "dtype"),
    grid(
        lambda name, kv_type: name == "one" or kv_type == "bf16",
        {"one": [(20, 1)], "mixed": [(40, 40), (17, 1), (33, 5)]},
        KV_TYPES,
    ),
)
def test_stored_where_the_twin_stores(sequences: list[tuple[int, int]], dtype: torch.dtype) -> None:
    """Not a byte of the arena differs, for slices of a wider tensor, rounded where the cache is narrow."""
    first, second = (paged(sequences, Shape(dtype=dtype, dim=16), garbage=5.0) for _ in range(2))
    tokens = len(first.position)
    wide = torch.randn(tokens, 7, 16, generator=torch.Generator().manual_seed(1))
    key, value = wide[:, 2:4], wide[:, 4:6]
    twins.store_kv(key, value, first.cache, first.table, first.token_row, first.position)
    triton_kernels.store_kv(key, value, second.cache, second.table, second.token_row, second.position)
    before = paged(sequences, Shape(dtype=dtype, dim=16), garbage=5.0).arena
    assert not torch.equal(as_bytes(before), as_bytes(second.arena))
    assert torch.equal(as_bytes(first.arena), as_bytes(second.arena))


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.int8], ids=str)
@pytest.mark.parametrize("wide", a_few(1, [torch.bfloat16, torch.float32]), ids=str)
def test_eight_bits_stored_as_the_twin_does(dtype: torch.dtype, wide: torch.dtype) -> None:
    """Large and small numbers, halves, zeros, infinities and NaN, five heads of twelve."""
    shape = Shape(dtype=dtype, dim=12, kv_heads=5)
    first, second = (paged([(40, 40)], shape, garbage=5.0) for _ in range(2))
    numbers = torch.randn(40, 5, 12, generator=torch.Generator().manual_seed(1))
    numbers *= torch.logspace(-8, 8, 40)[:, None, None]
    numbers[0] = torch.linspace(-2.0, 2.0, 60).view(5, 12)
    numbers[1], numbers[2] = 0.0, 449.0
    numbers[3, 2, 4], numbers[4, 2, 4], numbers[5, 1, 3] = float("nan"), float("inf"), float("-inf")
    numbers = numbers.to(wide)
    twins.store_kv(numbers, -numbers, first.cache, first.table, first.token_row, first.position)
    triton_kernels.store_kv(numbers, -numbers, second.cache, second.table, second.token_row, second.position)
    alike(first.arena, second.arena, shape.dim)


@pytest.mark.parametrize("page_bytes", [96, 4096, 5000])
@pytest.mark.parametrize("dtype", [torch.int32, torch.int64], ids=str)
def test_pages_copied_and_cleared(page_bytes: int, dtype: torch.dtype) -> None:
    """Byte for byte what the twins do, for pages of less and more than a block."""
    first = torch.randint(
        0, 256, (6, page_bytes), dtype=torch.uint8, generator=torch.Generator().manual_seed(3)
    )
    second = first.clone()
    source, target, cleared = (torch.tensor(ids, dtype=dtype) for ids in ([1, 5, 1], [4, 0, 2], [3, 5]))
    for kernels, pages in ((twins, first), (triton_kernels, second)):
        kernels.copy_pages(pages, source, target)
        kernels.clear_pages(pages, cleared)
        kernels.copy_pages(pages, cleared[:0], cleared[:0])
        kernels.clear_pages(pages, cleared[:0])
    assert torch.equal(first, second)


@pytest.mark.parametrize(("first", "count"), [(0, 1), (3, 2000), (2500, 0), (0, 2500)])
def test_rows_published(first: int, count: int) -> None:
    """Entry for entry what the twin does, and no other row touched."""
    tables = [torch.arange(7500, dtype=torch.int32).view(3, 2500) for _ in range(2)]
    staging = torch.arange(90_000, 92_500, dtype=torch.int32)
    twins.copy_row(tables[0], 1, first, staging, count)
    triton_kernels.copy_row(tables[1], 1, first, staging, count)
    assert torch.equal(tables[0], tables[1])


@pytest.mark.parametrize("dtype", grid(lambda kv_type: kv_type == "bf16", KV_TYPES))
def test_only_declared_accesses(dtype: torch.dtype) -> None:
    """The Triton kernels read and write what the twins do, and not a byte more."""
    access_cases.check_store_kv(triton_kernels, dtype, False)
    for covers in COVERS:
        access_cases.check_paged_attention(
            triton_kernels, dtype, [(37, 1), (50, 1), (20, 3)], planned=False, covers=covers
        )
    access_cases.check_paged_attention(triton_kernels, dtype, [(45, 20)], planned=False)
    access_cases.check_copy_pages(triton_kernels)
    access_cases.check_clear_pages(triton_kernels)
    access_cases.check_clear_positions(triton_kernels, dtype)
    access_cases.check_copy_row(triton_kernels)


@pytest.mark.parametrize("dtype", grid(lambda kv_type: kv_type == "bf16", KV_TYPES))
def test_covers(dtype: torch.dtype) -> None:
    """A NaN in a dead tail is seen by page cover alone, and only among values."""
    cover_cases.check_poisoned(triton_kernels, dtype, torch.float32, prefix=0, alone=False)
    cover_cases.check_dead_keys(triton_kernels, dtype)
    cover_cases.check_finite(triton_kernels, dtype, prefix=0)


@pytest.mark.parametrize(
    ("page_size", "dtype"),
    grid(lambda size, kv_type: size == "16" or kv_type == "bf16", {"16": 16, "256": 256}, KV_TYPES),
)
def test_positions_cleared(dtype: torch.dtype, page_size: int) -> None:
    """Byte for byte what the twin does, for planes of less and more than a block."""
    first = paged([(300, 1)], Shape(page_size, dtype=dtype, dim=16), garbage=7.0).arena
    second = first.clone()
    for kernels, arena in ((twins, first), (triton_kernels, second)):
        for ids in (torch.int32, torch.int64):
            pages, positions = torch.tensor([1, 3, 2], dtype=ids), torch.tensor([5, 0, page_size], dtype=ids)
            kernels.clear_positions(arena, pages, positions)
        kernels.clear_positions(arena, pages[:0], positions[:0])
    assert torch.equal(first.view(torch.uint8), second.view(torch.uint8))


@pytest.mark.parametrize("covers", a_few(1, COVERS))
def test_rows_that_name_no_page(covers: Covers) -> None:
    """Left alone and noted as the twin does, among rows that are answered."""
    sequences = [(37, 1), (45, 20), (20, 1), (70, 3), (29, 29)]
    bad = [(0, 2, 2**31 - 1), (1, 0, 0), (3, 4, -1), (3, 1, 10_000)]
    guard_cases.check_followed(triton_kernels, sequences, bad, covers=covers)
    guard_cases.check_followed(triton_kernels, sequences[:1], [(0, 2, 7)], torch.int8, covers)
    guard_cases.check_stored_elsewhere_not(triton_kernels)


@pytest.mark.parametrize("dtype", a_few(1, [torch.float16, torch.int8]), ids=str)
def test_the_first_value_that_is_not_finite(dtype: torch.dtype) -> None:
    """Noted as the twin does, in what is stored and in what attention gives."""
    guard_cases.check_first_value(triton_kernels, dtype, stage="keys", value=float("inf"))
    guard_cases.check_first_value(triton_kernels, dtype, stage="attention", value=float("nan"))


def test_a_row_longer_than_a_block_and_one_that_is_too_short() -> None:
    """Entries behind the first block, and entries that are not there."""
    table = torch.arange(1, 3001, dtype=torch.int32).view(1, -1).repeat(2, 1)
    table[1, 2500] = table[1, 2700] = 0
    rows, context = torch.tensor([0, 1], dtype=torch.int32), torch.tensor([48_001, 47_999], dtype=torch.int32)
    noted = []
    for kernels in (twins, triton_kernels):
        guard = Guard(torch.zeros_like(table), torch.zeros(2, 4, dtype=torch.int64))
        kernels.follow_rows(guard, table, rows, context, 16, 5000)
        noted.append(guard)
    assert [[3001, 3000, -1, NOTHING], [3000, 2500, 0, NOTHING]] == noted[0].notes.tolist()
    assert torch.equal(noted[0].notes, noted[1].notes)
    assert torch.equal(noted[0].seen, noted[1].seen)


def test_nothing_is_planned() -> None:
    """The kernels read the table themselves."""
    case = paged([(20, 1)], Shape())
    assert (
        triton_kernels.plan(
            case.table, case.rows, case.query_start, case.context, case.token_row, case.position, 16
        )
        is None
    )
