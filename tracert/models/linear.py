"""Matrix products with weights, by the way that is fastest for the rows at hand.

All that is known about which way that is stands here. Measured as one pass over the 121 matrices of
SmolLM2-135M with torch 2.13 and 2 threads, in ms:

    rows                                      1     2     4     8    16    64   256
    bf16, F.linear                           20    19    20    23    29    63   183
    bf16, packed by oneDNN          (Zen 4)  13    15    12    14    19    50   168
    fp32, F.linear                           45    79    63    58    70   147   429
    fp32, packed by oneDNN          (Zen 4)  25    28    24    33    34    90   337
    fp16, F.linear                  (Zen 4)  11    15    29    59   115   450  1808
    fp16, computed in fp32          (Zen 4)   -     -     -     -     -     -     -

A processor with AMX instead takes plain bf16 weights for many rows: 71 against 132 ms at 512.
"""

import math

import torch
from torch.nn import functional

PACK_ROWS = 8
"""The number of rows that weights are packed for; what they are packed for hardly matters, see above."""
AMX_PACKED_ROWS = 64
"""With AMX, more rows than these go through plain bf16 weights."""
HALF_ROWS = 2
"""Without fp16 arithmetic, more rows than these are computed in fp32."""


class Linear:
    """`y = x @ weight.T + bias` for a fixed weight."""

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None = None) -> None:
        """`weight` [out, in], `bias` [out] of the same dtype and device."""
        self.out_features, self.in_features = weight.shape
        self._bias = bias
        self._packed: torch.Tensor | None = None
        self._packed_rows: float = 0
        self._half_rows: float = math.inf
        if weight.device.type == "cpu":
            if _packs(weight.dtype):
                amx = weight.dtype == torch.bfloat16 and torch.cpu._is_amx_tile_supported()
                self._packed = torch.ops.mkldnn._reorder_linear_weight(weight, PACK_ROWS)
                self._multiply = torch.ops.mkldnn._linear_pointwise.default
                self._packed_rows = AMX_PACKED_ROWS if amx else math.inf
            elif weight.dtype == torch.float16:
                self._half_rows = HALF_ROWS
        # Where packed weights serve every number of rows, the plain ones need not be kept.
        self._weight = None if self._packed_rows == math.inf else weight

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """`x` [rows, in] to [rows, out]."""
        rows = x.shape[0]
        weight, bias = self._weight, self._bias
        if weight is None or rows <= self._packed_rows:
            result: torch.Tensor = self._multiply(x, self._packed, bias, "none", [], "")
            return result
        if rows > self._half_rows:
            wide_bias = None if bias is None else bias.float()
            return functional.linear(x.float(), weight.float(), wide_bias).to(x.dtype)
        return functional.linear(x, weight, bias)


def fast_bfloat16(device: torch.device) -> bool:
    """Is bfloat16 the fast dtype of a device? (On a CPU without it, float32 is faster.)"""
    return _packs(torch.bfloat16) if device.type == "cpu" else torch.cuda.is_bf16_supported()


def _packs(dtype: torch.dtype) -> bool:
    """Does oneDNN pack weights of this dtype on this processor?"""
    if not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        return False
    if dtype == torch.float32:
        return True
    if dtype == torch.bfloat16:
        return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
    return dtype == torch.float16 and bool(torch.ops.mkldnn._is_mkldnn_fp16_supported())
