"""What a report rests on: which dump, how much of its history is there, and what was left unanswered."""

from importlib.metadata import PackageNotFoundError, version
from typing import Any

from tracert_analysis.load import Dump
from tracert_analysis.report.phrases import counted
from tracert_analysis.report.questions import Questions
from tracert_analysis.report.report import Evidence


def is_whole(questions: Questions) -> bool:
    """Is nothing missing before the last event?"""
    return bool(questions.rows("SELECT complete AND NOT holes AS whole FROM _window")[0]["whole"])


def evidence(
    dump: Dump, whole: bool, counts: dict[str, int], query: int, cut: int, unanswered: list[str]
) -> Evidence:
    """How far the history goes, and what is missing from it or from the report.

    `counts` is what was looked at, which question `query` gave; `cut`: findings that the report leaves out.
    """
    found = dump.evidence
    unknown = list(found.unknown)
    if found.bad_lines:
        lines = f"{counted(found.bad_lines, 'lines')} of the dump {'is' if found.bad_lines == 1 else 'are'}"
        unknown.append(f"{lines} no event: what they told is missing")
    if found.damaged:
        unknown.append("the dump's checksum is not that of its lines: some of it was changed or damaged")
    unknown += [f"not answered: {question}" for question in unanswered]
    if cut:
        unknown.append(f"{cut:,} findings are left out of this report; the view finding has all")
    return Evidence(
        events=found.events,
        lost=found.lost,
        torn=found.torn,
        truncated=found.truncated,
        first_seq=found.first_seq,
        last_seq=found.last_seq,
        unknown=tuple(unknown),
        whole=whole,
        checked=counts,
        query=query,
        cut=cut,
    )


def about(dump: Dump) -> dict[str, Any]:
    """Of the header, what says which dump this is. Not the planted fault: the reader is never told."""
    names = ("reason", "written_ns", "model", "device", "tool")
    return {"name": dump.name, **{name: dump.header[name] for name in names if name in dump.header}}


def tool() -> dict[str, Any]:
    """The reader, and its version where it is installed."""
    try:
        return {"name": "tracert", "version": version("tracert")}
    except PackageNotFoundError:
        return {"name": "tracert", "version": None}
