"""`tracert sql DUMP [QUERY]`."""

import os
import sys
from contextlib import nullcontext
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from tracert_analysis.answers import Format


class Form(StrEnum):
    """How rows are written."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    PARQUET = "parquet"


def sql(
    dump: Annotated[
        str, typer.Argument(metavar="DUMP", help="dump.jsonl, dump.jsonl.zst, a ring file, or -.")
    ],
    query: Annotated[
        str | None,
        typer.Argument(metavar="QUERY", help="One SELECT; without it, a prompt.", show_default=False),
    ] = None,
    form: Annotated[
        Form, typer.Option("--format", help="How to write the rows; parquet needs -o.")
    ] = Form.TABLE,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write the rows to a file, not to the terminal."),
    ] = None,
) -> None:
    """Ask a dump in SQL: tables header, event, ...; views launch, access, finding, ... (.tables lists)."""
    import tempfile

    from tracert_analysis.answers import write_answer
    from tracert_analysis.safe_query import ask, save_parquet

    from tracert.cli.errors import WrongUsage

    if query is None:
        if dump == "-":
            raise WrongUsage(
                "standard input is the dump, so there is no prompt: give the query on the command line"
            )
        if output is not None or form is Form.PARQUET:
            raise WrongUsage("a prompt writes to the terminal: give the query on the command line")
    if form is Form.PARQUET and output is None:
        raise WrongUsage("parquet is no text: say with -o FILE where it goes")
    texts: dict[Form, Format] = {Form.TABLE: "table", Form.JSON: "json", Form.CSV: "csv"}
    with tempfile.TemporaryDirectory(prefix="tracert-") as folder:
        database = Path(folder) / "dump.duckdb"
        load_into(dump, database)
        if form is Form.PARQUET:
            assert query is not None
            assert output is not None
            save_parquet(database, query, output)
        elif query is None:
            prompt(database, texts[form])
        else:
            answer = ask(database, query)
            with nullcontext(sys.stdout) if output is None else output.open("w", encoding="utf-8") as file:
                write_answer(answer, texts[form], file)


def prompt(database: Path, form: "Format") -> None:
    """Statements from the terminal; or a script from standard input: exit code 1 when one of them fails."""
    from tracert_analysis.comments import described
    from tracert_analysis.line_editing import line_editing
    from tracert_analysis.pager import paged, pager_command
    from tracert_analysis.shell import COMMANDS, Shell

    if not sys.stdin.isatty():
        shell = Shell(database, form, sys.stdout)
        shell.run(read_plain)
        if shell.failed:
            raise typer.Exit(1)
        return
    command = pager_command() if sys.stdout.isatty() else None
    shell = Shell(database, form, sys.stdout, (lambda: paged(command)) if command else None)
    names = [
        *COMMANDS,
        *(name for found in described() for name in (found.name, *(c.name for c in found.columns))),
    ]
    print(".help lists what there is; end of input (Ctrl-D) leaves.")
    with line_editing(state_folder() / "sql-history", names) as read:
        shell.run(read)


def load_into(dump: str, database: Path) -> None:
    """Load the dump into a new database file, and let go of it: another process opens it read-only."""
    from tracert_analysis.comments import write_comments
    from tracert_analysis.load import open_dump

    connection = open_dump(dump, database=str(database)).connection
    write_comments(connection)
    connection.close()


def read_plain(_: str) -> str:
    """A line of a script: no prompt is printed."""
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.rstrip("\n")


def state_folder() -> Path:
    """Where programs of this user keep what is not configuration."""
    home = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return Path(home) / "tracert"
