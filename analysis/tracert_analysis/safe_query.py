"""SQL that a user typed, run where it can do no harm: in a process of its own on a read-only database.

The database's own limits are no sandbox (a scalar function can take 14 GB under a limit of 256 MB and ignore
an interrupt), so the process has limits of the operating system. One process a statement: processor time is
counted over a process's life. Knows nothing of dumps.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROCESS = Path(__file__).with_name("query_process.py")


class QueryError(Exception):
    """The statement was refused, failed, or ran into a limit; the message says which."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one statement may use."""

    memory_bytes: int = 3 << 30
    cpu_seconds: int = 30
    threads: int = 2


@dataclass(frozen=True, slots=True)
class Answer:
    """Columns at once, rows as they come. Reading the rows to the end can raise `QueryError`."""

    columns: list[str]
    types: list[str]
    rows: Iterator[list[Any]]


def ask(database: Path, sql: str, limits: Limits | None = None) -> Answer:
    """Run one SELECT or EXPLAIN statement on the database file. `QueryError` when it may not or cannot."""
    limits = limits or Limits()
    lines = _lines(database, sql, limits)
    head = next(lines)
    return Answer(head["columns"], head["types"], lines)


def _lines(database: Path, sql: str, limits: Limits) -> Iterator[Any]:
    """The head, then each row. Ends the process when the reader stops before the end."""
    command = [
        sys.executable,
        "-P",  # a file of the current directory must not stand in for a module
        str(PROCESS),
        str(database),
        str(limits.memory_bytes),
        str(limits.cpu_seconds),
        str(limits.threads),
    ]
    # A file, not a pipe, takes the process's complaints: nobody has to read it while rows stream.
    with tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
            env={"PATH": os.defpath, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            encoding="utf-8",
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            _send(process, sql)
            for line in process.stdout:
                value = json.loads(line)
                if isinstance(value, dict) and "error" in value:
                    raise QueryError(value["error"])
                if isinstance(value, dict) and "rows" in value:
                    return
                yield value
            process.wait()
            complaints.seek(0)
            raise QueryError(_stopped(process.returncode, complaints.read().decode(errors="replace"), limits))
        finally:
            process.stdout.close()
            process.kill()
            process.wait()


def _send(process: subprocess.Popen[str], sql: str) -> None:
    """Hand over the statement; a process that is dead already says so by its exit status."""
    assert process.stdin is not None
    try:
        process.stdin.write(sql)
        process.stdin.close()
    except BrokenPipeError:
        return


def _stopped(status: int, complaint: str, limits: Limits) -> str:
    """Why there is no end to the answer, from the exit status of the process."""
    if status in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"stopped after {limits.cpu_seconds} s of processor time: narrow the query, or add a LIMIT"
    if status < 0 or "MemoryError" in complaint or "bad_alloc" in complaint:
        return f"stopped at {limits.memory_bytes >> 20} MiB of memory: narrow the query, or add a LIMIT"
    lines = complaint.strip().splitlines()
    return f"the query's process failed: {lines[-1] if lines else f'exit status {status}'}"
