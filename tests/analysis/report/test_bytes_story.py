"""The report of a verdict about bytes: whose they are, what is acquitted, what a clear would have changed."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from tracert_analysis.load import Dump
from tracert_analysis.report import as_json, as_text
from tracert_analysis.report.build import build
from tracert_analysis.report.report import Report

from tests.analysis.findings.test_tr301 import reused, stored
from tests.analysis.history import History, Launched, Page, use

COMPUTE, TRANSFER = 1, 2


def begun() -> History:
    """A device that has just started: the arena is cleared, page 0 is reserved."""
    history = History()
    history.clear(COMPUTE)
    history.sync()
    history.alloc([0], "reserved:0")
    return history


@pytest.fixture
def history() -> History:
    """One to go on with."""
    return begun()


class Stale(NamedTuple):
    """A snapshot's rows, met by a request that has got their page."""

    dump: Dump
    report: Report
    store: Launched
    passed: int
    launch: Launched


@pytest.fixture(scope="module")
def stale(tmp_path_factory: pytest.TempPathFactory) -> Stale:
    """Read once."""
    history = begun()
    store, passed = stored(history)
    launch = reused(history)
    dump = history.read(tmp_path_factory.mktemp("stale"))
    return Stale(dump, build(dump), store, passed, launch)


def told(history: History, folder: Path) -> Report:
    """The report, which every renderer takes."""
    report = build(history.read(folder))
    as_json.render(report)
    return report


def test_whose_bytes_a_tail_has(stale: Stale) -> None:
    """The snapshot's rows behind the request's positions, their owner, its end, and no clear."""
    story = stale.report.content
    assert story is not None
    assert [(0, 2, "kv", 2, None, False), (2, 4, "rows", None, 4, True)] == [
        (run.first, run.end, run.content, run.request, run.snapshot, run.stale) for run in story.runs
    ]
    assert [stale.launch.launch, stale.store.launch] == [
        run.writer.launch for run in story.runs if run.writer
    ]
    assert story.owner is not None
    assert ("snapshot:4", 1) == (story.owner.holder, story.owner.life)
    assert (stale.passed, 0, None) == (story.fence_passed_seq, story.clears, story.nonfinite)


def test_a_fence_number_that_is_used_again_is_told_by_its_record(history: History, tmp_path: Path) -> None:
    """What counts is the record that stood when the life was retired: not one before, nor one behind."""
    fence = history.record(COMPUTE)
    history.passed(fence)
    pages = history.alloc([5], "snapshot:9")
    history.forward(COMPUTE, kernel="store_row", writes=[[5, 1, 0, 2]], **{"class": "rows"})
    history.drop(pages, "snapshot:9")
    again = history.record(COMPUTE, again=fence)
    history.retire(pages, again)
    passed = history.passed(again)
    history.free(pages)
    reused(history, end=1)
    history.order(COMPUTE, TRANSFER)
    history.passed(history.record(TRANSFER, again=fence))
    report = told(history, tmp_path)
    story = report.content
    assert story is not None
    assert (fence.fence, again.seq, passed, True) == (
        story.fence,
        story.fence_record_seq,
        story.fence_passed_seq,
        story.covered,
    )
    assert [item for item in report.acquitted if item.why.startswith("its earlier lives ended in order (1 ")]


def test_owner_and_order_are_acquitted(stale: Stale) -> None:
    """Who held the page, in which order its lives came, and its fence: all are right, and it says so."""
    why = [item.why for item in stale.report.acquitted]
    assert [
        "owners are right",
        "no page has",
        "order on the",
        "page ids are",
        "order between its",
    ] == [" ".join(sentence.split()[:3]) for sentence in why[:5]]
    assert "its earlier lives ended in order (1 life checked): each was free, its fence had passed" in why[5]


def test_order_is_not_acquitted_where_it_lacks(history: History, tmp_path: Path) -> None:
    """The rows are stored on a stream that nobody waits for."""
    pages = history.alloc([5], "snapshot:4")
    history.forward(TRANSFER, kernel="save_rows", writes=[[5, 1, 0, 4]])
    history.give_back(pages, "snapshot:4")
    reused(history)
    report = told(history, tmp_path)
    assert "TR202" == report.verdict.code
    assert not [item for item in report.acquitted if item.why.startswith("order")]


def test_the_first_value_that_was_not_finite(history: History, tmp_path: Path) -> None:
    """Its layer and position stand in the section, and in the text."""
    stored(history)
    launch = reused(history)
    seq = history.event(
        "nonfinite", launch=launch.launch, request=2, row=0, position=1, layer=3, page=5, life=2
    )
    report = told(history, tmp_path)
    assert report.content is not None
    assert f"layer 3, position 1, seen at seq {seq}" == report.content.nonfinite
    assert "  not finite     layer 3, position 1, seen at seq" in as_text.render(report)


def test_a_clear_added_to_the_history_repairs_it(history: History, tmp_path: Path) -> None:
    """So do kernels that load no more than is valid; what the host saw stays seen."""
    stored(history)
    launch = reused(history)
    history.event("nonfinite", launch=launch.launch, request=2, row=0, position=1, layer=3, page=5, life=2)
    assert (
        "with a clear of the page added to the recorded history before its first use, and every rule checked "
        "again, the finding is gone; with kernels that load valid positions only, the finding is gone"
    ) == told(history, tmp_path).verdict.counterfactual


def test_a_clear_of_the_target_does_not_repair_a_copy(history: History, tmp_path: Path) -> None:
    """The copy brings the stale bytes after the clear: the second check finds them again."""
    stored(history)
    history.alloc([5], "request:2")
    target = history.alloc([6], "request:2")
    history.copy(COMPUTE, [[5, 2, 0, 4]], [[6, 1, 0, 4]])
    history.acquire(0, 1, 2)
    history.publish(COMPUTE, 0, 1, target)
    history.forward(COMPUTE, use(0, 1, 0, 1, covers="page"))
    report = told(history, tmp_path)
    assert "every rule checked again, 1 of 1 findings is left: TR301" in str(report.verdict.counterfactual)
    assert report.content is not None
    assert [(0, 1, None), (1, 4, 5)] == [
        (run.first, run.end, run.origin_page if run.origin else None) for run in report.content.runs
    ]


def test_the_dump_is_as_it_was(stale: Stale) -> None:
    """The second check leaves nothing behind."""
    tables = "SELECT table_schema, table_name FROM information_schema.tables ORDER BY ALL"
    before = stale.dump.connection.execute(tables).fetchall()
    assert build(stale.dump).verdict.counterfactual
    assert before == stale.dump.connection.execute(tables).fetchall()
    assert not [name for _, name in before if name == "_inspected"]


def test_what_was_not_tried_is_told_apart(stale: Stale) -> None:
    """State rows in pages of their own were not tried; a clear and a narrower kernel were."""
    verdict = stale.report.verdict
    assert ["(not checked on this history)" in fix for fix in verdict.fix] == [False, False, False, True]
    assert verdict.fix[3].endswith(" (not checked on this history).")
    assert "One is enough" == verdict.fix_how


def test_fixes_and_masks_stand_apart(stale: Stale) -> None:
    """One of four is enough, others only hide it."""
    report = stale.report
    words = [f"(`--stale-pages {policy}`)" for policy in ("zero", "clear-tail", "inert")]
    for fix, word in zip(report.verdict.fix, [*words, "`--dedicated-snapshots`"], strict=True):
        assert word in fix
    assert report.verdict.fix_how == "One is enough"
    assert report.verdict.masks[0].startswith("Replacing NaN by zero")


def nobodys(history: History) -> None:
    """A page that nothing wrote."""
    history.events[0]["pages"] = 4
    pages = history.alloc([5], "request:2")
    history.acquire(0, 1, 2)
    history.publish(COMPUTE, 0, 1, pages)
    history.forward(COMPUTE, use(0, 1, 0, 1, covers="page"))


def late_clear(history: History) -> None:
    """A clear behind what it wipes."""
    pages = history.alloc([5], "request:2")
    history.acquire(0, 1, 2)
    history.publish(COMPUTE, 0, 1, pages)
    history.forward(COMPUTE, use(0, 1, 0, 2))
    history.clear(COMPUTE, [[5, 1, 0, 4]])
    history.forward(COMPUTE, use(0, 1, 2, 3))


def unordered_clear(history: History) -> None:
    """A clear on the legacy stream."""
    stored(history)

    def clear(begun: History, pages: Sequence[Page]) -> None:
        begun.clear(0, [[*pages[0], 0, 4]])

    reused(history, clear)


def let_go(history: History) -> None:
    """The source of a planned copy is given back at once, and compute writes it for its next owner."""
    pages = history.alloc([5], "request:1")
    history.forward(COMPUTE, writes=[[5, 1, 0, 2]])
    history.order(COMPUTE, TRANSFER)
    history.alloc([6], "request:2")
    history.event("copy_plan", transaction=1, source=[[5, 1, 0, 2]], target=[[6, 1, 0, 2]], positions=2)
    history.copy(TRANSFER, [[5, 1, 0, 2]], [[6, 1, 0, 2]])
    history.give_back(pages, "request:1")
    history.alloc([5], "request:3")
    history.forward(COMPUTE, writes=[[5, 2, 0, 2]])


@pytest.mark.parametrize(
    ("plant", "code", "counterfactual"),
    [
        (
            nobodys,
            "TR302",
            "the finding is gone; with kernels that load valid positions only, the finding is",
        ),
        (
            late_clear,
            "TR104",
            "with the clear moved to before the first use of the page, and every rule checked again, the "
            "finding is gone",
        ),
        (
            unordered_clear,
            "TR104",
            "with the call added to the recorded history (once) and every rule checked again, the",
        ),
        (
            let_go,
            "TR303",
            "with a host that waits for the copy before the page is let go, and every rule checked again, "
            "all 2 findings are gone",
        ),
    ],
)
def test_each_finding_about_bytes_has_a_report(
    history: History, tmp_path: Path, plant: Callable[[History], None], code: str, counterfactual: str
) -> None:
    """The verdict's code, a text, and what adding what lacks would change."""
    plant(history)
    report = told(history, tmp_path)
    assert code == report.verdict.code
    # A clear that wipes all that had been put there is at the wrong place, and its range is right.
    assert report.verdict.wrong_range is None
    assert counterfactual in str(report.verdict.counterfactual)
    assert f"tracert explain {code}" in as_text.render(report)
