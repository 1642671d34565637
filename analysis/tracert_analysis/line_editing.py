"""Editing of the lines of a prompt: those typed before, and names that are completed with Tab.

With GNU readline, or libedit in its place; without either, plain lines.
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

LINES = 1000
"""Lines of earlier prompts that are kept."""
WORDS = (
    "SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "LIMIT", "JOIN", "LEFT JOIN", "USING", "HAVING",
    "QUALIFY", "WITH", "UNION ALL", "DISTINCT", "FILTER", "EXPLAIN", "coalesce", "unnest",
)  # fmt: skip


class Completer:
    """Completes the name that stands before the cursor, whatever its case; behind a dot, columns too."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = sorted({*names, *WORDS}, key=str.lower)

    def candidates(self, begun: str) -> list[str]:
        """All that `begun` may become, each with what stands before its last dot."""
        before, dot, word = begun.rpartition(".")
        if not before:
            # A command of the prompt begins with a dot.
            before, word = "", begun
        head = f"{before}{dot}" if before else ""
        return [head + name for name in self._names if name.lower().startswith(word.lower())]

    def complete(self, begun: str, state: int) -> str | None:
        """Candidate number `state`, as readline asks for it."""
        found = self.candidates(begun)
        return found[state] if state < len(found) else None


@contextmanager
def line_editing(history: Path, names: Iterable[str]) -> Iterator[Callable[[str], str]]:
    """A function that reads a line behind a prompt; the lines typed are kept in `history`."""
    try:
        import readline
    except ImportError:
        yield input
        return
    readline.set_completer(Completer(names).complete)
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
