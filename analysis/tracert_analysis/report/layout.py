"""Lays a report out for people: every section in the order of need, every text cleaned.

The answer first, how it was obtained last; sections of which there is nothing to tell are left out.
"""

from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from tracert_analysis.marks import marks
from tracert_analysis.report.clean import TEXT_MAX, clean, middle_out
from tracert_analysis.report.document import Document, Drawing, Facts, Listing, Section, Table
from tracert_analysis.report.report import Report
from tracert_analysis.report.sections.access import access, host
from tracert_analysis.report.sections.acquitted import acquitted
from tracert_analysis.report.sections.content import content
from tracert_analysis.report.sections.evidence import evidence, queries, reproduce
from tracert_analysis.report.sections.guards import guards
from tracert_analysis.report.sections.others import novelties, others
from tracert_analysis.report.sections.page import page
from tracert_analysis.report.sections.progress import lanes, streams
from tracert_analysis.report.sections.ranks import ranks
from tracert_analysis.report.sections.row import row
from tracert_analysis.report.sections.verdict import verdict
from tracert_analysis.report.sections.workspace import workspace

AnyT = TypeVar("AnyT")


def lay_out(report: Report) -> Document:
    """The whole report, its queries included. A page that was asked for stands right behind the verdict."""
    pages = [page(story, report) for story in report.pages]
    asked = [section for section, story in zip(pages, report.pages, strict=True) if story.asked]
    sections = (
        verdict(report),
        ranks(report),
        *asked,
        access(report),
        host(report),
        guards(report),
        *(row(story, report) for story in report.rows),
        *(section for section in pages if section not in asked),
        content(report),
        workspace(report),
        acquitted(report),
        streams(report),
        lanes(report),
        novelties(report),
        others(report),
        evidence(report),
        reproduce(report),
        queries(report),
    )
    document = Document(report.title, report.sentence, tuple(filter(None, map(told, sections))))
    return cleaned(document)


def told(section: Section) -> Section | None:
    """The section without empty blocks; None when there is nothing in it."""
    blocks = tuple(block for block in section.blocks if not _empty(block))
    return replace(section, blocks=blocks) if blocks else None


def _empty(block: Facts | Table | Drawing | Listing) -> bool:
    if isinstance(block, Drawing):
        return not block.lines
    return not block.rows if isinstance(block, Facts | Table) else False


def cleaned(value: AnyT) -> AnyT:
    """The value with every text in it fit to be shown; the lines of SQL stay lines."""
    return _cleaned(value)  # type: ignore[no-any-return]


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Listing):
        code = "\n".join(marks(middle_out(line, TEXT_MAX)) for line in value.code.split("\n"))
        return Listing(value.number, clean(value.about), code)
    if isinstance(value, tuple):
        return tuple(map(_cleaned, value))
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{field.name: _cleaned(getattr(value, field.name)) for field in fields(value)})
    return value
