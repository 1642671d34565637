"""`tracert sql`."""

import io
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest

from tests.analysis.history import History
from tests.analysis.report.histories import unordered_publish
from tracert.cli.main import run
from tracert.cli.sql import load_into


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dump with an unordered publish."""
    return unordered_publish().write(tmp_path_factory.mktemp("dump"))


@pytest.fixture(scope="module")
def database(dump: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The dump, loaded."""
    path = tmp_path_factory.mktemp("database") / "dump.duckdb"
    load_into([str(dump)], path)
    return path


@pytest.fixture
def loaded(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The dump is loaded once for all tests whose subject comes after that."""

    def copied(dumps: list[str], target: Path) -> list[int]:
        shutil.copy(database, target)
        return []

    monkeypatch.setattr("tracert.cli.sql.load_into", copied)


def test_a_query_prints_a_table(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Head, rule, rows, count."""
    assert run(["sql", str(dump), "SELECT code, seq FROM finding"]) == 0
    assert capsys.readouterr().out.splitlines() == ["code   seq", "-----  ---", "TR102   29", "(1 row)"]


@pytest.mark.usefixtures("loaded")
def test_json_and_csv_are_for_programs(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A macro's row as an object, and as a line; lists stay lists."""
    assert run(["sql", str(dump), "SELECT page, life, owner FROM last_owner(5)", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"page": 5, "life": 2, "owner": "request:11"}]
    assert run(["sql", str(dump), "SELECT entries FROM event WHERE seq = 9", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"entries": [[0, 5, 1], [1, 6, 1]]}]
    assert run(["sql", str(dump), "SELECT happens_before(6, 7) AS ordered", "--format", "csv"]) == 0
    assert capsys.readouterr().out == "ordered\nfalse\n"


def test_the_prompt_runs_a_script(
    dump: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Statements and dot commands from standard input, without a prompt; with the library's comments."""
    monkeypatch.setattr(
        "sys.stdin", io.StringIO("SELECT count(*) AS n\nFROM launch;\n.tables\n.schema fence\n")
    )
    assert run(["sql", str(dump)]) == 0
    text = capsys.readouterr().out
    assert text.splitlines()[2].strip() == "7"
    assert "tracert>" not in text
    lines = text.splitlines()
    assert any(line.startswith("finding ") and " view " in line and "breaks" in line for line in lines)
    assert any(line.startswith("event ") and " table " in line for line in lines)
    assert any(line.startswith("passed_seq ") and "host" in line for line in lines)
    assert not any(line.startswith("_") for line in lines)


@pytest.mark.usefixtures("loaded")
def test_a_script_that_fails_has_an_exit_code(
    dump: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The rest of it runs."""
    monkeypatch.setattr("sys.stdin", io.StringIO("SELECT nothing FROM launch;\nSELECT 42 AS n;\n"))
    assert run(["sql", str(dump)]) == 1
    text = capsys.readouterr().out
    assert text.startswith("error: ")
    assert "42" in text


@pytest.mark.usefixtures("loaded")
@pytest.mark.parametrize(
    ("query", "part"),
    [
        ("DROP TABLE event", "only SELECT and EXPLAIN run here"),
        ("SELECT * FROM read_text('/etc/hostname')", "disabled by configuration"),
        ("SELECT x FROM launch", "x"),
    ],
)
def test_a_query_that_may_not_or_cannot_run_is_one_line(
    query: str, part: str, dump: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 1, nothing on standard output."""
    assert run(["sql", str(dump), query]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
    assert part in captured.err


@pytest.mark.usefixtures("loaded")
def test_a_command_of_the_prompt_may_stand_in_the_place_of_a_query(
    dump: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its answer goes where that of a query goes."""
    assert run(["sql", str(dump), ".schema last_writer"]) == 0
    assert capsys.readouterr().out.startswith("macro: last_writer(page, before)")
    assert run(["sql", str(dump), ".tables", "-o", str(tmp_path / "tables")]) == 0
    assert "page_life" in (tmp_path / "tables").read_text()
    assert run(["sql", str(dump), ".nothing"]) == 1
    assert capsys.readouterr().err == "tracert: no such command: .nothing; .help lists them\n"


def test_an_error_is_one_line_without_the_place(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Marks below a line that is not there say nothing; of a statement of several lines the line stays."""
    assert run(["sql", str(dump), "SELECT nosuch FROM event"]) == 1
    told = capsys.readouterr().err
    assert "^" not in told
    assert "LINE" not in told
    assert run(["sql", str(dump), "SELECT 1,\nnosuch FROM event"]) == 1
    assert capsys.readouterr().err.endswith(" (line 2)\n")


def test_rows_go_to_a_file(dump: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As Parquet with their types, or as text; nothing is printed."""
    query = "SELECT seq, code, life FROM finding"
    target = tmp_path / "out.parquet"
    assert run(["sql", str(dump), query, "--format", "parquet", "-o", str(target)]) == 0
    found = duckdb.connect().execute("FROM read_parquet($path)", {"path": str(target)})
    assert [("seq", "UBIGINT"), ("code", "VARCHAR"), ("life", "BIGINT")] == [
        (column[0], str(column[1])) for column in found.description
    ]
    assert [(29, "TR102", None)] == found.fetchall()
    assert run(["sql", str(dump), query, "--format", "csv", "-o", str(tmp_path / "out.csv")]) == 0
    assert (tmp_path / "out.csv").read_text() == "seq,code,life\n29,TR102,\n"
    assert capsys.readouterr().out == ""


@pytest.mark.usefixtures("loaded")
@pytest.mark.parametrize(
    ("arguments", "code", "part"),
    [
        (["SELECT 1", "--format", "parquet"], 2, "say with -o FILE where it goes"),
        (["-o", "rows.csv"], 2, "give the query on the command line"),
        (
            ["SELECT 1", "--format", "parquet", "-o", "/no/such/folder/x"],
            1,
            "/no/such/folder/x.partial: No such",
        ),
    ],
)
def test_a_file_that_cannot_be_is_one_line(
    arguments: list[str], code: int, part: str, dump: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It says what is missing, and nothing is printed."""
    assert run(["sql", str(dump), *arguments]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
    assert part in captured.err


def test_several_dumps_are_asked_together_or_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tables of all have a rank; a rank alone has its macros, on the command line and at the prompt."""
    dumps = []
    for rank in (0, 1):
        history = History()
        history.header["config"]["rank"] = rank
        history.alloc([5 + rank], f"request:{rank + 7}")
        dumps.append(str(history.write(tmp_path, f"dump-{rank}.jsonl")))
    query = "SELECT rank, page, owner FROM page_life ORDER BY rank"
    assert run(["sql", *dumps, query, "--format", "csv"]) == 0
    assert capsys.readouterr().out == "rank,page,owner\n0,5,request:7\n1,6,request:8\n"
    assert (
        run(["sql", str(tmp_path), "SELECT owner FROM last_owner(6)", "--rank", "1", "--format", "csv"]) == 0
    )
    assert capsys.readouterr().out == "owner\nrequest:8\n"
    assert run(["sql", *dumps, "SELECT 1", "--rank", "2"]) == 2
    assert "there is no rank 2: there are 0, 1" in capsys.readouterr().err
    assert run(["sql", dumps[0], dumps[0], "SELECT rank FROM rank ORDER BY 1", "--format", "csv"]) == 0
    told, said = capsys.readouterr()
    assert "rank\n0\n1\n" == told
    assert "are not of ranks of one engine: " in said
    assert "what they decided is not compared" in said
    # A macro is one rank's: the database would suggest one that then fails on what is private.
    for query, who in (
        ("FROM last_owner(6)", "last_owner is a macro, and "),
        ("FROM rank0.last_owner(6)", ""),
    ):
        assert run(["sql", *dumps, query]) == 1
        said = f"{who}macros answer for one rank alone: --rank N, or .rank N at the prompt"
        assert f"tracert: {said}\n" == capsys.readouterr().err
    script = (
        "SELECT count(*) AS n FROM page_life;\n.rank 1\nSELECT owner FROM last_owner(6);\n.tables\n.rank 7\n"
        ".rank\n.schema decision\n.schema page_life\n"
    )
    monkeypatch.setattr("sys.stdin", io.StringIO(script))
    assert run(["sql", *dumps, "--format", "csv"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[:5] == ["n", "2", "rank 1", "owner", "request:8"]
    assert 1 == sum(line.startswith("page_life ") for line in lines)
    assert "error: there is no rank 7; .help lists all commands" in lines
    assert any(line.startswith("what ") and "in words" in line for line in lines)
    assert any(line.startswith("unheld_seq ") and "nobody holds it" in line for line in lines)


def test_nothing_is_left_behind(dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database file is gone with the command."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert run(["sql", str(dump), "SELECT 1"]) == 0
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_left_behind_by_a_command_that_was_ended(dump: Path, tmp_path: Path) -> None:
    """Not the database, and not the process that runs the query."""
    program = "from tracert.cli.main import main; main()"
    command = [sys.executable, "-c", program, "sql", str(dump)]
    endless = "SELECT count(*) FROM range(100000000000) AS a, range(100000) AS b"
    with subprocess.Popen(
        [*command, endless], env={**os.environ, "TMPDIR": str(tmp_path)}, stderr=subprocess.PIPE, text=True
    ) as process:
        deadline = time.monotonic() + 60
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        while not (started := children.read_text().split()) and time.monotonic() < deadline:
            time.sleep(0.02)
        process.terminate()
        _, said = process.communicate(timeout=60)
    assert (130, "") == (process.returncode, said)
    assert [] == list(tmp_path.iterdir())
    assert started
    # A process that was only just started ends when it is told nothing.
    while any(Path(f"/proc/{child}").exists() for child in started) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not any(Path(f"/proc/{child}").exists() for child in started)
