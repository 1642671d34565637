"""A history that has lost its front: nothing that its report says contradicts the report of the whole one.

What it can't know it must not deny: what lies before the history is told as such, or comes from the last
facts that the runtime kept.
"""

import re
from pathlib import Path
from typing import NamedTuple

import pytest
from tracert_analysis.load import Dump
from tracert_analysis.report.build import build
from tracert_analysis.report.document import Facts
from tracert_analysis.report.facts import Hold
from tracert_analysis.report.layout import lay_out
from tracert_analysis.report.report import Report

from tests.analysis.history import History
from tests.analysis.report.cut import front_cut_off
from tests.analysis.serving import Serving
from tests.some import a_few

PAGES = 16
DENIES = re.compile(r"\b(none|nobody|nothing|never|no|not|first)\b")
HEDGED = ("recorded window", "before the history", "kept facts", "at the end")
"""Where one of these stands, what is denied is the window's, or what was kept of the page."""
ABOUT_ITSELF = ("verdict", "evidence", "reproduce", "queries", "new")
"""Sections that speak of the dump, and not of pages, rows and launches."""
CODES = re.compile(r"\[\d+\]| \(r\d+\)")


class Forgetful(Serving):
    """Once, in step `late`, compute does not wait for what was published."""

    late = 0

    def order_publishes(self) -> None:
        if self.steps < self.late or self.forgot:
            super().order_publishes()
        self.forgot = self.forgot or self.steps >= self.late

    forgot = False


class Both(NamedTuple):
    """The whole history, and the one that begins with its third keyframe."""

    whole: Dump
    cut: Dump


def served(folder: Path, seed: int, late: int) -> Both:
    """A served history, whose publishes are all ordered before step `late`."""
    history = History(kv_pages=PAGES)
    serving = Forgetful(history, seed, rows=2, prompt=9, answer=6, keyframe_steps=7)
    serving.late = late
    serving.start()
    for _ in range(36):
        serving.step()
    cut = front_cut_off(history, 3)
    # Keyframes lie in the whole history, too, and change nothing there.
    whole = history.read(folder)
    folder = folder / "cut"
    folder.mkdir()
    return Both(whole, cut.read(folder))


@pytest.fixture(scope="module", params=a_few(1, range(12)))
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Both:
    """One seed in the fast suite."""
    return served(tmp_path_factory.mktemp("both"), request.param, late=99)


@pytest.mark.parametrize("page", a_few(5, range(PAGES)))
def test_owner_writer_and_fence_of_a_page(both: Both, page: int) -> None:
    """What the cut history tells, the whole one tells, too."""
    whole, cut = build(both.whole, page), build(both.cut, page)
    full, short = whole.pages[0], cut.pages[0]
    begins = cut.evidence.first_seq or 0
    same_hold(full.last_owner, short.last_owner, begins)
    same_hold(full.previous_owner, short.previous_owner, begins)
    assert not set(short.also_held_by) - set(full.also_held_by)
    if short.last_writer is not None:
        assert short.last_writer == full.last_writer
        assert short.kept_writer is None
    elif short.kept_writer is not None:
        assert full.last_writer is not None
        assert (short.kept_writer.launch, short.kept_writer.seq) == (
            full.last_writer.act.launch, full.last_writer.act.seq,
        )  # fmt: skip
        assert short.kept_writer.ordinal >= full.last_writer.act.ordinal
        if short.last_fence is not None:
            assert full.last_fence is not None
            assert full.last_fence.record_seq <= short.last_fence.record_seq
    if short.last_writer is not None and short.last_fence is not None:
        assert short.last_fence == full.last_fence
    denies_nothing(whole, cut)


def same_hold(full: Hold | None, short: Hold | None, begins: int) -> None:
    """Who held it, how, in which life and until when; since when, if the cut history can know."""
    if short is None:
        return
    assert full is not None
    assert (full.holder, full.mode, full.life, full.until_seq) == (
        short.holder, short.mode, short.life, short.until_seq,
    )  # fmt: skip
    assert (full.from_seq < begins) if short.since_before else (full.from_seq == short.from_seq)


def denies_nothing(whole: Report, cut: Report) -> None:
    """No line of the cut report denies something, but what the whole one denies in the same words."""
    said = set(lines(whole))
    for label, text in lines(cut):
        if (label, text) in said or not DENIES.search(text):
            continue
        assert any(words in text for words in HEDGED), (label, text)


def lines(report: Report) -> list[tuple[str, str]]:
    """Labels and texts of a report, without numbers of queries and public ids of requests."""
    return [
        (fact.label, CODES.sub("", fact.text))
        for section in lay_out(report).sections
        if section.key not in ABOUT_ITSELF
        for block in section.blocks
        if isinstance(block, Facts)
        for fact in block.rows
    ]


@pytest.mark.parametrize("late", a_few(1, (22, 24, 28)))
def test_a_verdict(tmp_path: Path, late: int) -> None:
    """The same finding, about the same launches; and it does not say what orders the launch in all."""
    dumps = served(tmp_path, 3, late)
    whole, cut = build(dumps.whole), build(dumps.cut)
    assert whole.verdict.code == cut.verdict.code == "TR102"
    assert whole.verdict.sentence == cut.verdict.sentence
    edge = cut.verdict.missing_edge
    assert edge is not None
    assert whole.verdict.missing_edge is not None
    if edge.reaches:
        assert edge.reaches == whole.verdict.missing_edge.reaches
    denies_nothing(whole, cut)
    verdict = lay_out(cut).sections[0]
    (known,) = [
        fact.text
        for block in verdict.blocks
        if isinstance(block, Facts)
        for fact in block.rows
        if fact.label == "known order"
    ]
    assert edge.reaches or "that the recorded window has" in known
    for story in cut.pages:
        full = next(found for found in whole.pages if found.page == story.page)
        same_hold(full.last_owner, story.last_owner, cut.evidence.first_seq or 0)
        same_hold(full.previous_owner, story.previous_owner, cut.evidence.first_seq or 0)
