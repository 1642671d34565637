"""The prompt of `tracert sql`: reads statements and dot commands, prints answers.

A statement ends with a semicolon and may span lines. Statements run in `safe_query`'s process; one that fails
prints its error, and the prompt goes on.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from tracert_analysis.answers import Format, write_answer
from tracert_analysis.safe_query import QueryError, ask

PROMPT = "tracert> "
MORE = "    ...> "

HELP = """\
SELECT ... ;       any query; `;` ends it
.tables            tables, views and macros, with what they are
.schema NAME       columns of a table or view; parameters and text of a macro
.help              this
.quit              leave (so does end of input)
"""

# What follows from the loaded tables is a view to its reader, however it is kept.
TABLES = """\
SELECT name, kind, comment FROM (
    SELECT table_name AS name, comment,
        CASE WHEN table_name IN ('header', 'event', 'stream_state', 'page_state', 'lane_state')
            THEN 'table' ELSE 'view' END AS kind
    FROM duckdb_tables() WHERE NOT internal
    UNION ALL
    SELECT view_name, comment, 'view' FROM duckdb_views() WHERE NOT internal
    UNION ALL
    SELECT function_name || '(' || array_to_string(parameters, ', ') || ')', comment, 'macro'
    FROM duckdb_functions() WHERE function_type IN ('macro', 'table_macro') AND NOT internal
)
WHERE name NOT LIKE '\\_%' ESCAPE '\\'
ORDER BY CASE kind WHEN 'table' THEN 1 WHEN 'view' THEN 2 ELSE 3 END, name"""

COLUMNS = """\
SELECT column_name AS "column", data_type AS type, comment FROM duckdb_columns()
WHERE NOT internal AND table_name = {name} ORDER BY column_index"""

MACRO = """\
SELECT function_name || '(' || array_to_string(parameters, ', ') || ')' AS macro, comment,
    macro_definition AS definition
FROM duckdb_functions() WHERE NOT internal AND function_name = {name}"""


class Shell:
    """One prompt on one database file."""

    def __init__(self, database: Path, form: Format, out: TextIO) -> None:
        self._database = database
        self._form = form
        self._out = out
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
                self._out.write(f"error: {error}\n")

    def execute(self, text: str) -> None:
        """One statement or dot command. `QueryError` when it fails."""
        word, _, rest = text.partition(" ")
        name = rest.strip().rstrip(";")
        if word == ".help":
            self._out.write(HELP)
        elif word == ".tables":
            self._print(TABLES)
        elif word == ".schema" and name:
            self._schema(name)
        elif word.startswith("."):
            raise QueryError(f"no such command: {text}; .help lists them")
        else:
            self._print(text)

    def _schema(self, name: str) -> None:
        quoted = "'" + name.removesuffix("()").replace("'", "''") + "'"
        for query in (COLUMNS, MACRO):
            if any(ask(self._database, query.format(name=quoted)).rows):
                self._print(query.format(name=quoted))
                return
        raise QueryError(f"no table, view or macro is called {name}; .tables lists them")

    def _print(self, sql: str) -> None:
        write_answer(ask(self._database, sql), self._form, self._out)

    def _statements(self, read: Callable[[str], str]) -> Iterator[str]:
        """Whole statements: a dot command is its line, SQL goes on until a semicolon ends a line."""
        text = ""
        while True:
            try:
                line = read(MORE if text else PROMPT)
            except EOFError:
                if text.strip():
                    yield text.strip()
                return
            except KeyboardInterrupt:
                self._out.write("\n")
                text = ""
                continue
            text = f"{text}\n{line}" if text else line
            stripped = text.strip()
            if stripped.endswith(";") or stripped.startswith("."):
                yield stripped
                text = ""
            elif not stripped:
                text = ""


@contextmanager
def history(path: Path) -> Iterator[None]:
    """Line editing with the lines of earlier prompts, kept in `path`; without readline, plain lines."""
    try:
        import readline
    except ImportError:
        yield
        return
    try:
        readline.read_history_file(path)
    except OSError:
        # No earlier prompt, or none that can be read: start with none.
        readline.clear_history()
    try:
        yield
    finally:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            readline.set_history_length(1000)
            readline.write_history_file(path)
        except OSError as error:
            print(f"the lines typed were not kept: {error}", file=sys.stderr)
