"""`tracert sql DUMP [QUERY]`."""

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Form(StrEnum):
    """How rows are written."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


def sql(
    dump: Annotated[
        str, typer.Argument(metavar="DUMP", help="dump.jsonl, dump.jsonl.zst, a ring file, or -.")
    ],
    query: Annotated[
        str | None,
        typer.Argument(metavar="QUERY", help="One SELECT; without it, a prompt.", show_default=False),
    ] = None,
    form: Annotated[Form, typer.Option("--format", help="How to write the rows.")] = Form.TABLE,
) -> None:
    """Ask a dump in SQL: tables header, event, ...; views launch, access, finding, ... (.tables lists)."""
    import tempfile

    from tracert_analysis.answers import write_answer
    from tracert_analysis.safe_query import ask
    from tracert_analysis.shell import Shell, history

    from tracert.cli.errors import WrongUsage

    if dump == "-" and query is None:
        raise WrongUsage(
            "standard input is the dump, so there is no prompt: give the query on the command line"
        )
    with tempfile.TemporaryDirectory(prefix="tracert-") as folder:
        database = Path(folder) / "dump.duckdb"
        load_into(dump, database)
        if query is not None:
            write_answer(ask(database, query), form.value, sys.stdout)
            return
        shell = Shell(database, form.value, sys.stdout)
        if not sys.stdin.isatty():
            shell.run(read_plain)
        else:
            print(".help lists what there is; end of input (Ctrl-D) leaves.")
            with history(state_folder() / "sql-history"):
                shell.run(input)
    if shell.failed and not sys.stdin.isatty():
        raise typer.Exit(1)


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
