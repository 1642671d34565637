"""`tracert sql DUMP [QUERY]`."""

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tracert.cli.errors import WrongUsage, say

if TYPE_CHECKING:
    from tracert_analysis.answers import Format


SUFFIXES = (".jsonl", ".jsonl.zst", ".ring")
"""What ends so is a dump, there or not, and no query."""


class Form(StrEnum):
    """How rows are written."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    PARQUET = "parquet"


def sql(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="DUMP... [QUERY]",
            help="Dumps: dump.jsonl, dump.jsonl.zst, a ring file, a directory of them, or -; "
            "several are a rank each. One SELECT, where the last word is no file; without it, a prompt.",
        ),
    ],
    rank: Annotated[
        int | None,
        typer.Option("--rank", metavar="N", min=0, help="Of several dumps: ask this rank alone."),
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

    dumps, query = told_apart(words)
    if query is None:
        if "-" in dumps:
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
        ranks = load_into(dumps, database)
        if rank is not None and rank not in ranks:
            raise WrongUsage(f"there is no rank {rank}: {ranks_told(ranks)}")
        schema = "main" if rank is None else f"rank{rank}"
        if form is Form.PARQUET:
            assert query is not None
            assert output is not None
            save_parquet(database, query, output, schema=schema)
        elif query is None:
            prompt(database, texts[form], schema)
        elif query.lstrip().startswith("."):
            command(database, texts[form], schema, query.strip(), output)
        else:
            answer = ask(database, query, schema=schema)
            with nullcontext(sys.stdout) if output is None else output.open("w", encoding="utf-8") as file:
                width = screen_width() if output is None else None
                write_answer(answer, texts[form], file, width() if width else None)


def told_apart(words: Sequence[str]) -> tuple[list[str], str | None]:
    """The dumps, and the query: the last of several words, where it is no file."""
    *dumps, last = words
    if dumps and last != "-" and not os.path.exists(last) and not last.endswith(SUFFIXES):
        return dumps, last
    return [*dumps, last], None


def ranks_told(ranks: Sequence[int]) -> str:
    """Which ranks there are, for people."""
    return f"there are {', '.join(map(str, ranks))}" if ranks else "one dump has none"


def screen_width() -> Callable[[], int] | None:
    """What gives the width of the terminal that answers go to; None where they go to none."""
    import shutil

    return (lambda: shutil.get_terminal_size().columns) if sys.stdout.isatty() else None


def command(database: Path, form: "Format", schema: str, text: str, output: Path | None) -> None:
    """A command of the prompt, such as `.tables`, in the place of a query."""
    from tracert_analysis.shell import Shell

    with nullcontext(sys.stdout) if output is None else output.open("w", encoding="utf-8") as file:
        Shell(database, form, file, schema=schema, width=screen_width() if output is None else None).execute(
            text
        )


def prompt(database: Path, form: "Format", schema: str) -> None:
    """Statements from the terminal; or a script from standard input: exit code 1 when one of them fails."""
    from tracert_analysis.comments import described
    from tracert_analysis.line_editing import line_editing
    from tracert_analysis.pager import paged, pager_command
    from tracert_analysis.shell import COMMANDS, Shell

    if not sys.stdin.isatty():
        shell = Shell(database, form, sys.stdout, schema=schema)
        shell.run(read_plain)
        if shell.failed:
            raise typer.Exit(1)
        return
    pager = pager_command() if sys.stdout.isatty() else None
    screen = (lambda: paged(pager)) if pager else None
    shell = Shell(database, form, sys.stdout, screen, schema=schema, width=screen_width())
    columns = {found.name: [column.name for column in found.columns] for found in described()}
    print(".help lists what there is; end of input (Ctrl-D) leaves.")
    with line_editing(state_folder() / "sql-history", COMMANDS, columns) as read:
        shell.run(read)


def load_into(dumps: Sequence[str], database: Path) -> list[int]:
    """Load the dumps into a new database file, and let go of it: another process opens it read-only.

    Gives their ranks; none for one dump.
    """
    from tracert_analysis.comments import of_ranks, write_comments
    from tracert_analysis.load import open_dump
    from tracert_analysis.ranks import chosen, open_ranks

    paths, remarks = chosen(dumps)
    for line in remarks:
        say(line)
    if len(paths) == 1:
        connection = open_dump(paths[0], database=str(database)).connection
        write_comments(connection)
        connection.close()
        return []
    opened = open_ranks(paths, database=str(database), beside=True)
    if opened.apart:
        say(
            f"these {len(paths)} dumps are not of ranks of one engine: {opened.apart}; they stand side by "
            "side, numbered in the order given, and what they decided is not compared"
        )
    for rank in opened.ranks:
        write_comments(rank.dump.connection)
        rank.dump.connection.close()
    write_comments(opened.connection, of_ranks())
    opened.connection.close()
    return [rank.number for rank in opened.ranks]


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
