"""The report as Markdown that pastes into an issue on GitHub: tables, fenced drawings, parts that unfold.

Text of the dump stays text: what Markdown or HTML would obey is escaped, and what GitHub would make a link of
or call somebody with (`@name`, `#12`, addresses) is broken by a character that nobody sees. An issue takes
65,536 characters: what does not fit is left out, the least important first, and the report says so.
"""

import html
import re
from collections.abc import Iterator
from itertools import groupby

from tracert_analysis.report.clean import middle_out
from tracert_analysis.report.document import Block, Document, Drawing, Fact, Facts, Listing, Section, Table
from tracert_analysis.report.layout import lay_out
from tracert_analysis.report.report import Report

MOST = 65_000
"""Characters of a report: a little less than an issue takes."""

SHORTER = (3000, 400, 100)
"""Characters of one text, for as long as the report does not fit."""

DISPENSABLE = ("queries", "new", "lanes", "others", "streams", "acquitted", "evidence", "reproduce")
"""Sections that are left out first, in this order; then the last of the others."""

UNSEEN = "&#8203;"
"""A space without a width."""

_SIGNS = re.compile(
    r"(?P<obeyed>[\\`*_\[\]|~$])|(?P<entity>[&<>])"
    r"|(?P<calls>@|\#(?=\d)|://|:(?=[\w+-]+:)|\bwww\.|\bGH-(?=\d))",
    re.IGNORECASE,
)
_CODE = re.compile(r"(?<![`\\])`([\w .,:;=()'\"*+-]+)`(?!`)")
"""Code that Markdown, HTML and GitHub take for nothing else; other text between backticks stays text."""
_BEGINS = re.compile(r"^(\d*)([#+\-=.)])")


def render(report: Report) -> str:
    """The whole report, or as much of it as an issue takes."""
    document = lay_out(report)
    text = ""
    for most in SHORTER:
        text = _fitting(document, most)
        if len(text) <= MOST:
            break
    return text


def _fitting(document: Document, most: int) -> str:
    """The document with as many sections as fit; more than fits only where nothing more can be left out."""
    head = f"## {escaped(document.title, most)}\n\n{escaped(document.sentence, most)}\n"
    parts = {section.key: _section(section, most) for section in document.sections}
    titles = {section.key: section.title for section in document.sections}
    left: list[str] = []
    behind = [key for key in reversed(parts) if key not in (*DISPENSABLE, "verdict")]
    for key in [key for key in (*DISPENSABLE, *behind) if key in parts]:
        if len(head) + sum(map(len, parts.values())) <= MOST - 1000:
            break
        del parts[key]
        left.append(escaped(titles[key].split(" (")[0], 100))
    told = (
        f"\nLeft out, for an issue takes no more: {', '.join(left)}. `tracert postmortem` has all of it.\n"
        if left
        else ""
    )
    return head + "".join(parts.values()) + told


def _section(section: Section, most: int) -> str:
    title = escaped(section.title, most)
    body = "".join(f"\n{text}\n" for block in section.blocks for text in _block(block, most))
    if not title:
        return body
    if section.folded:
        return f"\n<details><summary><b>{title}</b></summary>\n{body}\n</details>\n"
    return f"\n### {title}\n{body}"


def _block(block: Block, most: int) -> Iterator[str]:
    if isinstance(block, Facts):
        if any(fact.label for fact in block.rows):
            yield "| | |\n|---|---|\n" + "\n".join(_rows(block, most))
        else:
            yield "\n".join(f"- {_fact(fact, most)}" for fact in block.rows)
    elif isinstance(block, Table):
        lines = [block.head, tuple("--:" for _ in block.head), *block.rows]
        yield "\n".join(f"| {' | '.join(_cells(cells, most))} |" for cells in lines)
    elif isinstance(block, Drawing):
        yield fenced([middle_out(line, most) for line in block.lines])
        if block.signs:
            yield escaped(block.signs, most)
    else:
        yield f"**[{block.number}]** {escaped(block.about, most)}"
        yield fenced(_code(block, most), "sql")


def _rows(block: Facts, most: int) -> Iterator[str]:
    """A row a label: what goes on from the line before stands in the same cell."""
    numbers: list[int] = []
    for number, fact in enumerate(block.rows):
        numbers.append(number if fact.label or not numbers else numbers[-1])
    for _, group in groupby(zip(numbers, block.rows, strict=True), key=lambda item: item[0]):
        facts = [fact for _, fact in group]
        label = f"**{escaped(facts[0].label, most)}**" if facts[0].label else ""
        yield f"| {label} | {'<br>'.join(_fact(fact, most) for fact in facts)} |"


def _fact(fact: Fact, most: int) -> str:
    cited = "".join(f" \\[{number}\\]" for number in fact.queries if number)
    return f"{coded(fact.text, most)}{cited}"


def coded(text: str, most: int) -> str:
    """The text as `escaped` has it, but what is surely code between backticks as code."""
    parts = _CODE.split(middle_out(text, most))
    told = "".join(
        f"`{part}`" if number % 2 else _SIGNS.sub(_harmless, part) for number, part in enumerate(parts)
    )
    return _BEGINS.sub(r"\1\\\2", told)


def _cells(cells: tuple[str, ...], most: int) -> Iterator[str]:
    return (cell if set(cell) == set("-:") else escaped(cell, most) for cell in cells)


def _code(listing: Listing, most: int) -> list[str]:
    return [middle_out(line, most) for line in listing.code.splitlines()]


def fenced(lines: list[str], language: str = "text") -> str:
    """The lines as they are, between fences longer than any run of backticks among them."""
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([f"{fence}{language}", *lines, fence])


def escaped(text: str, most: int) -> str:
    """The text, of about so many characters at most, as text and nothing else."""
    return _BEGINS.sub(r"\1\\\2", _SIGNS.sub(_harmless, middle_out(text, most)))


def _harmless(found: re.Match[str]) -> str:
    sign = found[0]
    if found["obeyed"]:
        return f"\\{sign}"
    if found["entity"]:
        return html.escape(sign)
    return f"{sign[:-1]}{UNSEEN}{sign[-1]}" if sign[0].isalpha() else f"{sign[0]}{UNSEEN}{sign[1:]}"
