"""The process that runs one SQL statement of a user: run as a script, imports nothing of ours.

Takes a JSON object on standard input: the `database`'s path, the `schema` that names are looked up in, the
`sql`, and limits: `memory_bytes`, `cpu_seconds`, `threads`, `file_bytes`. With `parquet`, a descriptor that
it was given, the rows go there. Answers on standard output, one JSON value a line: the head
`{"columns": [...], "types": [...]}`, each row as an array, and last `{"rows": N, "seconds": S}` or
`{"error": "..."}`; without a last line it was stopped by a limit. Reads no file but the database, writes none
but the one that it was given, and opens no connection.
"""

import json
import re
import resource
import sys
import time
from typing import Any

import duckdb

BATCH = 1000
HARMLESS = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)

LOCKS = (
    "SET allow_community_extensions = false",
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    "SET python_enable_replacements = false",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)


MISSING = re.compile(r'with name "?(\w+)"? does not exist')
PLACE = re.compile(r"\n+LINE \d+: .*", re.DOTALL)
TABLES = re.compile(r"\s*SHOW\s+(ALL\s+)?TABLES\b", re.IGNORECASE)
ADVICE = re.compile(r", or SET \w+ *=.*?(?=\n|$)|\nDid you mean \"_[^\n]*")
"""What it advises and nobody can do here: settings are locked, and what begins with _ is private."""

NAMED = """
SELECT schema_name, function_type, array_to_string(parameters, ', ') FROM duckdb_functions()
WHERE function_name = ? AND NOT internal AND function_type IN ('macro', 'table_macro') ORDER BY 1"""

ELSEWHERE = """
SELECT count(*) FROM duckdb_functions()
WHERE function_name = $name AND NOT internal AND schema_name <> $schema
UNION ALL SELECT count(*) FROM duckdb_tables() WHERE table_name = $name AND schema_name <> $schema
UNION ALL SELECT count(*) FROM duckdb_views() WHERE view_name = $name AND schema_name <> $schema"""


class Refused(Exception):
    """The statement is none that may run here."""


def main(asked: dict[str, Any]) -> None:
    """Give up what could be misused, run the statement, print the answer."""
    confine(asked["memory_bytes"], asked["cpu_seconds"], asked["file_bytes"])
    connection = None
    try:
        parquet = asked["parquet"]
        connection = locked(
            asked["database"], asked["memory_bytes"], asked["threads"], parquet, asked["schema"]
        )
        if parquet is None:
            answer(connection, asked["sql"])
        else:
            save(connection, asked["sql"], parquet)
    except (duckdb.Error, Refused, MemoryError, RecursionError) as error:
        emit({"error": explained(connection, str(error) or type(error).__name__, asked["schema"])})
    sys.stdout.flush()


def confine(memory_bytes: int, cpu_seconds: int, file_bytes: int) -> None:
    """Give up, for good, what a statement could misuse: not every function heeds the database's limits."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1))
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))


def locked(
    database: str, memory_bytes: int, threads: int, parquet: int | None = None, schema: str = "main"
) -> duckdb.DuckDBPyConnection:
    """The database, read-only, behind every lock there is; but for the one file that it was given, if any."""
    connection = duckdb.connect(database, read_only=True)
    connection.execute(f"SET threads = {threads}")
    # Ordinary joins and sorts then end with a clear message, before the process's own limit ends them.
    connection.execute(f"SET memory_limit = '{memory_bytes // 2 // 2**20}MiB'")
    connection.execute("SET temp_directory = ''")
    connection.execute(f"SET schema = '{schema}'")
    if parquet is not None:
        # The name of a descriptor: a file's own name would be taken for a pattern.
        connection.execute(f"SET allowed_paths = ['/dev/fd/{parquet}']")
    for lock in LOCKS:
        connection.execute(lock)
    return connection


def answer(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    """Run the statement, if it is exactly one query, and print head, rows and end."""
    started = time.monotonic()
    result = connection.execute(only(connection, sql))
    emit(
        {
            "columns": [column[0] for column in result.description],
            "types": [str(column[1]) for column in result.description],
        }
    )
    count = 0
    while rows := result.fetchmany(BATCH):
        count += len(rows)
        for row in rows:
            emit([plain(value) for value in row])
    emit({"rows": count, "seconds": time.monotonic() - started})


def save(connection: duckdb.DuckDBPyConnection, sql: str, parquet: int) -> None:
    """Write the rows of the statement, if it is exactly one SELECT, as Parquet to the descriptor."""
    started = time.monotonic()
    statement = only(connection, sql)
    if statement.type != duckdb.StatementType.SELECT:
        raise Refused("only what SELECT gives can be written as Parquet")
    # One whole statement cannot end the bracket that it is put in; but it may have a semicolon at its end.
    text = statement.query.encode()
    ends = [place for place, _ in duckdb.tokenize(statement.query) if text[place : place + 1] == b";"]
    query = text[: ends[0] if ends else None].decode()
    copied = connection.execute(
        f"COPY (\n{query}\n) TO '/dev/fd/{parquet}' (FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false)"
    )
    emit({"columns": [], "types": []})
    emit({"rows": copied.fetchall()[0][0], "seconds": time.monotonic() - started})


def explained(connection: duckdb.DuckDBPyConnection | None, message: str, schema: str) -> str:
    """The database's message without what it can't know to be of no use here; of a macro, how it is asked."""
    text = ADVICE.sub("", message.expandtabs(4))
    missing = MISSING.search(text)
    if missing is None or connection is None:
        return text
    name = missing[1]
    try:
        macros = connection.execute(NAMED, [name]).fetchall()
        there = connection.execute(ELSEWHERE, {"name": name, "schema": schema}).fetchall()
    except duckdb.Error:
        return text
    place = PLACE.search(text)
    behind = place[0] if place else ""
    for of, kind, parameters in macros:
        if of == schema:
            call = f"{name}({parameters})"
            how = f"rows: FROM {call}" if kind == "table_macro" else f"a value: SELECT {call}"
            return f"{name} is a macro, which gives {how}{behind}"
    if schema == "main" and (macros or name.startswith("_")) and any(count for (count,) in there):
        said = "macros answer" if name.startswith("_") else f"{name} is a macro, and macros answer"
        return f"{said} for one rank alone: --rank N, or .rank N at the prompt{behind}"
    return text


def only(connection: duckdb.DuckDBPyConnection, sql: str) -> Any:
    """The one statement of the text. `Refused` when there are others, or it is no query."""
    if TABLES.match(sql):
        raise Refused("SHOW TABLES would list what is private, too: .tables lists what there is")
    statements = connection.extract_statements(sql)
    if len(statements) != 1:
        raise Refused(f"one statement at a time: this text has {len(statements)}")
    if statements[0].type not in HARMLESS:
        raise Refused(f"only SELECT and EXPLAIN run here: this is a {statements[0].type.name} statement")
    return statements[0]


def plain(value: Any) -> Any:
    """A value that JSON has: bytes as hexadecimal digits, whatever else is unknown as its text."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return value.hex() if isinstance(value, bytes) else str(value)


def emit(value: Any) -> None:
    """One line of the answer."""
    sys.stdout.write(json.dumps(value) + "\n")


if __name__ == "__main__":
    main(json.load(sys.stdin))
