"""What pages may hold, and how much of a page a launch touches.

A head's key or value is D numbers of one type, or, in int8, D codes followed by the float32 that they are to
be multiplied with: the scale lies with its codes, so that a position's bytes are in one piece.
"""

from typing import Final, Literal

import torch

from tracert_kernels.kv_names import KvType

Covers = Literal["valid", "page"]
"""Which positions of the pages that it walks attention loads.

`valid`: those of tokens only; whatever lies in the dead tail of a page, NaN included, has no influence.
`page`: of a sequence with one query, all of them; the scores of those past the context are replaced by -inf,
which makes their weights 0, and their values are multiplied with that: 0 x NaN is NaN. A sequence with
several queries is attended to as `valid` in either.
"""

SCALE_BYTES: Final = 4
FP8_MAX: Final = 448.0
"""The largest e4m3 number; what is larger is stored as this, for some casts make NaN of it."""
INT8_MAX: Final = 127.0

KV_TYPES: Final[dict[KvType, torch.dtype]] = {
    "fp32": torch.float32,
    "bf16": torch.bfloat16,
    "fp16": torch.float16,
    "fp8": torch.float8_e4m3fn,
    "int8": torch.int8,
}


def stored_width(dim: int, dtype: torch.dtype) -> int:
    """Elements of `dtype` that a vector of `dim` numbers takes up."""
    return dim + SCALE_BYTES if dtype == torch.int8 else dim
