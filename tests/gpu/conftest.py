"""Tests here need a CUDA device and are skipped without one."""

import pytest
import torch


@pytest.fixture(autouse=True)
def needs_cuda() -> None:
    """Skip where there is no CUDA device."""
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
