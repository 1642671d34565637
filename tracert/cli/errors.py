"""What the command line says when something goes wrong: one line, and an exit code.

Exit codes: 1 the command failed, 2 wrong usage. Reports with findings are successes and never come
here. Knows no exception class of the other folders by name, so that it need not import them.
"""

import os
import sys

FAILED = 1
USAGE = 2
INTERRUPTED = 130

STOPPED = "Query interrupted"
"""What the database makes of an interrupt that comes while it works."""

OURS = ("tracert.", "tracert_analysis.", "tracert_kernels.")


PARSER = (
    ("Value error, ", ""),
    ("Input should be a valid integer, unable to parse string as an integer", "it must be a whole number"),
    ("Input should be a valid number, unable to parse string as a number", "it must be a number"),
    ("Input should be a finite number", "it must be a finite number"),
    ("Input should be ", "it must be "),
)
"""How the argument parser says it, and how it is said here."""


class CommandError(Exception):
    """A command cannot go on: the message says what is wrong and what to do."""


class WrongUsage(Exception):
    """The command line means nothing: a value that does not exist, options that exclude each other."""


def explain_failure(error: BaseException) -> tuple[str, int]:
    """The line to print on standard error for `error`, without line breaks, and the exit code.

    An exception class of ours carries its message for the user. Everything else is a bug of
    tracert, and the line says so; `TRACERT_TRACEBACK=1` shows where (see `main`).
    """
    if isinstance(error, WrongUsage):
        return one_line(error), USAGE
    if is_usage(error):
        return f"{plainly(one_line(error.format_message()).rstrip('.'))}{see_help(error)}", USAGE  # type: ignore[attr-defined]
    if isinstance(error, KeyboardInterrupt) or (type(error), str(error)) == (RuntimeError, STOPPED):
        return "interrupted", INTERRUPTED
    if type(error).__module__.startswith(OURS):
        return one_line(error), FAILED
    if isinstance(error, OSError):
        return operating_system(error), FAILED
    if isinstance(error, MemoryError):
        said = f": {one_line(error)}" if str(error) else ""
        return f"out of memory{said}; close other programs, ask for less, or read a shorter dump", FAILED
    if isinstance(error, ModuleNotFoundError) and error.name and not error.name.startswith("tracert"):
        return (
            f"the package {error.name} is not installed: this command needs more than the reader: "
            "pip install '.[serve]' in tracert's folder"
        ), FAILED
    return (
        f"unexpected {type(error).__name__}: {one_line(error)}: a bug of tracert; "
        "TRACERT_TRACEBACK=1 shows where"
    ), FAILED


def plainly(message: str) -> str:
    """The argument parser's message in words of the command line."""
    for words, plain in PARSER:
        message = message.replace(words, plain)
    return message


def say(text: str) -> None:
    """A line on standard error beside what a command gives: nothing is wrong, and somebody should know."""
    print(f"tracert: {one_line(text)}", file=sys.stderr)


def is_usage(error: BaseException) -> bool:
    """Is it the argument parser's complaint? (The class is typer's own or click's, by typer's version.)"""
    return hasattr(error, "format_message") and getattr(error, "exit_code", None) == USAGE


def see_help(error: BaseException) -> str:
    """Where to look, when the parser knows which command it was reading."""
    context = getattr(error, "ctx", None)
    return f"; see {context.command_path} --help" if context is not None else ""


def operating_system(error: OSError) -> str:
    """`PATH: reason`, as other programs say it."""
    reason = error.strerror or one_line(error)
    return f"{os.fspath(error.filename)}: {reason}" if error.filename is not None else reason


def one_line(text: object) -> str:
    """The text with every run of white space as one space, and nothing that a terminal would obey."""
    words = " ".join(str(text).split())
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in words)
