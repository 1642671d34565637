# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators
# ruff: noqa: N803
"""Copies whole pages within the arena; one program a block of bytes of one page."""

import torch
import triton
import triton.language as tl

_BLOCK = 4096


@triton.jit
def copy_pages_kernel(cache_bytes, source, target, page_stride, page_bytes, BLOCK: tl.constexpr):
    """Copy bytes BLOCK * program_id(1) onwards of page pair program_id(0)."""
    pair = tl.program_id(0)
    lane = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    within = lane < page_bytes
    source_page = tl.load(source + pair).to(tl.int64)
    target_page = tl.load(target + pair).to(tl.int64)
    copied = tl.load(cache_bytes + source_page * page_stride + lane, mask=within)
    tl.store(cache_bytes + target_page * page_stride + lane, copied, mask=within)


def copy_pages(cache_bytes: torch.Tensor, source: torch.Tensor, target: torch.Tensor) -> None:
    """As `twins.copy_pages`, unchecked."""
    page_bytes = cache_bytes.shape[1]
    if len(source):
        copy_pages_kernel[(len(source), triton.cdiv(page_bytes, _BLOCK))](
            cache_bytes,
            source,
            target,
            cache_bytes.stride(0),
            page_bytes,
            BLOCK=_BLOCK,
            enable_fp_fusion=True,
        )
