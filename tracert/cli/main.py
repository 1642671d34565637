"""The command `tracert`: finds the subcommand, imports only its module, and turns errors into one line.

A subcommand is one module of this folder with a function of the command's name, whose docstring is
the help; or, for a command with subcommands, a `typer.Typer` of that name. Importing such a module
must stay cheap: what a command works with, it imports when it runs. Reader commands never import torch.
"""

import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated

import typer

from tracert.cli.errors import USAGE, explain_failure, is_usage

COMMANDS = (
    "serve",
    "generate",
    "demo",
    "scenario",
    "postmortem",
    "sql",
    "recover",
    "explain",
)


READERS = ("postmortem", "sql")
"""What these lay down in the folder for temporary files, they take away, however they are ended."""


def main() -> None:
    """The console script: runs the command line and exits."""
    if sys.argv[1:2] and sys.argv[1] in READERS:
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.default_int_handler)
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run a command line; returns its exit code. Prints one line on standard error when it fails."""
    try:
        code = build(arguments)(
            args=list(arguments) or ["--help"], prog_name="tracert", standalone_mode=False
        )
        sys.stdout.flush()
        return int(code or 0)
    except (BrokenPipeError, SystemExit) as error:
        # The argument parser exits with 1 when a command meets a broken pipe.
        if isinstance(error, SystemExit) and not isinstance(error.__context__, BrokenPipeError):
            raise
        # The reader of our output went away (`| head`): what is still buffered has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (Exception, KeyboardInterrupt) as error:
        if os.environ.get("TRACERT_TRACEBACK"):
            raise
        if is_usage(error) and type(error).__name__ == "NoArgsIsHelpError":
            print(error.format_message(), file=sys.stderr)  # type: ignore[union-attr]
            return USAGE
        line, code = explain_failure(error)
        print(f"tracert: {line}", file=sys.stderr)
        return code


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import PackageNotFoundError, version

        try:
            print(f"tracert {version('tracert')}")
        except PackageNotFoundError:
            print("tracert, not installed")
        raise typer.Exit


def build(arguments: Sequence[str]) -> typer.Typer:
    """The application with the one command that `arguments` start with, or with all of them for the help."""
    first = next((argument for argument in arguments if not argument.startswith("-")), None)
    names = [first] if first in COMMANDS else COMMANDS
    application = typer.Typer(add_completion=False, rich_markup_mode=None)
    application.callback(help=__import__("tracert").__doc__)(_options)
    for name in names:
        part = getattr(import_module(f"tracert.cli.{name}"), name)
        if isinstance(part, typer.Typer):
            application.add_typer(part, name=name)
        else:
            application.command(name)(part)
    return application


def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """What stands before the command."""
