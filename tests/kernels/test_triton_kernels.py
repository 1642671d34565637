import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.parametrize(
    ("file", "interpret", "only", "marked"),
    [
        pytest.param("interpreted.py", "1", "", "not slow", id="interpreted"),
        pytest.param("interpreted.py", "1", "", "slow", id="interpreted, the rest", marks=pytest.mark.slow),
        pytest.param("compiled.py", "0", "sm_90", "not slow", id="compiled"),
        pytest.param("compiled.py", "0", "sm_90", "slow", id="compiled, the rest", marks=pytest.mark.slow),
        pytest.param("compiled.py", "0", "not sm_90", "", id="for other GPUs", marks=pytest.mark.slow),
    ],
)
def test_in_a_process_of_its_own(file: str, interpret: str, only: str, marked: str, tmp_path: Path) -> None:
    """The Triton kernels agree with the twins in the interpreter, and compile for every GPU we name."""
    environment = os.environ | {
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join(sys.path),
        "TRITON_CACHE_DIR": str(tmp_path / "cache"),
        "TRITON_DEFAULT_FP_FUSION": "1",
        "TRITON_INTERPRET": interpret,
    }
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "--basetemp",
        str(tmp_path / "pytest"),
    ]
    done = subprocess.run(
        [*command, "-k", only, "-m", marked, str(HERE / file)],
        cwd=HERE.parents[1],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
