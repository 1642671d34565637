"""A program that shows long text screen by screen, such as `less`."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

# Leave at once what fits on the screen, leave it there, and don't wrap wide tables.
_LESS = {"LESS": "FXS", "LESSSECURE": "1"}


def pager_command() -> list[str] | None:
    """The user's `PAGER`, else `less` where it is installed; None when there is none, or none is wanted."""
    wanted = os.environ.get("PAGER")
    if wanted is None:
        return ["less"] if shutil.which("less") else None
    words = shlex.split(wanted)
    return words if words and shutil.which(words[0]) else None


@contextmanager
def paged(command: list[str]) -> Iterator[IO[str]]:
    """A file whose lines the program shows; the block ends when the user has left it.

    Writing on after the user left raises BrokenPipeError, which ends the block and goes no further.
    """
    process = subprocess.Popen(command, stdin=subprocess.PIPE, encoding="utf-8", env=_LESS | os.environ)
    assert process.stdin is not None
    try:
        with suppress(BrokenPipeError):
            yield process.stdin
    finally:
        with suppress(BrokenPipeError):
            process.stdin.close()
        while process.poll() is None:
            # Ctrl-C is for the program that has the screen.
            with suppress(KeyboardInterrupt):
                process.wait()
