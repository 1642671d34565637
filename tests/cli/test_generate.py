"""`tracert generate`."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.serving import REFUSED, WRONG
from tracert.cli.main import run

GENERATE = [
    *(sys.executable, "-c", "from tracert.cli.main import main; main()"),
    *("generate", "hi", "--model", "tiny-random", "--device", "cpu"),
    *("--kv-pages", "64", "--ring-events", "16384", "--max-model-len", "1000"),
]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        pytest.param(["--max-tokens", "3"], 0, id="answered"),
        pytest.param(["--max-model-len", "5"], 1, id="refused", marks=pytest.mark.slow),
    ],
)
def test_nothing_is_left_when_nothing_broke(options: list[str], code: int, tmp_path: Path) -> None:
    """Neither a ring nor a dump, whether the prompt was answered or is too long."""
    command = [*GENERATE, "--record-dir", str(tmp_path), *options]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (ended.returncode, len(ended.stderr.splitlines())) == (code, code)
    assert not list(tmp_path.iterdir())


def test_a_prompt_that_is_too_long_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The engine runs and refuses it: exit code 1, and nothing left behind."""
    options = ["--model", "tiny-random", "--max-model-len", "5", "--record-dir", str(tmp_path)]
    assert run(["generate", "hi", *options]) == 1
    captured = capsys.readouterr()
    assert (captured.out, len(captured.err.splitlines())) == ("", 1)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("options", "says"), REFUSED)
def test_what_no_engine_can_have_is_one_line(
    options: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 1, one line on standard error that names what to do, nothing left behind."""
    assert run(["generate", "hi", "--model", "tiny-random", "--record-dir", str(tmp_path), *options]) == 1
    captured = capsys.readouterr()
    assert (captured.out, len(captured.err.splitlines())) == ("", 1)
    assert captured.err.startswith("tracert: ")
    assert says in captured.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("options", "says"), WRONG)
def test_what_means_nothing_is_told_before_anything_is_loaded(
    options: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, one line with the option as it is spelled."""
    assert run(["generate", "hi", "--model", "nowhere", "--record-dir", str(tmp_path), *options]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert says in line


def test_a_prompt_that_is_no_text_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Bytes that are no UTF-8: nothing is loaded for them, and no ring is left."""
    prompt = b"\xff\xfe".decode("utf-8", "surrogateescape")
    assert run(["generate", prompt, "--model", "tiny-random", "--record-dir", str(tmp_path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "the prompt is no text in UTF-8" in line
    assert not list(tmp_path.iterdir())


def test_a_reader_that_goes_away_is_no_failure(tmp_path: Path) -> None:
    """`| head` ends it in silence: no error, no dump, no ring."""
    command = [*GENERATE, "--record-dir", str(tmp_path), "--max-tokens", "500"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)
        process.stdout.close()
        assert process.wait(timeout=60) == 0
        assert process.stderr.read() == b""
    assert not list(tmp_path.iterdir())


def test_ctrl_c_is_no_failure(tmp_path: Path) -> None:
    """Exit code 130, no dump, no ring."""
    # So many that the answer can't end before the signal comes.
    many = ("--max-tokens", "60000", "--max-model-len", "65000", "--kv-pages", "4096")
    command = [*GENERATE, "--record-dir", str(tmp_path), *many]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        assert process.wait(timeout=60) == 130
        assert process.stderr.read() == b""
    assert not list(tmp_path.iterdir())
