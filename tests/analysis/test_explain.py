"""The pages behind the codes."""

import re
from pathlib import Path

import pytest
from tracert_analysis import library
from tracert_analysis.explain import UnknownCode, explain, pages
from tracert_analysis.reference import rules

CODES = tuple(sorted(library.FINDINGS + library.RANK_FINDINGS))


def test_every_finding_has_a_page() -> None:
    """The pages are those of the findings that this reader has, in order."""
    assert tuple(pages()) == CODES


@pytest.mark.parametrize("code", CODES)
def test_a_page_has_its_parts(code: str) -> None:
    """Meaning, a public case with its reference, one query, fixes and masks, in this order."""
    page = pages()[code]
    headings = re.findall(r"^## (.+)$", page.text, re.MULTILINE)
    expected = ["What it means", "A real one", "Confirm it", "Fixes that work", "Fixes that only mask"]
    beside = ["What makes it harder to break", "What shows it sooner"]
    assert expected == [heading for heading in headings if heading not in beside]
    assert headings[4:-1] == [heading for heading in beside if heading in headings]
    assert re.search(r"[\w.-]+/[\w.-]+(?: ?(?:PR )?#|, error )\d+", page.text)
    assert page.query().startswith("SELECT")
    assert page.fixes()
    assert len(page.masks()) >= 2
    assert page.how() in (
        "One is enough",
        "The one that fits the case",
        "Needed, whatever else is done",
    )
    assert (page.how() == "Needed, whatever else is done") == (len(page.fixes()) == 1)
    told = [*page.fixes(), *page.masks(), *page.hardening(), *page.detection()]
    assert len(told) == len(set(told))


@pytest.mark.parametrize("code", CODES)
def test_lines_fit_a_terminal(code: str) -> None:
    """No line is wider than 120 columns."""
    assert max(map(len, pages()[code].text.splitlines())) <= 120


@pytest.mark.parametrize("word", ["TR102", "tr102", "unordered-publish", " Unordered-Publish "])
def test_a_page_is_found_by_code_or_name(word: str) -> None:
    """Case and blanks do not matter."""
    assert explain(word).code == "TR102"


def test_an_unknown_code_lists_the_known_ones() -> None:
    """One line, with every code."""
    with pytest.raises(UnknownCode, match=r"TR101 unordered-access.*TR902 non-finite") as caught:
        explain("TR999")
    assert len(str(caught.value).splitlines()) == 1


def test_the_rule_is_the_one_of_the_findings_table() -> None:
    """The second paragraph of a page is its rule, as the query's first line has it."""
    expected = {rule.code: rule.sentence for rule in rules()}
    assert expected == {page.code: page.rule for page in pages().values()}


def test_the_index_in_docs_lists_exactly_the_pages() -> None:
    """docs/findings has one line a page, with the rule and a link that leads to the file."""
    index = Path(__file__).parents[2] / "docs" / "findings" / "README.md"
    lines = re.findall(r"^\| \[(TR\d+)\]\((.+?)\) \| ([a-z-]+) \| (.+) \|$", index.read_text(), re.MULTILINE)
    expected = [(page.code, page.name, page.rule) for page in pages().values()]
    assert expected == [(code, name, rule) for code, _, name, rule in lines]
    for code, link, _, _ in lines:
        assert (index.parent / link).read_text() == pages()[code].text
