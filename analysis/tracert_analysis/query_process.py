"""The process that runs one SQL statement of a user: run as a script, imports nothing of ours.

Takes the database's path, and limits on memory (bytes), processor time (seconds) and threads as arguments,
the statement on standard input. Answers on standard output, one JSON value a line: the head
`{"columns": [...], "types": [...]}`, each row as an array, and last `{"rows": N}` or `{"error": "..."}`.
Without a last line it was stopped by a limit. Reads no file but the database, writes none, and opens no
connection.
"""

import json
import resource
import sys
from typing import Any

import duckdb

BATCH = 1000
HARMLESS = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)

LOCKS = (
    "SET temp_directory = ''",
    "SET allow_community_extensions = false",
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    "SET python_enable_replacements = false",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)


class Refused(Exception):
    """The statement is none that may run here."""


def main(database: str, memory_bytes: int, cpu_seconds: int, threads: int) -> None:
    """Open the database read-only behind every lock there is, run the statement, print the answer."""
    confine(memory_bytes, cpu_seconds)
    sql = sys.stdin.read()
    try:
        connection = duckdb.connect(database, read_only=True)
        connection.execute(f"SET threads = {threads}")
        # Ordinary joins and sorts then end with a clear message, before the process's own limit ends them.
        connection.execute(f"SET memory_limit = '{memory_bytes // 2 // 2**20}MiB'")
        for lock in LOCKS:
            connection.execute(lock)
        answer(connection, sql)
    except (duckdb.Error, Refused, MemoryError, RecursionError) as error:
        emit({"error": str(error) or type(error).__name__})
    sys.stdout.flush()


def confine(memory_bytes: int, cpu_seconds: int) -> None:
    """Give up, for good, what a statement could misuse: not every function heeds the database's limits."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1))
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))


def answer(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    """Run the statement, if it is exactly one query, and print head, rows and end."""
    statements = connection.extract_statements(sql)
    if len(statements) != 1:
        raise Refused(f"one statement at a time: this text has {len(statements)}")
    if statements[0].type not in HARMLESS:
        raise Refused(f"only SELECT and EXPLAIN run here: this is a {statements[0].type.name} statement")
    result = connection.execute(statements[0])
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
    emit({"rows": count})


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
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
