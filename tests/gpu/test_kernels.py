from dataclasses import replace
from typing import Any

import pytest
import torch
from tracert_kernels import twins
from tracert_kernels.dispatch import for_device
from tracert_kernels.guard import Guard
from tracert_kernels.kv_types import KV_TYPES, Covers

from tests.kernels import cover_cases, guard_cases
from tests.kernels.paged import Paged, Shape, paged

pytestmark = pytest.mark.gpu

TOLERANCE = {torch.float32: 1e-5, torch.float16: 3e-3, torch.bfloat16: 2e-2}
DTYPES = pytest.mark.parametrize("dtype", KV_TYPES.values(), ids=KV_TYPES.keys())


def on_gpu(case: Paged) -> Paged:
    """The same case in device memory."""
    names = ("arena", "table", "rows", "query_start", "context", "token_row", "position", "queries")
    return replace(case, **{name: getattr(case, name).cuda() for name in names})


class OnGpu:
    """The GPU's attention for arguments on the host."""

    def paged_attention(self, out: torch.Tensor, *arguments: Any, **named: Any) -> None:
        """As the kernel, but that `out` comes back from the device."""
        on_device: list[Any] = [each.cuda() if isinstance(each, torch.Tensor) else each for each in arguments]
        answers = out.cuda()
        for_device("cuda").paged_attention(answers, *on_device, **named)
        out.copy_(answers)


def assert_right(case: Paged) -> None:
    """The GPU's answers are those of attention in float64, all of them written."""
    gpu = on_gpu(case)
    out = torch.full_like(gpu.queries, float("nan"))
    for_device("cuda").paged_attention(
        out, gpu.queries, gpu.cache, gpu.table, gpu.rows, gpu.query_start, gpu.context, gpu.scale
    )
    tolerance = TOLERANCE[case.queries.dtype]
    torch.testing.assert_close(case.expected(), out.cpu().double(), atol=tolerance, rtol=tolerance)


@DTYPES
@pytest.mark.parametrize(
    "sequences",
    [
        [(37, 1)],
        [(5, 1), (64, 1), (33, 1), (700, 1)],
        [(200, 200)],
        [(170, 21)],
        [(40, 1), (129, 129), (17, 1), (50, 3)],
        [(20, 0), (20, 2), (20, 0)],
    ],
    ids=["one decode", "decodes", "a whole prefill", "a chunk", "mixed", "nothing to ask"],
)
def test_attention(sequences: list[tuple[int, int]], dtype: torch.dtype) -> None:
    """Decode, prefill, chunks and mixes; all that is no token is NaN, unused entries are out of range."""
    assert_right(paged(sequences, Shape(dtype=dtype)))


@pytest.mark.parametrize("page_size", [16, 32, 64, 128, 256])
@pytest.mark.parametrize("dim", [16, 48, 64, 128])
@pytest.mark.parametrize(("kv_heads", "groups"), [(1, 1), (3, 3), (1, 8)])
def test_attention_over_shapes(page_size: int, dim: int, kv_heads: int, groups: int) -> None:
    """Every page size and head size we serve, and groups that need padding."""
    assert_right(paged([(90, 1), (80, 70)], Shape(page_size, kv_heads, groups, dim, torch.bfloat16)))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_fp32_queries_over_a_narrow_cache(dtype: torch.dtype) -> None:
    """fp32 queries are answered to fp32's precision: nothing becomes tf32."""
    assert_right(paged([(50, 1), (40, 11)], Shape(dtype=dtype), query_dtype=torch.float32))


@DTYPES
def test_stored_where_the_twin_stores(dtype: torch.dtype) -> None:
    """Not a byte of the arena differs from the CPU's."""
    case = paged([(40, 40), (17, 1), (33, 5)], Shape(dtype=dtype), garbage=5.0)
    gpu = on_gpu(case)
    key = torch.randn(len(case.position), 2, 32)
    twins.store_kv(key, key + 1, case.cache, case.table, case.token_row, case.position)
    for_device("cuda").store_kv(
        key.cuda(), (key + 1).cuda(), gpu.cache, gpu.table, gpu.token_row, gpu.position
    )
    assert torch.equal(case.arena.view(torch.uint8), gpu.arena.cpu().view(torch.uint8))


@DTYPES
def test_covers(dtype: torch.dtype) -> None:
    """A NaN in a dead tail is seen by whole-page decode alone, and only among values."""
    cover_cases.check_poisoned(OnGpu(), dtype, torch.float32, prefix=0, alone=False)
    cover_cases.check_poisoned(OnGpu(), dtype, torch.bfloat16, prefix=0, alone=True)
    cover_cases.check_dead_keys(OnGpu(), dtype)
    cover_cases.check_finite(OnGpu(), dtype, prefix=0)


@DTYPES
def test_positions_cleared(dtype: torch.dtype) -> None:
    """Byte for byte what the twin does."""
    first = paged([(300, 1)], Shape(64, dtype=dtype), garbage=7.0).arena
    second = first.cuda()
    pages, positions = (torch.tensor(ids, dtype=torch.int32) for ids in ([1, 3, 2], [5, 0, 64]))
    twins.clear_positions(first, pages, positions)
    for_device("cuda").clear_positions(second, pages.cuda(), positions.cuda())
    assert torch.equal(first.view(torch.uint8), second.cpu().view(torch.uint8))


def test_pages_copied_and_cleared() -> None:
    """Byte for byte what the twins do."""
    first = torch.randint(0, 256, (6, 5000), dtype=torch.uint8)
    second = first.cuda()
    source, target, cleared = (torch.tensor(ids, dtype=torch.int32) for ids in ([1, 5, 1], [4, 0, 2], [3, 5]))
    twins.copy_pages(first, source, target)
    twins.clear_pages(first, cleared)
    for_device("cuda").copy_pages(second, source.cuda(), target.cuda())
    for_device("cuda").clear_pages(second, cleared.cuda())
    assert torch.equal(first, second.cpu())


@pytest.mark.parametrize("covers", ["valid", "page"])
def test_guarded(covers: Covers) -> None:
    """What rows name and what is not finite is noted as on the CPU, and as little is touched."""
    case = paged([(37, 1), (145, 20), (20, 1), (70, 3), (29, 29)], Shape(), garbage=0.5)
    guard_cases.planted(case, [(0, 2, 2**31 - 1), (1, 0, 0), (3, 4, -1), (3, 1, 10_000)])
    case.queries[30, 0, 3] = float("nan")
    gpu, guard = on_gpu(case), guard_cases.guard_of(case, layer=4)
    on_device = Guard(guard.seen.cuda(), guard.notes.cuda(), guard.layer)
    expected = guard_cases.forward(twins, case, guard, covers)
    keys, values = ([each.cuda() for each in side] for side in (case.keys, case.values))
    gpu = replace(gpu, keys=keys, values=values)
    answered = guard_cases.forward(for_device("cuda"), gpu, on_device, covers)
    torch.testing.assert_close(expected, answered.cpu(), atol=1e-5, rtol=1e-5, equal_nan=True)
    assert torch.equal(guard.notes, on_device.notes.cpu())
    assert torch.equal(guard.seen, on_device.seen.cpu())
    assert torch.equal(case.arena, gpu.arena.cpu())


@pytest.mark.parametrize("pinned", [False, True], ids=["device staging", "pinned staging"])
def test_rows_published(pinned: bool) -> None:
    """Entry for entry what the twin does, out of device memory and out of pinned host memory."""
    table = torch.arange(7500, dtype=torch.int32).view(3, 2500)
    staging = torch.arange(90_000, 92_500, dtype=torch.int32)
    device = table.cuda()
    for_device("cuda").copy_row(device, 1, 3, staging.pin_memory() if pinned else staging.cuda(), 2000)
    twins.copy_row(table, 1, 3, staging, 2000)
    assert torch.equal(table, device.cpu())


def test_offsets_need_more_than_32_bits() -> None:
    """A page that lies 2^32 bytes and more into the arena is stored to, read, copied and cleared there."""
    page_bytes = 2 * 16 * 2 * 32 * 2
    pages = 2**32 // page_bytes + 8
    if torch.cuda.mem_get_info()[0] < 2 * pages * page_bytes:
        pytest.skip("needs 9 GB of device memory")
    kernels = for_device("cuda")
    raw = torch.zeros(pages, page_bytes, dtype=torch.uint8, device="cuda")
    cache = raw.view(torch.bfloat16).view(pages, 2, 16, 2, 32)
    table, zero = (
        torch.full((1, 1), pages - 1, dtype=torch.int32).cuda(),
        torch.zeros(1, dtype=torch.int32).cuda(),
    )
    value = torch.full((1, 2, 32), 3.0, dtype=torch.bfloat16, device="cuda")
    kernels.store_kv(value, value, cache, table, zero, zero)
    out = torch.zeros_like(value)
    start, one = torch.tensor([0, 1], dtype=torch.int32).cuda(), zero + 1
    kernels.paged_attention(out, value, cache, table, zero, start, one, 1.0)
    assert torch.equal(value, out)
    assert torch.equal(value[0], cache[pages - 1, 1, 0])
    ids = torch.tensor([pages - 1, pages - 2], dtype=torch.int32).cuda()
    kernels.copy_pages(raw, ids[:1], ids[1:])
    assert torch.equal(raw[pages - 1], raw[pages - 2])
    kernels.clear_pages(raw, ids)
    assert int(raw[pages - 2 :].sum()) == 0
