"""The prompt of `tracert sql`: reads statements and dot commands, prints answers.

A statement ends with a semicolon and may span lines. Statements run in `safe_query`'s process; one that fails
prints its error, one that is interrupted is over, and the prompt goes on.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO, get_args

from tracert_analysis.answers import FORMATS, Format, Out, write_answer
from tracert_analysis.marks import marks
from tracert_analysis.safe_query import Answer, QueryError, ask
from tracert_analysis.statements import split

PROMPT = "tracert> "
MORE = "    ...> "

HELP = """\
SELECT ... ;                 any query; `;` ends it, and it may span lines
.tables                      tables, views and macros, with what they are
.schema [NAME]               columns of a table or view; parameters, columns and text of a macro; of all
.mode [table|json|csv]       how answers are written
.timer [on|off]              say how long each query took
.rank [N]                    of several dumps: ask rank N alone, and its macros; without N, all of them
.help                        this
.quit                        leave (so does end of input)
Tab completes names, the arrow keys bring back lines, Ctrl-C ends a query or a begun statement.
"""
COMMANDS = (".tables", ".schema", ".mode", ".timer", ".rank", ".help", ".quit")
WORDS = ("help", "quit", "exit")
"""Commands that everybody tries without the dot; no statement begins so."""

# What follows from the loaded tables is a view to its reader, and those are tables, however either is kept.
TABLES = """\
SELECT name, kind, split_part(comment, chr(10), 1) AS comment FROM (
    SELECT name, comment,
        CASE WHEN name IN ('header', 'event', 'stream_state', 'page_state', 'lane_state')
            THEN 'table' ELSE 'view' END AS kind
    FROM (
        SELECT table_name AS name, comment FROM duckdb_tables()
        WHERE NOT internal AND schema_name = current_schema()
        UNION ALL
        SELECT view_name, comment FROM duckdb_views() WHERE NOT internal AND schema_name = current_schema()
    )
    UNION ALL
    SELECT function_name || '(' || array_to_string(parameters, ', ') || ')', comment, 'macro'
    FROM duckdb_functions()
    WHERE function_type IN ('macro', 'table_macro') AND NOT internal AND schema_name = current_schema()
)
WHERE name NOT LIKE '\\_%' ESCAPE '\\'
ORDER BY CASE kind WHEN 'table' THEN 1 WHEN 'view' THEN 2 ELSE 3 END, name"""

ALL_COLUMNS = """\
SELECT table_name AS name, string_agg(column_name, ', ' ORDER BY column_index) AS columns
FROM duckdb_columns()
WHERE NOT internal AND schema_name = current_schema() AND table_name NOT LIKE '\\_%' ESCAPE '\\'
GROUP BY table_name ORDER BY table_name"""

SCHEMA = "SELECT 1 FROM duckdb_schemas() WHERE schema_name = '{name}'"

COLUMNS = """\
SELECT column_name AS "column", data_type AS type, comment FROM duckdb_columns()
WHERE NOT internal AND schema_name = current_schema() AND table_name = {name} ORDER BY column_index"""

MACRO = """\
SELECT function_name || '(' || array_to_string(parameters, ', ') || ')' AS macro, comment,
    macro_definition AS definition
FROM duckdb_functions() WHERE NOT internal AND schema_name = current_schema() AND function_name = {name}"""


class Shell:
    """One prompt on one database file. Answers go to `screen()`: `out`, or what shows them page by page."""

    def __init__(
        self,
        database: Path,
        form: Format,
        out: IO[str],
        screen: Callable[[], AbstractContextManager[Out]] | None = None,
        *,
        schema: str = "main",
        width: Callable[[], int] | None = None,
    ) -> None:
        """`width` gives that of the screen, in characters; None where it is none."""
        self._database = database
        self._form: Format = form
        self._out = out
        self._screen = screen or (lambda: nullcontext(out))
        self._width = width
        self._names = schema
        self._timed = False
        self.failed = False
        """Did a statement fail? A script's exit code says so."""

    def run(self, read: Callable[[str], str]) -> None:
        """Read lines with `read(prompt)` until `.quit` or the end of the input (`EOFError`)."""
        for text in self._statements(read):
            if text in (".quit", ".exit"):
                return
            try:
                self.execute(text)
            except QueryError as error:
                self.failed = True
                lines = "\n".join(map(marks, error.text.split("\n")))
                self._out.write(f"error: {lines}\n")
            except KeyboardInterrupt:
                self.failed = True
                self._out.write("interrupted\n")

    def execute(self, text: str) -> None:
        """One statement or dot command. `QueryError` when it fails."""
        word, _, rest = text.partition(" ")
        word, argument = word.rstrip(";"), rest.strip().rstrip(";")
        if not word.startswith("."):
            self._print(text)
        elif word == ".help":
            self._out.write(HELP)
        elif word == ".tables":
            self._print(TABLES, "table")
        elif word == ".schema":
            self._schema(argument)
        elif word == ".mode":
            self._mode(argument)
        elif word == ".timer":
            self._timer(argument)
        elif word == ".rank":
            self._rank(argument)
        else:
            raise QueryError(f"no such command: {word}; .help lists them")

    def _schema(self, name: str) -> None:
        if not name:
            self._print(ALL_COLUMNS, "table")
            return
        quoted = "'" + name.partition("(")[0].replace("'", "''") + "'"
        for query in (COLUMNS, MACRO):
            if any(self._ask(query.format(name=quoted)).rows):
                self._print(query.format(name=quoted), "table")
                return
        raise QueryError(f"no table, view or macro is called {name}; .tables lists them")

    def _mode(self, form: str) -> None:
        for known in get_args(Format):
            if form == known:
                self._form = known
        if form and form != self._form:
            raise QueryError(
                f"no such mode: {form}; there are {', '.join(FORMATS)}; .help lists all commands"
            )
        self._out.write(f"mode {self._form}\n")

    def _timer(self, word: str) -> None:
        if word not in ("", "on", "off"):
            raise QueryError("the timer is on or off; .help lists all commands")
        self._timed = self._timed if not word else word == "on"
        self._out.write(f"timer {'on' if self._timed else 'off'}\n")

    def _rank(self, number: str) -> None:
        schema = f"rank{number}" if number else "main"
        if number and not (number.isdecimal() and any(self._ask(SCHEMA.format(name=schema)).rows)):
            raise QueryError(f"there is no rank {number}; .help lists all commands")
        self._names = schema
        self._out.write(f"rank {number or 'all'}\n")

    def _ask(self, sql: str) -> Answer:
        return ask(self._database, sql, schema=self._names)

    def _print(self, sql: str, form: Format | None = None) -> None:
        answer = self._ask(sql)
        with self._screen() as screen:
            write_answer(answer, form or self._form, screen, self._width() if self._width else None)
        # Whoever leaves the pager early doesn't wait for the rest.
        answer.rows.close()  # type: ignore[attr-defined]
        if self._timed and answer.ending.seconds is not None:
            self._out.write(f"{answer.ending.seconds:.3f} s\n")

    def _statements(self, read: Callable[[str], str]) -> Iterator[str]:
        """Whole statements: a dot command is its line, SQL goes on until a semicolon."""
        text = ""
        while True:
            try:
                line = read(MORE if text else PROMPT)
            except EOFError:
                if text:
                    yield text
                return
            except KeyboardInterrupt:
                self._out.write("\n")
                text = ""
                continue
            if not text and line.strip().startswith("."):
                yield line.strip()
                continue
            if not text and (word := line.strip().rstrip(";").rstrip().lower()) in WORDS:
                yield f".{word}"
                continue
            whole, text = split(f"{text}\n{line}" if text else line)
            yield from whole
