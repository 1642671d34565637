"""`tracert postmortem DUMP`."""

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tracert.cli.errors import say

if TYPE_CHECKING:
    from tracert_analysis.report.report import Report

FINDINGS = 3
"""Exit code of `--fail-on-finding` when there is one."""


class Form(StrEnum):
    """How the report is written."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    HTML = "html"


def postmortem(
    dumps: Annotated[
        list[str],
        typer.Argument(
            metavar="DUMP...",
            help="dump.jsonl, dump.jsonl.zst, a ring file, a directory of them, or -; several: one a rank.",
        ),
    ],
    page: Annotated[
        int | None,
        typer.Option("--page", metavar="N", help="Tell owner, writer, fence and lives of this page."),
    ] = None,
    form: Annotated[Form, typer.Option("--format", help="How to write the report.")] = Form.TEXT,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write to a file, not to the terminal."),
    ] = None,
    show_sql: Annotated[
        bool, typer.Option("--show-sql", help="Print the query behind each line of the text.")
    ] = False,
    fail_on_finding: Annotated[
        bool, typer.Option("--fail-on-finding", help="Exit with 3 when a rule is broken.")
    ] = False,
) -> None:
    """Say what broke: which page or row, who had it, who wrote it, which fence is missing."""
    report = _report(dumps, page)
    if output is not None:
        _write(output, _rendered(report, form, show_sql))
    elif form is Form.TEXT and sys.stdout.isatty():
        from rich.console import Console
        from tracert_analysis.report.as_terminal import show

        show(report, Console(), show_sql)
    else:
        sys.stdout.write(_rendered(report, form, show_sql))
    if fail_on_finding and report.findings:
        raise typer.Exit(FINDINGS)


def _report(dumps: list[str], page: int | None) -> "Report":
    """The report of a dump; of several ranks, that of the one which broke a rule first.

    Of others the one that tells of an error; which is read is said on standard error, too.
    """
    from tracert_analysis.load import open_dump
    from tracert_analysis.ranks import NotRanks, chosen, one_of, open_ranks
    from tracert_analysis.report.build import build
    from tracert_analysis.report.ranks import among, build_ranks

    paths, remarks = chosen(dumps)
    try:
        report = build(open_dump(paths[0]), page) if len(paths) == 1 else build_ranks(open_ranks(paths), page)
    except NotRanks as error:
        path, said = one_of(error)
        remarks = (*remarks, said)
        report = build(open_dump(path), page)
    for line in remarks:
        say(line)
    return among(report, remarks)


def _rendered(report: "Report", form: Form, show_sql: bool) -> str:
    """The report in one of its forms; each imports only what it needs."""
    if form is Form.JSON:
        from tracert_analysis.report import as_json

        return as_json.render(report)
    if form is Form.MARKDOWN:
        from tracert_analysis.report import as_markdown

        return as_markdown.render(report)
    if form is Form.HTML:
        from tracert_analysis.report import as_html

        return as_html.render(report)
    from tracert_analysis.report import as_text

    return as_text.render(report, show_sql)


def _write(path: Path, text: str) -> None:
    """The whole file or none: it is written under another name and renamed, as a dump is.

    What is no file (a pipe, a device) is written to; where a link leads, the file is replaced, not the link.
    """
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    place = path.resolve()
    partial = place.with_name(f"{place.name}.partial")
    try:
        with partial.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(place)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from None
