"""SQL that a user typed, run where it can do no harm: in a process of its own on a read-only database.

The database's own limits are no sandbox (a scalar function can take 14 GB under a limit of 256 MB and ignore
an interrupt), so the process has limits of the operating system, and its answer is cut off where it grows
past all use. One process a statement: processor time is counted over a process's life. It has a session of
its own, so that a terminal's Ctrl-C reaches this process alone, which then ends it. Knows nothing of dumps.
"""

import errno
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

PROCESS = Path(__file__).with_name("query_process.py")
ROW_BYTES = 64 << 20
"""A row that is longer as JSON is no row for anybody."""
FILE_FULL = os.strerror(errno.EFBIG)


PLACE = re.compile(r"\n+LINE (\d+): [^\n]*\n *\^+")
"""Where the database shows the place in the statement, over two lines."""


class QueryError(Exception):
    """The statement was refused, failed, or ran into a limit; the message says which."""

    def __init__(self, text: str) -> None:
        self.text = text
        """The message with the place in the statement; as a string the error is without: one line."""
        super().__init__(PLACE.sub(lambda found: f" (line {found[1]})" if found[1] != "1" else "", text))


@dataclass(frozen=True, slots=True)
class Limits:
    """What one statement may use."""

    memory_bytes: int = 3 << 30
    cpu_seconds: int = 30
    threads: int = 2
    answer_bytes: int = 1 << 30
    """Of the rows as JSON, or of the Parquet file."""


@dataclass(slots=True)
class Ending:
    """What is known once the rows have been read to the end."""

    rows: int = 0
    seconds: float | None = None
    """How long the statement took, without the start of its process; None before the end."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Columns at once, rows as they come. Reading the rows to the end can raise `QueryError`."""

    columns: list[str]
    types: list[str]
    rows: Iterator[list[Any]]
    ending: Ending = field(default_factory=Ending)


def ask(database: Path, sql: str, limits: Limits | None = None, *, schema: str = "main") -> Answer:
    """Run one SELECT or EXPLAIN statement on the database file. `QueryError` when it may not or cannot."""
    ending = Ending()
    lines = _lines(_asked(database, sql, limits or Limits(), schema), limits or Limits(), ending, None)
    head = next(lines)
    return Answer(head["columns"], head["types"], lines, ending)


def save_parquet(
    database: Path, sql: str, target: Path, limits: Limits | None = None, *, schema: str = "main"
) -> int:
    """Write the rows of one SELECT statement to a Parquet file, and give their number.

    `QueryError` when the statement may not or cannot run; there is no file then, or the one from before.
    """
    ending = Ending()
    partial = target.with_name(f"{target.name}.partial")
    asked = _asked(database, sql, limits or Limits(), schema)
    try:
        with partial.open("wb") as file:
            for _ in _lines(asked, limits or Limits(), ending, file):
                pass
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    return ending.rows


def _asked(database: Path, sql: str, limits: Limits, schema: str) -> dict[str, Any]:
    if not schema.isidentifier():
        raise QueryError(f"no schema is called {schema}")
    return {
        "database": str(database),
        "schema": schema,
        "sql": sql,
        "memory_bytes": limits.memory_bytes,
        "cpu_seconds": limits.cpu_seconds,
        "threads": limits.threads,
        "file_bytes": 0,
        "parquet": None,
    }


def _lines(asked: dict[str, Any], limits: Limits, ending: Ending, parquet: IO[bytes] | None) -> Iterator[Any]:
    """The head, then each row. Ends the process when the reader stops before the end."""
    descriptors = [] if parquet is None else [parquet.fileno()]
    if descriptors:
        asked = {**asked, "file_bytes": limits.answer_bytes, "parquet": descriptors[0]}
    # A file, not a pipe, takes the process's complaints: nobody has to read it while rows stream.
    with tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(
            # -P: a file of the current directory must not stand in for a module.
            [sys.executable, "-P", str(PROCESS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
            env={"PATH": os.defpath, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            pass_fds=descriptors,
            start_new_session=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            _send(process.stdin, json.dumps(asked).encode())
            for value in _values(process.stdout, limits):
                if isinstance(value, dict) and "error" in value:
                    raise QueryError(_too_long(limits) if FILE_FULL in value["error"] else value["error"])
                if isinstance(value, dict) and "rows" in value:
                    ending.rows, ending.seconds = value["rows"], value["seconds"]
                    return
                yield value
            process.wait()
            complaints.seek(0)
            raise QueryError(_stopped(process.returncode, complaints.read().decode(errors="replace"), limits))
        finally:
            process.stdout.close()
            process.kill()
            process.wait()


def _values(stream: IO[bytes], limits: Limits) -> Iterator[Any]:
    """The lines that the process writes, as long as they are of any use."""
    left = limits.answer_bytes
    while line := stream.readline(ROW_BYTES):
        left -= len(line)
        if left < 0:
            raise QueryError(_too_long(limits))
        if not line.endswith(b"\n"):
            if len(line) < ROW_BYTES:
                # It was ended while it wrote.
                return
            raise QueryError(f"a row of more than {ROW_BYTES >> 20} MiB: select less of it")
        yield json.loads(line)


def _send(stream: IO[bytes], text: bytes) -> None:
    """Hand over the statement; a process that is dead already says so by its exit status."""
    try:
        stream.write(text)
        stream.close()
    except BrokenPipeError:
        return


def _too_long(limits: Limits) -> str:
    return f"stopped after {limits.answer_bytes >> 20} MiB of answer: narrow the query, or add a LIMIT"


def _stopped(status: int, complaint: str, limits: Limits) -> str:
    """Why there is no end to the answer, from the exit status of the process."""
    if status in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"stopped after {limits.cpu_seconds} s of processor time: narrow the query, or add a LIMIT"
    if status < 0 or "MemoryError" in complaint or "bad_alloc" in complaint:
        return f"stopped at {limits.memory_bytes >> 20} MiB of memory: narrow the query, or add a LIMIT"
    lines = complaint.strip().splitlines()
    return f"the query's process failed: {lines[-1] if lines else f'exit status {status}'}"
