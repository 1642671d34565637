"""bf16 and fp8 as a GPU computes them, for Triton's interpreter (3.9).

The interpreter keeps bf16 as 16-bit integers, multiplies them as integers in `tl.dot`, and loses a carry when
it rounds to either: 0.4995 becomes 0.25. And it knows no NaN among fp8 numbers. All of it is wrong of the
interpreter, not of a kernel.
"""

from typing import Any

import numpy as np
import pytest
import torch
import triton.language as tl
from triton.runtime import interpreter


def to_float32(handle: Any) -> Any:
    """The numbers of an operand; those that are not bf16 as they are."""
    if handle.dtype.scalar != tl.bfloat16:
        return handle.data
    return (handle.data.astype(np.uint32) << 16).view(np.float32)


def repair(patch: pytest.MonkeyPatch) -> None:
    """Teach the interpreter both for as long as `patch` lasts."""
    convert = interpreter._convert_float

    def dot(self: Any, a: Any, b: Any, d: Any, input_precision: Any, max_num_imprecise_acc: Any) -> Any:
        product = np.matmul(to_float32(a), to_float32(b), dtype=d.data.dtype)
        return interpreter.TensorHandle(product + d.data, d.dtype.scalar)

    def round_right(data: Any, source: Any, target: Any, rounding_mode: Any) -> Any:
        if source == tl.float32 and target == tl.bfloat16:
            rounded = torch.from_numpy(np.ascontiguousarray(data)).bfloat16()
            return rounded.view(torch.int16).numpy().view(np.uint16).reshape(data.shape)
        if source == tl.float32 and target == tl.float8e4nv:
            rounded = torch.from_numpy(np.ascontiguousarray(data)).to(torch.float8_e4m3fn)
            return rounded.view(torch.uint8).numpy().reshape(data.shape)
        converted = convert(data, source, target, rounding_mode)
        if source == tl.float8e4nv and target == tl.float32:
            numbers = converted.view(np.float32)
            numbers[(data.view(np.uint8) & 0x7F) == 0x7F] = np.nan
        return converted

    patch.setattr(interpreter.InterpreterBuilder, "create_dot", dot)
    patch.setattr(interpreter, "_convert_float", round_right)
