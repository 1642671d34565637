import os
import subprocess
import sys

import pytest
from tracert_kernels import twins
from tracert_kernels.dispatch import for_device


def test_the_cpu_serves_with_the_twins() -> None:
    """The plain kernels, by the device type that torch calls cpu."""
    assert for_device("cpu") is twins


def test_an_unknown_device_is_refused() -> None:
    """One line that says what would do."""
    with pytest.raises(ValueError, match="no kernels for device type 'mps': use 'cpu' or 'cuda'"):
        for_device("mps")


def test_triton_is_imported_only_for_a_gpu() -> None:
    """The CPU serves without triton installed, and the package itself does not even want torch."""
    program = """
import sys
import tracert_kernels
assert "torch" not in sys.modules
from tracert_kernels.dispatch import for_device
for_device("cpu")
assert "triton" not in sys.modules
cuda = for_device("cuda")
assert "triton" in sys.modules
from tracert_kernels import triton_kernels
assert cuda is triton_kernels
"""
    environment = {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
