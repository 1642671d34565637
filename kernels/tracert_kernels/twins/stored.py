"""From numbers to what a page holds of them, and back. Knows nothing of pages."""

import torch

from tracert_kernels.kv_types import FP8_MAX, INT8_MAX


def narrow(numbers: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """[..., W] of `dtype`: how vectors [..., D] of any float type are stored (`kv_types.stored_width`).

    fp8 saturates, infinities too, and keeps NaN. In int8 a vector that is not finite keeps only that: its
    scale is not finite, and its codes are 0.
    """
    if dtype == torch.float8_e4m3fn:
        return numbers.float().clamp(-FP8_MAX, FP8_MAX).to(dtype)
    if dtype == torch.int8:
        numbers = numbers.float()
        scale = numbers.abs().amax(-1, keepdim=True) / INT8_MAX
        within = (scale > 0) & (scale < float("inf"))
        codes = torch.floor(torch.where(within, numbers / scale, 0.0) + 0.5).clamp(-INT8_MAX, INT8_MAX)
        return torch.cat((codes.to(dtype), scale.view(dtype)), -1)
    return numbers.to(dtype)


def widen(stored: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    """`out` [..., D], of any float type, filled with the numbers of `stored` [..., W]."""
    if stored.dtype == torch.float8_e4m3fn:
        # Torch's own conversion takes seven times as long. The seven bits below the sign become the lower
        # exponent bits and the mantissa of a float16, whose exponent counts from 8 more; all of them set is
        # NaN, which one unit more carries into the exponent bit above.
        bits = stored.view(torch.int8).to(torch.int16).bitwise_left_shift_(7).bitwise_and_(~0x4000)
        bits.bitwise_or_((bits + 0x80).bitwise_and_(0x4000))
        return out.copy_(bits.view(torch.float16)).mul_(256.0)
    if stored.dtype == torch.int8:
        scale = stored.view(torch.float32)[..., -1:]
        return out.copy_(stored[..., : out.shape[-1]]).mul_(scale)
    return out.copy_(stored)


def widened(stored: torch.Tensor, dim: int, dtype: torch.dtype) -> torch.Tensor:
    """The numbers [..., D] of `stored` [..., W] in `dtype`; itself where it holds just those."""
    if stored.dtype == dtype:
        return stored
    return widen(stored, torch.empty(*stored.shape[:-1], dim, dtype=dtype))
