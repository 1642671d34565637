"""The prompt of `tracert sql`."""

import io
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import psutil
import pytest
from tracert_analysis.shell import HELP, MORE, PROMPT, Shell


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table with a comment, a view and a macro."""
    path = tmp_path_factory.mktemp("database") / "dump.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE event AS SELECT range AS seq FROM range(3)")
        connection.execute("COMMENT ON TABLE event IS 'every event'")
        connection.execute("COMMENT ON COLUMN event.seq IS 'total order'")
        connection.execute("CREATE VIEW launch AS FROM event")
        connection.execute("CREATE VIEW _private AS FROM event")
        connection.execute("CREATE MACRO last_owner(p) AS TABLE SELECT p AS page")
    return path


def typed(*lines: str) -> Callable[[str], str]:
    """A user who types these lines, and then ends the input."""
    left = list(lines)

    def read(prompt: str) -> str:
        if not left:
            raise EOFError
        read.prompts.append(prompt)  # type: ignore[attr-defined]
        return left.pop(0)

    read.prompts = []  # type: ignore[attr-defined]
    return read


def session(database: Path, *lines: str) -> tuple[str, Shell]:
    """What the prompt prints for these lines."""
    out = io.StringIO()
    shell = Shell(database, "table", out)
    shell.run(typed(*lines))
    return out.getvalue(), shell


def test_a_statement_may_span_lines(database: Path) -> None:
    """It runs at the semicolon; the second line has another prompt."""
    read = typed("SELECT max(seq) AS newest", "FROM event;")
    out = io.StringIO()
    Shell(database, "table", out).run(read)
    assert out.getvalue().splitlines() == ["newest", "------", "     2", "(1 row)"]
    assert read.prompts == [PROMPT, MORE]  # type: ignore[attr-defined]


def test_a_statement_without_semicolon_runs_at_the_end_of_the_input(database: Path) -> None:
    """A query piped in needs no semicolon."""
    assert "(3 rows)" in session(database, "FROM event")[0]


def test_an_error_is_printed_and_the_prompt_goes_on(database: Path) -> None:
    """The next statement runs, and the shell remembers that one failed."""
    text, shell = session(database, "SELECT nothing FROM event;", "FROM event;")
    assert text.startswith("error: ")
    assert "(3 rows)" in text
    assert shell.failed


def test_an_error_holds_nothing_that_a_terminal_obeys(database: Path) -> None:
    """What stands in a query, or in a dump, may come back in an error."""
    text, _ = session(database, "SELECT error('\x1b[2J\x9b');")
    assert text.startswith("error: ")
    assert not {"\x1b", "\x9b"} & set(text)


def test_tables_lists_what_is_public(database: Path) -> None:
    """Tables, views and macros with their comments; names with an underscore are private."""
    text, _ = session(database, ".tables")
    words = [line.split(maxsplit=2) for line in text.splitlines()]
    assert ["event", "table", "every event"] in words
    assert ["launch", "view"] in words
    assert ["last_owner(p)", "macro"] in words
    assert "_private" not in text


def test_schema_shows_columns_with_comments(database: Path) -> None:
    """Name, type and comment of each column."""
    assert session(database, ".schema event")[0].splitlines()[2].split(maxsplit=2) == [
        "seq",
        "BIGINT",
        "total order",
    ]


def test_schema_shows_the_text_of_a_macro(database: Path) -> None:
    """A macro is shown with its parameters and definition."""
    text, _ = session(database, ".schema last_owner")
    assert "last_owner(p)" in text
    assert "AS page" in text


@pytest.mark.parametrize(
    "line", [".schema nothing", ".frobnicate", ".schema x'; DROP", ".mode xml", ".timer maybe"]
)
def test_a_wrong_dot_command_is_one_line(database: Path, line: str) -> None:
    """It says what is wrong and where to look."""
    text, _ = session(database, line)
    assert len(text.splitlines()) == 1
    assert ".help lists" in text or ".tables lists" in text


def test_schema_of_everything_is_a_line_each(database: Path) -> None:
    """Tables and views with their columns; private ones are left out."""
    assert ["event   seq", "launch  seq"] == session(database, ".schema")[0].splitlines()[2:4]


def test_several_statements_on_a_line_run_one_by_one(database: Path) -> None:
    """Also where a semicolon stands in quotes or in a comment."""
    text, shell = session(database, "SELECT ';' AS a; SELECT 2 AS b; -- done;", "SELECT", "3 AS c;")
    assert ["a", "-", ";", "(1 row)", "b", "-", "2", "(1 row)", "c", "-", "3", "(1 row)"] == text.splitlines()
    assert not shell.failed


def test_the_mode_is_how_answers_are_written(database: Path) -> None:
    """From then on; what the prompt tells of itself stays a table."""
    text, _ = session(
        database, ".mode json", "SELECT 1 AS n;", ".schema event", ".mode csv", "SELECT 1 AS n;", ".mode"
    )
    assert text.startswith('mode json\n[\n{"n": 1}\n]\ncolumn')
    assert text.endswith("mode csv\nn\n1\nmode csv\n")


def test_the_timer_tells_how_long_a_query_took(database: Path) -> None:
    """Without the start of its process; and it goes off again."""
    text, _ = session(database, ".timer on", "SELECT 1 AS n;", ".timer off", "SELECT 2 AS n;")
    lines = text.splitlines()
    assert ["timer on", "timer off"] == [lines[0], lines[6]]
    assert lines[5].endswith(" s")
    assert 0 <= float(lines[5].removesuffix(" s")) < 5
    assert "(1 row)" == lines[-1]


TERMINAL = """
import os, sys
from pathlib import Path
from tracert_analysis.line_editing import line_editing
from tracert_analysis.shell import Shell
# Opened by name by who leads a session, it is the terminal that Ctrl-C comes from.
os.close(os.open(os.ttyname(0), os.O_RDWR))
with line_editing(Path(sys.argv[2]), ["last_owner"], {"launch": ["seq"]}) as read:
    Shell(Path(sys.argv[1]), "json", sys.stdout).run(read)
"""


def test_ctrl_c_on_a_terminal_ends_the_query_and_not_the_prompt(database: Path, tmp_path: Path) -> None:
    """With a real terminal; Tab completes a name there, and the lines typed are kept."""
    terminal, its_end = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-c", TERMINAL, str(database), str(tmp_path / "kept")],
        stdin=its_end,
        stdout=its_end,
        stderr=its_end,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TERM": "dumb"},
    )
    os.close(its_end)
    try:
        screen = Terminal(terminal)
        screen.expect("tracert> ")
        screen.type("SELECT count(*) FROM range(1000000000000);\r")
        # Before the query runs, in a process of its own, Ctrl-C would drop the line.
        deadline = time.monotonic() + 30
        while not psutil.Process(child.pid).children():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        screen.interrupt("interrupted")
        screen.expect("tracert> ")
        screen.type("SELECT page AS n FROM last_o\t(42);\r")
        screen.expect('{"n": 42}')
        screen.type("SELECT\r")
        screen.expect("...> ")
        screen.interrupt("tracert> ")
        screen.type(".quit\r")
        child.wait(timeout=60)
    finally:
        child.kill()
        os.close(terminal)
    assert "SELECT page AS n FROM last_owner(42);" in (tmp_path / "kept").read_text().splitlines()


class Terminal:
    """What stands on a terminal, as it comes."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._seen = ""

    def type(self, text: str) -> None:
        """Press these keys."""
        os.write(self._descriptor, text.encode())

    def expect(self, text: str) -> None:
        """Wait until the text comes, behind what was waited for before."""
        assert self._comes(text, 30), f"{text!r} never came: {self._seen!r}"

    def interrupt(self, text: str) -> None:
        """Press Ctrl-C until the text comes: between its prompt and its wait for a key, Python misses one."""
        for _ in range(30):
            self.type("\x03")
            if self._comes(text, 1):
                return
        raise AssertionError(f"{text!r} never came: {self._seen!r}")

    def _comes(self, text: str, seconds: float) -> bool:
        """Does the text come in time? What stands behind it is kept."""
        deadline = time.monotonic() + seconds
        while text not in self._seen:
            ready, _, _ = select.select([self._descriptor], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                return False
            self._seen += os.read(self._descriptor, 4096).decode(errors="replace")
        self._seen = self._seen.partition(text)[2]
        return True


def test_words_that_everybody_tries_are_commands_and_a_semicolon_does_no_harm(database: Path) -> None:
    """No statement begins so; within one they are SQL."""
    for line in ("help", "HELP;", ".help;"):
        assert HELP == session(database, line)[0]
    assert "last_owner(p)" in session(database, ".tables;")[0]
    assert "every event" not in session(database, "quit", ".tables")[0]
    assert "help" in session(database, "SELECT 1 AS", "help", ";")[0].splitlines()
    assert "no such command: .nothing; .help lists them" in session(database, ".nothing;")[0]


def test_a_macro_that_is_no_table_is_told_how_it_is_asked(database: Path) -> None:
    """What the database would suggest is another table."""
    told, _ = session(database, "FROM last_owner;")
    assert told.splitlines()[0] == "error: last_owner is a macro, which gives rows: FROM last_owner(p)"
    assert told.splitlines()[-1].strip() == "^" * len("last_owner")
    told, _ = session(database, "FROM last_owner();")
    assert "\ufffd" not in told
    told, _ = session(database, "FROM _privat;")
    assert "_private" not in told
    told, _ = session(database, "SHOW TABLES;")
    assert "SHOW TABLES would list what is private, too: .tables lists what there is" in told
    told, _ = session(database, "SELECT 1 // 0;")
    assert "Division by zero" in told
    assert "SET " not in told


def test_help_and_quit(database: Path) -> None:
    """`.help` prints the commands; after `.quit` nothing runs."""
    assert session(database, ".help", ".quit", "FROM event;")[0] == HELP
