"""The command line as a whole: finding commands, printing one line, exit codes, and what is not imported."""

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from tracert.cli import main as command_line
from tracert.cli.errors import CommandError, WrongUsage, explain_failure
from tracert.cli.main import COMMANDS, run

READERS = ("postmortem", "sql", "recover", "explain")


def test_no_arguments_print_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    """Every command stands there with the first sentence of its docstring."""
    assert run([]) == 0
    text = capsys.readouterr().out
    for name in COMMANDS:
        assert f"  {name} " in text
    assert "Say what a finding means" in text


def test_the_version_is_the_package_s(capsys: pytest.CaptureFixture[str]) -> None:
    """One line, exit code 0, no command run."""
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"tracert {version('tracert')}\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`--help` succeeds and starts with the usage of that command."""
    assert run([name, "--help"]) == 0
    assert capsys.readouterr().out.startswith(f"Usage: tracert {name} ")


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["nothing"], "No such command 'nothing'"),
        (["explain"], "Missing argument 'CODE'; see tracert explain --help"),
        (["explain", "TR102", "--colour"], "No such option: --colour"),
        (["explain", "TR999"], "there are: TR101 unordered-access"),
        (["postmortem", "dump.jsonl", "--format", "pdf"], "pdf"),
        (["postmortem", "dump.jsonl", "--page", "many"], "'--page': it must be a whole number; see tracert"),
        (["postmortem", "dump.jsonl", "--format", "xml"], "'--format': 'xml' is not one of 'text', 'json'"),
        (["serve", "--hang-seconds", "0"], "'--hang-seconds': it must be greater than or equal to 0.001"),
        (["sql", "-"], "give the query on the command line"),
        (["generate", "hi", "--max-tokens", "9" * 20], "'--max-tokens'"),
        (["generate", "hi", "--max-num-batched-tokens", "9" * 20], "'--max-num-batched-tokens'"),
        (["generate", "hi", "--ring-events", str(2**62)], "'--ring-events'"),
        (["generate", "hi", "--max-model-len", "0"], "'--max-model-len'"),
        (["serve", "--hang-seconds", "nan"], "'--hang-seconds'"),
        (["serve", "--max-waiting", "0"], "'--max-waiting'"),
        (["serve", "--port", "70000"], "'--port'"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(
    arguments: list[str], part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing on standard output, one line on standard error that says what is wrong."""
    assert run(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
    assert captured.err.startswith("tracert: ")
    assert part in captured.err


class Broken(Exception):
    """An exception of nobody's."""


@pytest.mark.parametrize(
    ("error", "line", "code"),
    [
        (CommandError("port 8000 is taken:\n use --port"), "port 8000 is taken: use --port", 1),
        (WrongUsage("no such thing"), "no such thing", 2),
        (
            FileNotFoundError(2, "No such file or directory", "/x/dump.jsonl"),
            "/x/dump.jsonl: No such file or directory",
            1,
        ),
        (ModuleNotFoundError("No module named 'torch'", name="torch"), "pip install '.[serve]'", 1),
        (MemoryError(), "out of memory", 1),
        (KeyboardInterrupt(), "interrupted", 130),
        (RuntimeError("Query interrupted"), "interrupted", 130),
        (CommandError("no model \x1b[2Jx"), "no model \ufffd[2Jx", 1),
        (Broken("x\ny"), "unexpected Broken: x y: a bug of tracert; TRACERT_TRACEBACK=1", 1),
    ],
)
def test_each_error_becomes_one_line(error: BaseException, line: str, code: int) -> None:
    """Ours as they are, the system's with their file, everything else as a bug."""
    text, exit_code = explain_failure(error)
    assert line in text
    assert len(text.splitlines()) == 1
    assert exit_code == code


def test_a_failing_command_prints_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever a command raises, the user sees one line."""

    def fail(_: object) -> None:
        raise Broken("oh")

    monkeypatch.delenv("TRACERT_TRACEBACK", raising=False)
    monkeypatch.setattr(command_line, "build", fail)
    assert run(["explain", "TR102"]) == 1
    assert capsys.readouterr().err.startswith("tracert: unexpected Broken: oh")
    monkeypatch.setenv("TRACERT_TRACEBACK", "1")
    with pytest.raises(Broken):
        run(["explain", "TR102"])


def python(code: str) -> str:
    """What a fresh interpreter prints for `code`."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout


HEAVY = "sorted(set(sys.modules) & {'torch', 'duckdb', 'numpy', 'transformers', 'fastapi', 'zmq', 'rich'})"


def test_importing_the_package_imports_nothing_heavy() -> None:
    """`import tracert` alone is a matter of milliseconds."""
    assert python(f"import sys, tracert; print({HEAVY})").strip() == "[]"


@pytest.mark.parametrize("name", READERS)
def test_help_of_a_reader_command_imports_nothing_heavy(name: str) -> None:
    """Neither torch nor the database: the help has to come at once."""
    code = f"import sys; from tracert.cli.main import run; run(['{name}', '--help']); print({HEAVY})"
    assert python(code).splitlines()[-1] == "[]"


def test_the_help_of_all_commands_imports_nothing_heavy() -> None:
    """It reads the module of every command, and none of these takes torch, the database or the server."""
    code = f"import sys; from tracert.cli.main import run; run(['--help']); print({HEAVY})"
    assert python(code).splitlines()[-1] in ("[]", "['rich']")


@pytest.mark.parametrize("arguments", [["--help"], ["postmortem", "--help"], ["explain", "TR102"]])
def test_help_comes_at_once(arguments: list[str]) -> None:
    """Within 300 ms of processor time, the interpreter's start included."""
    call = f"from tracert.cli.main import run; run({arguments!r}); "
    code = f"{call}import time; print(time.process_time())"
    assert min(float(python(code).splitlines()[-1]) for _ in range(3)) < 0.3


@pytest.mark.parametrize(
    "arguments", [["explain", "TR102"], ["postmortem", "missing.jsonl"], ["sql", "missing.jsonl", "x"]]
)
def test_a_reader_command_never_imports_torch(arguments: list[str]) -> None:
    """A dump opens on a laptop without torch."""
    code = f"import sys; from tracert.cli.main import run; run({arguments!r}); print('torch' in sys.modules)"
    assert python(code).splitlines()[-1] == "False"


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    """`tracert explain TR102 | head -1` ends quietly."""
    code = "from tracert.cli.main import main; main()"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = (
        f"{sys.executable} -c '{code}' explain TR102 2>{tmp_path}/err | head -1; echo ${{PIPESTATUS[0]}}"
    )
    done = subprocess.run(
        ["bash", "-c", command], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.splitlines() == ["# TR102 unordered-publish", "0"]
    assert (tmp_path / "err").read_text() == ""
