"""What lies around the act in question: launches and fences, pages, and the positions that it is about."""

from pathlib import Path

import pytest
from tracert_analysis.report.build import build
from tracert_analysis.report.report import Report

from tests.analysis.findings.test_tr301 import reused, stored
from tests.analysis.history import History, use
from tests.analysis.report.histories import (
    COMPUTE,
    LEGACY,
    TRANSFER,
    arrive,
    begun,
    leaked_page,
    turn,
    unordered_access,
    unordered_publish,
)


@pytest.fixture(scope="module")
def publish(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """The row of launch 7 is published by launch 6 on the legacy stream."""
    return build(unordered_publish().read(tmp_path_factory.mktemp("publish")))


@pytest.fixture(scope="module")
def access(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """A copy on the transfer stream reads what a forward on the compute stream has written."""
    return build(unordered_access().read(tmp_path_factory.mktemp("access")))


def test_the_two_acts_and_what_lies_around_them(publish: Report) -> None:
    """In the order of events; streams by number; the edge that lacks between them."""
    around = publish.surroundings
    assert around is not None
    assert around.missing == publish.verdict.missing_edge
    seqs = [act.seq for act in around.launches]
    assert seqs == sorted(set(seqs))
    shown = {(act.stream, act.kernel) for act in around.launches}
    assert {(LEGACY, "copy_row"), (COMPUTE, "forward")} <= shown
    assert [0, 1] == [stream for stream, _ in around.streams][:2]
    # Who left in the row what is followed too early is drawn, on whatever stream it was.
    left = publish.rows[0].previous_writer
    assert left is not None
    assert left.act in around.launches
    assert left.act.stream == TRANSFER


def test_a_fence_between_shown_launches_is_shown(tmp_path: Path) -> None:
    """Publishes on the transfer stream before: each with the fence that compute waited for."""
    history = begun()
    pages = arrive(history, 10, [5, 6])
    turn(history, 10, 3, 1, pages)
    turn(history, 11, 4, 1, [*pages[:1], *arrive(history, 11, [7])], step=2)
    around = build(history.read(tmp_path)).surroundings
    assert around is not None
    numbers = {(act.stream, act.ordinal) for act in around.launches}
    assert around.fences
    assert {(fence.stream, fence.ordinal) for fence in around.fences} <= numbers
    assert {COMPUTE} == {fence.wait_stream for fence in around.fences if fence.stream == TRANSFER}


def test_a_long_history_shows_a_few_launches(tmp_path: Path) -> None:
    """The act and what is nearest to it; never more than a drawing holds."""
    history = begun()
    pages = arrive(history, 10, [5, 6])
    turn(history, 10, 3, 1, pages)
    for step in range(2, 40):
        history.forward(COMPUTE, use(3, 1, 5, 6), step=step)
    history.sync(COMPUTE)
    history.give_back(pages, "request:10")
    last = history.forward(COMPUTE, use(3, 1, 6, 7), step=40)
    around = build(history.read(tmp_path)).surroundings
    assert around is not None
    assert last.launch == around.launches[-1].launch
    assert 3 <= len(around.launches) <= 12


def test_without_an_act_nothing_is_drawn(tmp_path: Path) -> None:
    """A page that is left is no launch's mistake."""
    assert build(leaked_page().read(tmp_path)).surroundings is None


def test_the_positions_are_those_that_both_acts_touch(access: Report) -> None:
    """The forward writes six positions, four of them of this page; the copy reads these."""
    (page,) = [story for story in access.pages if story.page == 5]
    assert page.extent is not None
    assert (0, 4) == (page.extent.first, page.extent.end)
    assert access.access is not None
    assert access.access.other is not None
    reader, writer = access.access.act.launch, access.access.other.launch
    assert f"launch {reader} reads, launch {writer} writes" == page.extent.what


def test_the_positions_are_the_stale_ones(tmp_path: Path) -> None:
    """A snapshot's rows behind the two positions of the request."""
    history = History()
    history.clear(COMPUTE)
    history.sync()
    history.alloc([0], "reserved:0")
    stored(history)
    reused(history)
    (page,) = build(history.read(tmp_path)).pages
    assert page.extent is not None
    assert (2, 4, "state rows of life 1, stale") == (page.extent.first, page.extent.end, page.extent.what)
    assert [False, True] == [run.stale for run in page.runs]


def test_neighbours_are_told_as_of_the_act(publish: Report) -> None:
    """Page 5 is request 11's by then; request 10, which had it, is gone."""
    for story in publish.pages:
        here = next(near for near in story.neighbours if near.page == story.page)
        assert (story.life, "held") == (here.life, here.state)
        assert story.last_owner is not None
        assert story.last_owner.holder in here.holders
        pages = [near.page for near in story.neighbours]
        assert pages == list(range(pages[0], pages[-1] + 1))


def test_why_a_repetition_is_shown_is_told(publish: Report) -> None:
    """Not where the verdict is the only one."""
    assert publish.access is not None
    assert publish.access.why is None


def test_a_launch_that_reads_more_than_it_writes_is_not_said_to_write_it(tmp_path: Path) -> None:
    """It loads all of page 5 and stores its last position; the first two nobody computed."""
    history = begun()
    pages = arrive(history, 10, [5])
    history.acquire(3, 1, 10)
    history.publish(COMPUTE, 3, 1, pages)
    launch = history.forward(COMPUTE, use(3, 1, 3, 4, covers="page")).launch
    made = build(history.read(tmp_path))
    assert made.verdict.code == "TR302"
    (page,) = made.pages
    assert page.extent is not None
    told = (page.extent.first, page.extent.end, page.extent.what)
    assert told == (0, 4, f"launch {launch} touches")
