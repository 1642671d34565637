"""Editing of the lines of a prompt: those typed before, and names that are completed with Tab.

With GNU readline, or libedit in its place; without either, plain lines.
"""

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

LINES = 1000
"""Lines of earlier prompts that are kept."""
WORDS = (
    "SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "LIMIT", "JOIN", "LEFT JOIN", "USING", "HAVING",
    "QUALIFY", "WITH", "UNION ALL", "DISTINCT", "FILTER", "EXPLAIN", "coalesce", "unnest",
)  # fmt: skip


Columns = Mapping[str, Sequence[str]]
"""Names of columns by the table, view or macro that has them."""

# What a statement reads from, and the name that it gives it.
_SOURCE = re.compile(r"(?:\b(?:FROM|JOIN)|,)\s+(\w+)(?:\s*\([^()]*\))?(?:\s+AS)?(?:\s+(\w+))?", re.IGNORECASE)


class Completer:
    """Completes the name that stands before the cursor, whatever its case; behind a dot, columns alone."""

    def __init__(self, names: Iterable[str], columns: Columns, line: Callable[[], str] | None = None) -> None:
        """`line` gives what was typed so far of the line."""
        self._columns = columns
        every = {name for found in columns.values() for name in found}
        self._every = sorted(every, key=str.lower)
        self._names = sorted({*names, *columns, *every, *WORDS}, key=str.lower)
        self._line = line or (lambda: "")

    def candidates(self, begun: str) -> list[str]:
        """All that `begun` may become, each with what stands before its last dot."""
        before, dot, word = begun.rpartition(".")
        # A command of the prompt begins with a dot.
        names = self._of(before) if before else self._names
        head, word = (f"{before}{dot}", word) if before else ("", begun)
        return [head + name for name in names if name.lower().startswith(word.lower())]

    def complete(self, begun: str, state: int) -> str | None:
        """Candidate number `state`, as readline asks for it."""
        found = self.candidates(begun)
        return found[state] if state < len(found) else None

    def _of(self, name: str) -> Sequence[str]:
        """The columns of what has this name in the line; where it doesn't say, those of everything."""
        called = {name.lower(): name}
        for source, alias in _SOURCE.findall(self._line()):
            called[(alias or source).lower()] = source
        columns = self._columns.get(called[name.lower()].lower())
        return self._every if columns is None else sorted(columns, key=str.lower)


@contextmanager
def line_editing(history: Path, names: Iterable[str], columns: Columns) -> Iterator[Callable[[str], str]]:
    """A function that reads a line behind a prompt; the lines typed are kept in `history`."""
    try:
        import readline
    except ImportError:
        yield input
        return
    readline.set_completer(Completer(names, columns, readline.get_line_buffer).complete)
    readline.set_completer_delims(" \t\n()[]{},;=<>!+-*/%|'\"")
    libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if libedit else "tab: complete")
    try:
        readline.read_history_file(history)
    except OSError:
        # No earlier prompt, or none that can be read: start with none.
        readline.clear_history()
    try:
        yield input
    finally:
        readline.set_completer(None)
        try:
            history.parent.mkdir(parents=True, exist_ok=True)
            readline.set_history_length(LINES)
            readline.write_history_file(history)
        except OSError as error:
            print(f"the lines typed were not kept: {error}", file=sys.stderr)
