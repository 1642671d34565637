"""What of the CUDA device can be checked without CUDA: how its errors are told."""

import pytest
import torch

from tests.device.telling import TellingRecorder
from tracert.device.cuda import CudaDevice, describe, is_cuda


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_without_cuda_the_device_is_refused() -> None:
    """One line, and no torch error."""
    with pytest.raises(ValueError, match="no CUDA device 0: 0 found"):
        CudaDevice(TellingRecorder().as_recorder())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "CUDA error: device-side assert triggered\nSearch for `cudaErrorAssert' in the documentation",
            (999, "cudaErrorAssert", "device-side assert triggered"),
        ),
        (
            "Triton Error [CUDA]: an illegal memory access was encountered",
            (999, "cudaErrorUnknown", "an illegal memory access was encountered"),
        ),
    ],
)
def test_a_runtime_error_of_cuda_is_described(text: str, expected: tuple[int, str, str]) -> None:
    """The first line, the name where torch gives it, and a code that says unknown where it does not."""
    error = RuntimeError(text)

    assert is_cuda(error)
    assert describe(error) == expected


def test_the_code_is_cudas_where_torch_passes_it_on() -> None:
    """torch's AcceleratorError carries it."""
    error = torch.AcceleratorError("CUDA error: unspecified launch failure")
    error.error_code = 719  # type: ignore[attr-defined]

    assert is_cuda(error)
    assert describe(error) == (719, "cudaErrorUnknown", "unspecified launch failure")


def test_an_error_of_the_call_is_not_cudas() -> None:
    """A wrong shape is the caller's, and passes through a launch as it is."""
    assert not is_cuda(RuntimeError("The size of tensor a (3) must match the size of tensor b (4)"))
