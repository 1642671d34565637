"""`--page N`: owner, writer and fence of any page, in every format, and a clear line when it never occurs."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tracert_analysis.load import Dump
from tracert_analysis.report import as_html, as_json, as_markdown, as_text
from tracert_analysis.report.build import NoSuchPage, build
from tracert_analysis.report.report import Report

from tests.analysis.history import History
from tests.analysis.report.histories import COMPUTE, arrive, begun, leave, sound, turn, unordered_publish
from tests.some import a_few


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Dump:
    """The verdict is about row 3, page 8 and page 5; page 7 is request 11's, page 30 nobody's."""
    history = unordered_publish()
    history.states.append(
        {
            "kind": "page_state",
            "page": 7,
            "life": 1,
            "state": "held",
            "holder": "request:11",
            "writer": 7,
            "writer_stream": 1,
            "writer_seq": 31,
            "writer_life": 1,
            "alloc_seq": 20,
        }
    )
    return history.read(tmp_path_factory.mktemp("dump"))


@pytest.fixture(scope="module")
def asked(dump: Dump) -> Report:
    """Of page 7."""
    return build(dump, 7)


def test_a_page_that_the_verdict_does_not_name(asked: Report) -> None:
    """Owner, writer by positions, lives, fence; it stands before the pages of the verdict."""
    page = asked.pages[0]
    assert (7, True, True) == (page.page, page.asked, page.occurs)
    assert page.last_owner is not None
    assert ("request:11", 1) == (page.last_owner.holder, page.last_owner.life)
    assert [(0, 2, "kv", 11), (2, 4, "zero", None)] == [
        (run.first, run.end, run.content, run.request) for run in page.runs
    ]
    assert [("write", "forward", "compute", 1), ("read", "forward", "compute", 1)] == [
        (found.mode, found.kernel, found.stream_name, found.times)
        for found in page.touched
        if found.life == 1
    ]
    assert [8, 5] == [other.page for other in asked.pages[1:]] or [5, 8] == [
        other.page for other in asked.pages[1:]
    ]


def test_its_neighbours_and_who_holds_them(asked: Report) -> None:
    """Three pages on either side, as of the end."""
    near = {found.page: (found.life, found.state, found.holders) for found in asked.pages[0].neighbours}
    assert {
        4: (None, "never granted", ()),
        5: (2, "held", ("request:11",)),
        6: (2, "held", ("request:12",)),
        7: (1, "held", ("request:11",)),
        8: (1, "held", ("request:12",)),
        9: (None, "never granted", ()),
        10: (None, "never granted", ()),
    } == near


def test_what_is_not_there_is_said(asked: Report, dump: Dump) -> None:
    """No other holder, no other life, no other stream; each with a query that shows it."""
    negatives = {item.text: item.query for item in asked.pages[0].not_found}
    assert {
        "no other holder of page 7.1 in the recorded window",
        "nobody had page 7 in another life in the recorded window",
        "no write of page 7.1 on another stream than compute",
    } == set(negatives)
    queries = {query.id: query.sql for query in asked.queries}
    for number in negatives.values():
        assert len(dump.connection.execute(queries[number]).fetchall()) >= 1


def test_what_the_runtime_kept_of_it_is_told(asked: Report) -> None:
    """Beside what the events say."""
    kept = asked.pages[0].last_facts
    assert kept is not None
    assert ("request:11", 7, 1) == (kept.holder, kept.writer, kept.writer_life)
    told = " ".join(as_text.render(asked).split())
    assert "held, taken last by request:11 (cmpl-11); written last by launch 7" in told


@pytest.mark.parametrize(
    ("render", "start", "owner"),
    [
        (as_text.render, "PAGE 7\n", "  last owner     request:11 (cmpl-11)"),
        (as_markdown.render, "### PAGE 7\n", "| **last owner** | request:11 (cmpl-11)"),
        (as_html.render, '<section id="page-7">', "<dt>last owner</dt><dd"),
        (as_json.render, '"page": 7,', '"holder": "request:11"'),
    ],
)
def test_every_format_tells_it_right_behind_the_verdict(
    asked: Report, render: Callable[[Report], str], start: str, owner: str
) -> None:
    """Before the row of the verdict, where a format has an order."""
    text = "".join(
        line.strip() + "\n" if render is as_html.render else line for line in render(asked).splitlines(True)
    )
    before, behind = text.split(start, 1)
    assert owner in behind
    assert "ROW 3" not in before.replace("#row-3", "").replace(">ROW 3</a>", "")


def test_a_page_that_never_occurs_gets_a_clear_line(dump: Dump) -> None:
    """The clear of the arena is told, nothing is made up."""
    made = build(dump, 30)
    page = made.pages[0]
    assert (None, None, False) == (page.life, page.last_owner, page.occurs)
    told = " ".join(as_text.render(made).split())
    assert (
        "page 30 never occurs in the recorded window: nobody held it, no launch named it; what cleared"
        in told
    )


def test_a_window_that_starts_late_leaves_what_the_runtime_kept(tmp_path: Path) -> None:
    """The grant and the write are lost; the last facts of the page are not, and its state is unknown."""
    history = History(first_seq=1000)
    history.forward(COMPUTE)
    kept = {"page": 5, "life": 4, "state": "free", "holder": "request:9"}
    history.states.append({"kind": "page_state", **kept})
    made = build(history.read(tmp_path), 5)
    page = made.pages[0]
    assert page.last_facts is not None
    assert ("request:9", 4, False) == (page.last_facts.holder, page.last_facts.life, page.occurs)
    assert {"unknown"} == {near.state for near in page.neighbours}
    assert "kept facts     life 4, free, taken last by request:9; never written" in as_text.render(made)


def test_a_page_that_changed_hands_names_whom_it_was_before(tmp_path: Path) -> None:
    """Free, who held it last; the writer of the life before; its fence."""
    history = begun()
    pages = arrive(history, 10, [5, 6])
    turn(history, 10, 3, 1, pages)
    leave(history, 10, 3, 1, pages)
    made = build(history.read(tmp_path), 5)
    page = made.pages[0]
    here = next(near for near in page.neighbours if near.page == 5)
    assert ("free", ("request:10",)) == (here.state, here.holders)
    assert page.last_writer is not None
    assert "forward" == page.last_writer.act.kernel
    assert page.last_fence is None
    told = "last fence     none behind that write, which a stream waited for or the host saw pass"
    assert told in as_text.render(made)


def test_the_same_report_without_a_page_has_no_asked_one(tmp_path: Path) -> None:
    """A sound history without a question has no page at all."""
    assert () == build(sound().read(tmp_path)).pages


@pytest.mark.parametrize("config", a_few(1, [{}, {"page_size": "x", "kv_pages": "y"}]))
def test_a_dump_that_does_not_say_how_large_its_pages_are(tmp_path: Path, config: dict[str, str]) -> None:
    """Stories without positions, in every format, and nothing that went unanswered."""
    history = unordered_publish()
    history.header["config"] = config
    dump = history.read(tmp_path)
    for number in (5, 2**32 - 1):
        made = build(dump, number)
        assert (number, None) == (made.pages[0].page, made.pages[0].extent)
        assert () == made.evidence.unknown
        for render in (as_text.render, as_markdown.render, as_html.render, as_json.render):
            assert "TR102" in render(made)
    with pytest.raises(NoSuchPage, match="there is no page 4294967296"):
        build(dump, 2**32)
