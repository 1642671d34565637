"""`tracert explain CODE`."""

import sys
from typing import Annotated

import typer


def explain(
    code: Annotated[
        str, typer.Argument(metavar="CODE", help="A finding's code or name: TR102, unordered-publish.")
    ],
) -> None:
    """Say what a finding means, how to confirm it, how to fix it."""
    from tracert_analysis.explain import UnknownCode
    from tracert_analysis.explain import explain as find

    from tracert.cli.errors import WrongUsage

    try:
        text = find(code).text
    except UnknownCode as error:
        raise WrongUsage(str(error)) from error
    if not sys.stdout.isatty():
        print(text, end="")
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console(width=min(100, Console().width)).print(Markdown(text))
