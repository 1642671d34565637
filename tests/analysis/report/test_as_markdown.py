"""The report as Markdown for an issue: laid out, whole, and harmless whatever the dump's texts are."""

import re
from dataclasses import replace

import pytest
from tracert_analysis.report.as_markdown import coded, escaped, fenced, render
from tracert_analysis.report.report import Acquittal, Query, Resource

from tests.analysis.report.example import CALL, report
from tests.analysis.report.hostile import HOSTILE, poisoned
from tests.analysis.report.strict_markdown import ISSUE_MAX, check, unfenced

TEXT = render(report())


def unescaped(text: str) -> str:
    """What a reader sees of a line: escapes and entities undone, the spaces without a width left in."""
    return re.sub(r"\\(.)", r"\1", text).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def test_it_begins_with_the_title_and_the_sentence() -> None:
    """A heading that can be searched for, and one paragraph."""
    lines = TEXT.splitlines()
    assert unescaped(lines[0]).startswith("## tracert: TR102 unordered-publish: row 3")
    assert lines[2].startswith("Launch 1841 used row 3")


def test_sections_stand_in_the_order_of_need() -> None:
    """As headings, or as parts that unfold."""
    titles = re.findall(r"^(?:### |<details><summary><b>)([A-Z0-9 ]+)", TEXT, re.MULTILINE)
    assert [title.strip() for title in titles] == [
        "ACCESS THAT BREAKS THE RULE",
        "ROW 3",
        "PAGE 17",
        "ACQUITTED",
        "LAUNCHES AT THE END",
        "LANES",
        "WHAT WAS NEW ABOUT THIS LAUNCH",
        "OTHER FINDINGS",
        "EVIDENCE",
        "REPRODUCE",
        "QUERIES",
    ]


def test_facts_are_a_table_with_their_queries() -> None:
    """The label, the text, the number of the query; what goes on stands in the same cell."""
    rows = [line for line in TEXT.splitlines() if line.startswith("| **missing call**")]
    (row,) = map(unescaped, rows)
    assert CALL in row
    (fixes,) = (line for line in TEXT.splitlines() if line.startswith("| **fix**"))
    assert "<br>" in fixes
    assert "[9]" in unescaped(TEXT)


def test_every_row_of_a_table_has_as_many_cells() -> None:
    """GitHub drops what does not fit, silently."""
    width = 0
    for line in unfenced(TEXT):
        cells = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0
        assert not (cells and width) or cells == width
        width = cells


def test_drawings_stand_between_fences() -> None:
    """The lives of the row, as in the text."""
    assert "\n```text\nseq  " in TEXT


def test_the_queries_unfold() -> None:
    """With their numbers and their SQL."""
    assert "**[1]** rules that the history breaks\n\n```sql\nSELECT * FROM finding\n```" in TEXT
    assert TEXT.count("<details>") == TEXT.count("</details>") == 3


def test_a_fence_is_longer_than_what_it_holds() -> None:
    """Backticks in a drawing do not end it."""
    assert "`````text\na ```` b\n`````" == fenced(["a ```` b"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("store_row", r"store\_row"),
        ("a|b", r"a\|b"),
        ("<b>&amp;", "&lt;b&gt;&amp;amp;"),
        ("@octocat", "@&#8203;octocat"),
        ("see #12 and gh-3", "see #&#8203;12 and gh&#8203;-3"),
        ("https://x www.x", "https:&#8203;//x www&#8203;.x"),
        ("# title", r"\# title"),
        ("1. first", r"1\. first"),
        ("- item", r"\- item"),
        ("`code`", r"\`code\`"),
        ("\\", "\\\\"),
        ("request:17", "request:17"),
    ],
)
def test_text_stays_text(text: str, expected: str) -> None:
    """What Markdown, HTML or GitHub would obey."""
    assert expected == escaped(text, 100)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("`wait(compute, fence)`, after", "`wait(compute, fence)`, after"),
        ("a `--stale-pages zero` b_c", r"a `--stale-pages zero` b\_c"),
        ("`a|b`", r"\`a\|b\`"),
        ("`@octocat`", r"\`@&#8203;octocat\`"),
        ("`<b>`", r"\`&lt;b&gt;\`"),
        ("``a``", r"\`\`a\`\`"),
        ("\\`a`", r"\\\`a\`"),
        ("`a` and `", r"`a` and \`"),
        ("- `a`", r"\- `a`"),
    ],
)
def test_code_is_code_where_it_can_be_nothing_else(text: str, expected: str) -> None:
    """What is between backticks of a report's own; anything that Markdown could obey stays text."""
    assert expected == coded(text, 100)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_stays_text_everywhere(name: str) -> None:
    """No tag but ours, nobody called, no link, no fence that ends early; and it fits an issue."""
    check(render(poisoned(HOSTILE[name])))


def test_what_does_not_fit_is_left_out_and_named() -> None:
    """The queries first; what answers the question stays."""
    queries = tuple(Query(number, "a query", f"SELECT 1 -- {'x' * 90}") for number in range(900))
    text = render(replace(report(), queries=queries))
    assert len(text) < ISSUE_MAX
    assert text.splitlines()[-1].startswith("Left out, for an issue takes no more: QUERIES. ")
    assert "### ROW 3" in text
    assert "### EVIDENCE" in text


def test_more_is_left_out_only_as_it_must() -> None:
    """What is acquitted goes after the queries and more, the access and the evidence stay."""
    many = tuple(Acquittal(Resource("page"), f"{number} {'right ' * 300}", 1, 1) for number in range(60))
    text = render(replace(report(), acquitted=many))
    assert len(text) < ISSUE_MAX
    assert text.splitlines()[-1].startswith("Left out, for an issue takes no more: QUERIES, WHAT WAS NEW")
    assert "ACQUITTED. " in text.splitlines()[-1]
    assert "### EVIDENCE" in text
    assert "### ACCESS THAT BREAKS THE RULE" in text
