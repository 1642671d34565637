"""What decides, of three dumps that come with the documentation: the report says it, nobody has to ask."""

from pathlib import Path

from tracert_analysis.load import open_dump
from tracert_analysis.report.as_text import render
from tracert_analysis.report.build import build
from tracert_analysis.report.sections.life_line import marked

DUMPS = Path(__file__).parents[3] / "docs" / "dumps"


def text(name: str, page: int | None = None) -> str:
    """The report on one line."""
    return " ".join(render(build(open_dump(str(DUMPS / f"{name}.jsonl.zst")), page)).split())


def test_scratch_that_was_kept() -> None:
    """It is told of the launch that kept it, and which of its blocks."""
    told = text("no-room")
    assert (
        "65536 bytes at 174720 (kept); of 3 other launches of its kernel with as many blocks, 3 gave" in told
    )
    new = told.split("WHAT WAS NEW ABOUT LAUNCH 9, WHICH KEPT THE BLOCK")[1].split("EVIDENCE")[0]
    assert "0 of 2 pages that its request found cached: 1" in new
    assert "FROM what_was_new(9)" in new


def test_a_page_freed_too_early() -> None:
    """How its life ended, who read a copy of what raced; all of its lives are drawn."""
    told = text("unfenced-release")
    assert "lives of pages that ended: 61, of which none was retired behind a fence" in told
    assert (
        "requests 5 (again-1), 6 (again-2) read a copy of what may have been written while it was copied"
        in told
    )
    assert "page 9.1 was freed at seq 377, without being retired behind a fence" in told
    assert (
        "none needed from launch 4 to launch 38: both are on compute; the one that is missing is behind"
        in told
    )
    assert "seq 27; then launch 38, the act in question" in told
    for life, owner in (("9.3", "request:5 (again-1)"), ("9.4", "request:7 (again-3)")):
        assert f"| {owner}" in told.split(f"{life} |")[1].split("9.", 1)[0]


def test_a_publish_on_the_wrong_stream() -> None:
    """What all that lack order have in common; a page that the act does not touch has no mark."""
    report = build(open_dump(str(DUMPS / "unordered-publish.jsonl.zst")), page=0)
    told = " ".join(render(report).split())
    assert (
        "in common all 7 publishes without order are the first of their row's generation; none of the 14 "
        "others is" in told.split("ACCESS THAT")[0]
    )
    assert (
        "copy_row on transfer is ordered before the launches that follow what it publishes, 9 of 9 times"
        in told
    )
    asked = next(story for story in report.pages if story.page == 0)
    assert marked(asked, report.moment) is None
    assert "!" not in told.split("PAGE 0 ")[1].split("ACCESS THAT")[0].split("page 1.1")[0]
