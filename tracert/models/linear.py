"""Matrix products with weights, by the way that is fastest for the rows at hand.

All that is known about which way that is stands here. Measured as one pass over the 121 matrices of
SmolLM2-135M with torch 2.13 and 2 threads of a Zen 4, in ms:

    rows                                 1     2     4     8    16    64   256
    bf16, F.linear                      20    19    20    23    29    63   183
    bf16, packed by oneDNN              13    15    12    14    19    50   168
    bf16, torch.mv without oneDNN       10
    fp32, F.linear                      45    79    63    58    70   147   429
    fp32, packed by oneDNN              25    28    24    33    34    90   337
    fp16, F.linear                      11    15    29    59   115   450  1808

Reading the bf16 weights once takes 9 ms. A processor with AMX takes plain bf16 weights for many rows: 71
against 132 ms at 512. Without fp16 arithmetic, many rows of fp16 are computed in fp32.
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
        self._single = False
        self._packed_rows: float = 0
        self._half_rows: float = math.inf
        if weight.device.type == "cpu":
            if _packs(weight.dtype):
                self._single = weight.dtype == torch.bfloat16
                amx = self._single and torch.cpu._is_amx_tile_supported()
                self._packed = torch.ops.mkldnn._reorder_linear_weight(weight, PACK_ROWS)
                self._multiply = torch.ops.mkldnn._linear_pointwise.default
                self._packed_rows = AMX_PACKED_ROWS if amx else math.inf
            elif weight.dtype == torch.float16:
                self._half_rows = HALF_ROWS
        # Where packed weights serve every number of rows, the plain ones need not be kept.
        self._weight = weight if self._single or self._packed_rows != math.inf else None

    def writes(self, rows: int) -> bool:
        """Can a product of so many rows be put where it is wanted? oneDNN's lie where it likes."""
        return self._weight is not None and (self._plain(rows) or (rows == 1 and self._single))

    def __call__(self, x: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
        """`x` [rows, in] to [rows, out]; in `out`, which is given only where `writes` says so."""
        rows = x.shape[0]
        weight, bias = self._weight, self._bias
        if weight is not None and rows == 1 and self._single:
            if out is None:
                return _single_row(x[0], weight, bias, None)[None]
            _single_row(x[0], weight, bias, out[0])
            return out
        if weight is None or rows <= self._packed_rows:
            result: torch.Tensor = self._multiply(x, self._packed, bias, "none", [], "")
            return result
        if rows > self._half_rows:
            wide_bias = None if bias is None else bias.float()
            return functional.linear(x.float(), weight.float(), wide_bias).to(x.dtype)
        if out is None:
            return functional.linear(x, weight, bias)
        if bias is None:
            return torch.mm(x, weight.T, out=out)
        return torch.addmm(bias, x, weight.T, out=out)

    def _plain(self, rows: int) -> bool:
        """Does torch multiply by the weights as they are?"""
        return self._packed_rows < rows <= self._half_rows


def fast_bfloat16(device: torch.device) -> bool:
    """Is bfloat16 the fast dtype of a device? (On a CPU without it, float32 is faster.)"""
    return _packs(torch.bfloat16) if device.type == "cpu" else torch.cuda.is_bf16_supported()


def _single_row(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, out: torch.Tensor | None
) -> torch.Tensor:
    """`x` [in] to [out] by torch's own loop over rows of the weights, which reads memory at full speed."""
    # torch prefers oneDNN for bf16 whenever it is enabled, and asks a flag of the process at every product.
    enabled = torch._C._get_mkldnn_enabled()
    torch._C._set_mkldnn_enabled(False)
    try:
        return torch.mv(weight, x, out=out) if bias is None else torch.addmv(bias, weight, x, out=out)
    finally:
        torch._C._set_mkldnn_enabled(enabled)


def _packs(dtype: torch.dtype) -> bool:
    """Does oneDNN pack weights of this dtype on this processor?"""
    if not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        return False
    if dtype == torch.float32:
        return True
    if dtype == torch.bfloat16:
        return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
    return dtype == torch.float16 and bool(torch.ops.mkldnn._is_mkldnn_fp16_supported())
