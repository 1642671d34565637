# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators
# ruff: noqa: N803
"""Sets whole pages of the arena to zero; one program a block of bytes of one page."""

import torch
import triton
import triton.language as tl

_BLOCK = 4096


@triton.jit
def clear_pages_kernel(cache_bytes, pages, page_stride, page_bytes, BLOCK: tl.constexpr):
    """Clear bytes BLOCK * program_id(1) onwards of the page at program_id(0)."""
    lane = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    page = tl.load(pages + tl.program_id(0)).to(tl.int64)
    zero = tl.zeros([BLOCK], tl.uint8)
    tl.store(cache_bytes + page * page_stride + lane, zero, mask=lane < page_bytes)


def clear_pages(cache_bytes: torch.Tensor, pages: torch.Tensor) -> None:
    """As `twins.clear_pages`, unchecked."""
    page_bytes = cache_bytes.shape[1]
    if len(pages):
        clear_pages_kernel[(len(pages), triton.cdiv(page_bytes, _BLOCK))](
            cache_bytes, pages, cache_bytes.stride(0), page_bytes, BLOCK=_BLOCK, enable_fp_fusion=True
        )
