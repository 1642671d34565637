# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators
# ruff: noqa: N803
"""Sets the last positions of pages to zero, in all layers; one program a block of bytes of one plane."""

import torch
import triton
import triton.language as tl

_BLOCK = 4096


@triton.jit
def clear_positions_kernel(
    cache_bytes, pages, first, page_stride, plane_bytes, position_bytes, BLOCK: tl.constexpr
):
    """Clear block program_id(2) of plane program_id(1) of the page at program_id(0), from its position on."""
    entry = tl.program_id(0)
    page = tl.load(pages + entry).to(tl.int64)
    lane = tl.program_id(2) * BLOCK + tl.arange(0, BLOCK)
    target = cache_bytes + page * page_stride + tl.program_id(1) * plane_bytes + lane
    from_here = lane >= tl.load(first + entry).to(tl.int32) * position_bytes
    tl.store(target, tl.zeros([BLOCK], tl.uint8), mask=from_here & (lane < plane_bytes))


def clear_positions(cache: torch.Tensor, pages: torch.Tensor, first: torch.Tensor) -> None:
    """As `twins.clear_positions`, unchecked. A page must be contiguous."""
    cache_bytes = cache.view(torch.uint8)
    layers, _, page_size, _, _ = cache_bytes.shape[1:]
    plane_bytes = cache_bytes.stride(2)
    if len(pages):
        clear_positions_kernel[(len(pages), 2 * layers, triton.cdiv(plane_bytes, _BLOCK))](
            cache_bytes,
            pages,
            first,
            cache_bytes.stride(0),
            plane_bytes,
            plane_bytes // page_size,
            BLOCK=_BLOCK,
            enable_fp_fusion=True,
        )
