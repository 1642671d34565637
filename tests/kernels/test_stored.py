import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tracert_kernels.kv_types import KV_TYPES, stored_width
from tracert_kernels.twins.stored import narrow, widen, widened

FP8, INT8 = torch.float8_e4m3fn, torch.int8


def test_every_fp8_byte_is_the_number_that_torch_says() -> None:
    """All 256 of them, as fp32 and as bf16: subnormals, both zeros, and NaN where the standard has it."""
    every = torch.arange(256, dtype=torch.uint8)
    for dtype in (torch.float32, torch.bfloat16):
        expected, actual = every.view(FP8).to(dtype), widened(every.view(FP8), 256, dtype)
        torch.testing.assert_close(expected, actual, rtol=0, atol=0, equal_nan=True)
        numbers = ~expected.isnan()
        assert torch.equal(expected.signbit()[numbers], actual.signbit()[numbers])
        assert [0x7F, 0xFF] == actual.isnan().nonzero().flatten().tolist()


@pytest.mark.parametrize("large", [449.0, 1e6, math.inf])
def test_fp8_saturates(large: float) -> None:
    """What is too large becomes the largest number, infinity too."""
    numbers = torch.tensor([large, -large, 448.0, 0.5])
    assert widened(narrow(numbers, FP8), 4, torch.float32).tolist() == [448.0, -448.0, 448.0, 0.5]


@pytest.mark.parametrize("dtype", KV_TYPES.values(), ids=KV_TYPES.keys())
@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_what_is_not_finite_does_not_become_so(dtype: torch.dtype, bad: float) -> None:
    """A NaN is still seen in the page, an infinity too except in fp8, and other vectors are unharmed."""
    numbers = torch.ones(3, 8)
    numbers[1, 4] = bad
    back = widened(narrow(numbers, dtype), 8, torch.float32)
    torch.testing.assert_close(torch.ones(2, 8), back[[0, 2]])
    assert bool(back[1].isfinite().all()) is (dtype == FP8 and bad == math.inf)


def test_an_int8_vector_is_its_codes_and_then_its_scale() -> None:
    """The largest number has code 127, half a step is rounded up, and the scale is a plain float32."""
    stored = narrow(torch.tensor([[-63.5, 32.0, 0.25, -0.25]]), INT8)
    assert stored.shape == (1, stored_width(4, INT8))
    assert stored[0, :4].tolist() == [-127, 64, 1, 0]
    assert stored[0, 4:].view(torch.float32).tolist() == [0.5]


def test_an_int8_vector_of_zeros_is_all_zero_bytes() -> None:
    """So that what was cleared reads as zeros, and zeros are stored as what was cleared."""
    assert not narrow(torch.zeros(2, 3, 8), INT8).any()
    assert widened(torch.zeros(2, 12, dtype=INT8), 8, torch.float32).tolist() == [[0.0] * 8] * 2


def test_a_nan_scale_is_nan_times_anything() -> None:
    """Codes have no NaN; the float32 behind them has."""
    stored = narrow(torch.zeros(1, 8), INT8)
    stored[0, 8:] = -1
    assert bool(widened(stored, 8, torch.float32).isnan().all())


@given(
    numbers=st.lists(st.floats(-(2.0**100), 2.0**100, width=32), min_size=4, max_size=4),
    dtype=st.sampled_from(list(KV_TYPES.values())),
)
def test_the_error_is_half_a_step(numbers: list[float], dtype: torch.dtype) -> None:
    """A step is one in 127 of the vector's largest in int8, a part of the number in the float types."""
    given_ = torch.tensor(numbers)
    back = widened(narrow(given_, dtype), len(numbers), torch.float32)
    top = {FP8: 448.0, torch.float16: 65504.0}.get(dtype, 3e38)
    least = {FP8: 2.0**-9, torch.float16: 2.0**-24}.get(dtype, 2.0**-126)
    part = {FP8: 2.0**-4, torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8, torch.float32: 0.0}
    if dtype == INT8:
        step = float(given_.abs().max()) / 127
        assert bool(((given_ - back).abs() <= step * 0.501 + 2.0**-126).all())
    else:
        inside = given_.abs() <= top
        allowed = given_.abs() * part[dtype] + least / 2
        assert bool(((given_ - back).abs() <= allowed)[inside].all())


def test_vectors_may_be_in_any_order() -> None:
    """`widen` reads a permuted view, and writes where it is told."""
    numbers = torch.randn(4, 3, 8)
    for dtype in KV_TYPES.values():
        stored = narrow(numbers, dtype)
        out = torch.empty(3, 4, 8)
        assert widen(stored.permute(1, 0, 2), out) is out
        assert torch.equal(widened(stored, 8, torch.float32).permute(1, 0, 2), out)
