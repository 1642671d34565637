"""Long text screen by screen, in a program such as `less`; what fits on the screen just stands there."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

_LESS = {
    "LESS": "FXSPsarrow keys: more, also to the right; h: help, q: leave$".replace(":", "\\:"),
    "LESSSECURE": "1",
}
"""Leave at once what fits on the screen, leave it there, don't wrap wide tables, say how to see the rest."""


def pager_command() -> list[str] | None:
    """The user's `PAGER`, else `less` where it is installed; None when there is none, or none is wanted."""
    wanted = os.environ.get("PAGER")
    if wanted is None:
        return ["less"] if shutil.which("less") else None
    words = shlex.split(wanted)
    return words if words and shutil.which(words[0]) else None


class Screen:
    """Keeps text back until it is known whether it fits on the screen: what doesn't goes to the program."""

    def __init__(self, command: list[str], out: IO[str], size: os.terminal_size) -> None:
        self._command = command
        self._out = out
        self._size = size
        self._kept: list[str] = []
        self._rows = 0
        self._process: subprocess.Popen[str] | None = None

    def write(self, text: str) -> None:
        """Take more of it. BrokenPipeError when the user has left the program."""
        if self._process is None:
            self._kept.append(text)
            # A line that is wider than the screen takes several of its rows; the last one is the prompt's.
            self._rows += sum(-(-len(line) // self._size.columns) or 1 for line in text.splitlines())
            if self._rows < self._size.lines:
                return
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, encoding="utf-8", env=_LESS | os.environ
            )
            text = "".join(self._kept)
        assert self._process.stdin is not None
        self._process.stdin.write(text)

    def close(self) -> None:
        """Print what fits, or wait until the user has left the program."""
        if self._process is None:
            self._out.write("".join(self._kept))
            return
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        while self._process.poll() is None:
            # Ctrl-C is for the program that has the screen.
            with suppress(KeyboardInterrupt):
                self._process.wait()


@contextmanager
def paged(
    command: list[str], out: IO[str] | None = None, size: os.terminal_size | None = None
) -> Iterator[Screen]:
    """What takes text for the screen: `out`, of this `size`; or standard output, as large as it is now.

    The block ends when the user has left the program, if it was needed. Writing on after the user left
    raises BrokenPipeError, which ends the block and goes no further.
    """
    screen = Screen(command, out or sys.stdout, size or shutil.get_terminal_size())
    try:
        with suppress(BrokenPipeError):
            yield screen
    finally:
        screen.close()
