"""A dump whose every text is hostile, from its file to each format of its report."""

import re

import pytest
from tracert_analysis.report import as_html, as_json, as_markdown, as_text
from tracert_analysis.report.build import build
from tracert_analysis.report.report import Report

from tests.analysis.report import strict_html, strict_markdown
from tests.analysis.report.histories import COMPUTE, LEGACY, unordered_publish
from tests.analysis.report.hostile import HOSTILE

ALL = " ".join(text for name, text in HOSTILE.items() if name != "surrogate" and not name.startswith("long"))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """An unordered publish: every name and message is hostile, one id is a megabyte long."""
    history = unordered_publish()
    history.names = {0: ALL, 1: f"compute {HOSTILE['script']}", 2: "x" * 1000}
    for event in history.events:
        if event["kind"] == "arrive":
            event["id"] = HOSTILE["long word"] if event["request"] == 10 else ALL
        elif "kernel" in event:
            event["kernel"] = f"{event['kernel']} {ALL}"
    history.progress[COMPUTE] = (4, 3)
    history.progress[LEGACY] = (0, 0)
    history.error(COMPUTE)
    texts = dict.fromkeys(("name", "message", "observed_at"), ALL)
    history.header["error"] |= texts | {"detail": {ALL: ALL, "long": HOSTILE["long text"]}}
    history.header["model"] = {"name": ALL}
    history.header["config"] |= {"command": f"tracert serve --model {ALL}", "schedule": ALL}
    return build(history.read(tmp_path_factory.mktemp("dump")), 5)


def test_the_verdict_is_the_same(made: Report) -> None:
    """No name changes what is wrong."""
    assert ("TR102", 12) == (made.verdict.code, made.access.request if made.access else None)


def test_text_is_text(made: Report) -> None:
    """Nothing that a terminal obeys, and no line that the dump broke."""
    text = as_text.render(made, show_sql=True)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", text)
    assert not [line for line in text.splitlines() if line.startswith(("# three", "- four"))]
    assert len(text) < 500_000


def test_markdown_is_text(made: Report) -> None:
    """As GitHub reads it; what is left out is said."""
    strict_markdown.check(as_markdown.render(made))


def test_html_is_text(made: Report) -> None:
    """As a browser reads it: the drawings, too."""
    page = strict_html.check(as_html.render(made))
    assert page.figures >= 4
    assert "<script>alert(1)</script>" in page.text


def test_json_is_whole(made: Report) -> None:
    """What people see shortened is there as it was; what acts stands as an escape."""
    text = as_json.render(made)
    assert HOSTILE["long word"] in text
    assert "\\u202e" in text
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", text)
