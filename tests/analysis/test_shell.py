"""The prompt of `tracert sql`."""

import io
from collections.abc import Callable
from pathlib import Path

import duckdb
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


@pytest.mark.parametrize("line", [".schema nothing", ".frobnicate", ".schema", ".schema x'; DROP"])
def test_a_wrong_dot_command_is_one_line(database: Path, line: str) -> None:
    """It says what is wrong and where to look."""
    text, _ = session(database, line)
    assert len(text.splitlines()) == 1
    assert ".help lists" in text or ".tables lists" in text


def test_help_and_quit(database: Path) -> None:
    """`.help` prints the commands; after `.quit` nothing runs."""
    assert session(database, ".help", ".quit", "FROM event;")[0] == HELP
