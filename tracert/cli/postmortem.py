"""`tracert postmortem DUMP`."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

FINDINGS = 3
"""Exit code of `--fail-on-finding` when there is one."""


class Form(StrEnum):
    """How the report is written."""

    TEXT = "text"
    JSON = "json"


def postmortem(
    dump: Annotated[
        str,
        typer.Argument(
            metavar="DUMP", help="dump.jsonl, dump.jsonl.zst, a ring file, a directory of them, or -."
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
    from tracert_analysis.load import open_dump
    from tracert_analysis.report import as_json, as_text
    from tracert_analysis.report.build import build

    report = build(open_dump(dump), page)
    text = as_json.render(report) if form is Form.JSON else as_text.render(report, show_sql)
    if output is None:
        sys.stdout.write(text)
    else:
        output.write_text(text, encoding="utf-8")
    if fail_on_finding and report.findings:
        raise typer.Exit(FINDINGS)
