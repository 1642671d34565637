"""TR601, ghost-position: what rejected drafts left is not taken for accepted."""

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from tracert_analysis.report.build import build

from tests.analysis.history import History, Launched, use

Read = Callable[[History], list[dict[str, Any]]]
COMPUTE = 1


def speculating(history: History, *, pages: int = 3) -> None:
    """Request 1 has row 0; 4 positions are computed."""
    granted = history.alloc(range(5, 5 + pages), "request:1")
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, granted)
    history.forward(COMPUTE, use(0, 1, 0, 4), phase="prefill", step=1)
    history.sync(COMPUTE)


def verified(history: History, start: int, drafts: int, accepted: int, *, step: int) -> tuple[Launched, int]:
    """A token and its drafts are computed from `start` on, then judged; gives launch and judgement."""
    history.event("propose", request=1, row=0, step=step, drafts=drafts, frontier=start)
    launch = history.forward(COMPUTE, use(0, 1, start, start + 1 + drafts), step=step)
    history.passed(history.record(COMPUTE))
    judged = history.event(
        "verify",
        request=1,
        row=0,
        step=step,
        drafts=drafts,
        accepted=accepted,
        frontier=start + 1 + accepted,
    )
    return launch, judged


def test_a_launch_that_starts_behind_rejected_drafts(history: History, told: Read) -> None:
    """3 drafts, 1 accepted: the next launch goes on behind all of them."""
    speculating(history)
    launch, judged = verified(history, 4, 3, 1, step=2)
    reader = history.forward(COMPUTE, use(0, 1, 8, 9), step=3)
    (finding,) = told(history)
    assert {
        "code": "TR601",
        "name": "ghost-position",
        "seq": reader.seq,
        "class": "content",
        "confidence": "proven",
        "sentence": (
            f"launch {reader.launch} (forward) on compute reads positions 6 to 7 of row 0 for request 1 as "
            f"accepted: launch {launch.launch} (forward) on compute stored drafts there, of which 1 of 3 "
            f"were accepted at event {judged}, and nothing was stored over the others"
        ),
        "resource_kind": "page",
        "resource_id": 6,
        "life": 1,
        "row": 0,
        "generation": 1,
        "request": 1,
        "launch": reader.launch,
        "stream": COMPUTE,
        "other_launch": launch.launch,
        "other_stream": COMPUTE,
        "other_seq": judged,
    }.items() <= finding.items()


def test_a_frontier_beyond_what_was_accepted(history: History, told: Read) -> None:
    """1 of 3 drafts stands, and the frontier moves by 3: the next launch reads a rejected one."""
    speculating(history)
    launch = history.forward(COMPUTE, use(0, 1, 4, 8), step=2)
    judged = history.event("verify", request=1, row=0, step=2, drafts=3, accepted=1, frontier=7)
    reader = history.forward(COMPUTE, use(0, 1, 7, 8), step=3)
    (finding,) = told(history)
    assert ("TR601", reader.seq, 6, launch.launch, judged) == tuple(
        finding[name] for name in ("code", "seq", "resource_id", "other_launch", "other_seq")
    )
    assert "reads position 6 of row 0 for request 1 as accepted: " in finding["sentence"]
    assert finding["sentence"].endswith(
        f"of which 1 of 3 were accepted at event {judged}, which moved the frontier to position 7 instead of "
        "6, and nothing was stored over the others"
    )


@pytest.mark.parametrize("how", ["next", "overlapped", "drawn", "chunk"])
def test_a_frontier_that_only_seems_beyond(history: History, told: Read, how: str) -> None:
    """It counts the next token; the launch behind has begun; drafting writes the row; a chunk is before."""
    speculating(history, pages=6)
    judged = {"request": 1, "row": 0, "drafts": 3, "accepted": 1}
    start = 6
    if how == "next":
        history.forward(COMPUTE, use(0, 1, 4, 8))
        history.event("verify", **judged, frontier=7)
        history.event("transaction", op="commit", transaction=2, row=0, request=1, frontier=7)
    elif how == "overlapped":
        # The device goes on from where the drafts turned out to end: 3 stand.
        history.forward(COMPUTE, use(0, 1, 4, 8))
        history.forward(COMPUTE, use(0, 1, 5, 9))
        history.event("verify", **judged | {"accepted": 3}, frontier=8)
        start = 8
    elif how == "drawn":
        for at in (4, 5, 6):
            history.forward(COMPUTE, use(0, 1, at, at + 1), kernel="draft")
        history.forward(COMPUTE, use(0, 1, 4, 8))
        history.event("verify", **judged, frontier=6)
    else:
        history.forward(COMPUTE, use(0, 1, 4, 10))
        history.event("verify", **judged, frontier=8)
        start = 8
    history.forward(COMPUTE, use(0, 1, start, start + 1))
    assert [] == told(history)


def test_no_call_repairs_it(history: History, tmp_path: Path) -> None:
    """The report says what must change instead."""
    speculating(history)
    verified(history, 4, 3, 1, step=2)
    history.forward(COMPUTE, use(0, 1, 8, 9), step=3)
    verdict = build(history.read(tmp_path)).verdict
    assert verdict.code == "TR601"
    assert verdict.counterfactual == (
        "no fence and no clear would have helped: what must change is from where on the sequence is computed"
    )


def test_steps_that_go_on_from_the_frontier_are_sound(history: History, told: Read) -> None:
    """Whatever is accepted: none, some, all; also with fewer drafts than before, and without any."""
    speculating(history, pages=6)
    start = 4
    for step, (drafts, accepted) in enumerate([(3, 1), (1, 0), (0, 0), (3, 3), (4, 0), (2, 1)], 2):
        verified(history, start, drafts, accepted, step=step)
        start += 1 + accepted
    for step in (8, 9):
        history.forward(COMPUTE, use(0, 1, start, start + 1), step=step)
        start += 1
    assert [] == told(history)


def test_the_host_commits_what_was_rejected(history: History, told: Read) -> None:
    """Its frontier moves to the end of the drafts: told before any launch reads them."""
    speculating(history)
    verified(history, 4, 3, 1, step=2)
    commit = history.event("transaction", op="commit", transaction=2, row=0, request=1, frontier=8)
    history.forward(COMPUTE, use(0, 1, 8, 9), step=3)
    (finding,) = told(history)
    assert (finding["code"], finding["seq"], finding["launch"]) == ("TR601", commit, None)
    assert finding["sentence"].startswith("the host commits positions 6 to 7 of row 0 for request 1")


def test_a_commit_of_what_was_accepted_is_sound(history: History, told: Read) -> None:
    """Up to the frontier of the judgement, no further."""
    speculating(history)
    verified(history, 4, 3, 1, step=2)
    history.event("transaction", op="commit", transaction=2, row=0, request=1, frontier=6)
    assert [] == told(history)


def test_a_cache_is_given_a_page_with_rejected_drafts(history: History, told: Read) -> None:
    """Page 6 is full only if the drafts count."""
    speculating(history)
    verified(history, 4, 3, 1, step=2)
    given = history.event("insert", node=1, digest="a" * 16, parent=0, identity=7, pages=[[5, 1], [6, 1]])
    (finding,) = told(history)
    assert (finding["code"], finding["seq"], finding["resource_id"]) == ("TR601", given, 6)
    assert finding["sentence"].startswith("the prefix cache is given positions 6 to 7 of row 0")


@pytest.mark.parametrize("extra", [{"pages": [[5, 1]]}, {"pages": [[5, 1], [6, 1]], "positions": 2}])
def test_a_cache_is_given_what_was_accepted(history: History, told: Read, extra: dict[str, Any]) -> None:
    """The page before, or of this page only the front."""
    speculating(history)
    verified(history, 4, 3, 1, step=2)
    history.event("insert", node=1, digest="a" * 16, parent=0, identity=7, **extra)
    assert [] == told(history)


@pytest.mark.parametrize("mapped", [False, True])
def test_a_branch_whose_pages_are_named_elsewhere(told: Read, mapped: bool) -> None:
    """Pages of one position: the accepted branch moves up in the row, and what stood there is left over."""
    history = History(page_size=1)
    history.clear(COMPUTE)
    history.sync()
    pages = history.alloc(range(1, 9), "request:1")
    history.acquire(0, 1, 1)

    def named(pages: list[tuple[int, int]], first: int) -> None:
        if mapped:
            history.event("map", row=0, generation=1, index=first, pages=[list(page) for page in pages])
        history.publish(COMPUTE, 0, 1, pages, first=first)

    named(pages, 0)
    history.forward(COMPUTE, use(0, 1, 0, 3, page_size=1))
    history.forward(COMPUTE, use(0, 1, 3, 8, page_size=1))
    history.event("verify", request=1, row=0, step=1, drafts=4, accepted=1, positions=5, frontier=5)
    kept = [*pages[:4], pages[6]]
    if mapped:
        history.event("unmap", row=0, generation=1, index=4, pages=[list(page) for page in pages[4:]])
    named(kept[3:], 3)
    history.sync()
    history.drop([pages[4], pages[5], pages[7]], "request:1")
    named(history.alloc([9], "request:1"), 5)

    def given(node: int, pages: list[tuple[int, int]]) -> int:
        history.hold(pages, f"prefix:{node}")
        listed = [list(page) for page in pages]
        return history.event("insert", node=node, digest="a" * 16, parent=0, identity=7, pages=listed)

    given(1, kept)
    history.event("match", request=2, node=1, digest="a" * 16, identity=7, hit_tokens=5, pages=kept)
    history.hold(kept, "request:2")
    history.acquire(1, 1, 2)
    history.publish(COMPUTE, 1, 1, kept + history.alloc([10], "request:2"))
    history.forward(COMPUTE, use(1, 1, 5, 6, page_size=1))
    assert [] == told(history)
    ghost = given(2, [*kept, (9, 1)])
    (finding,) = told(history)
    assert ("TR601", ghost) == (finding["code"], finding["seq"])
    assert finding["sentence"].startswith("the prefix cache is given position 5 of row 0")


def test_a_new_tenant_is_not_the_old_one(history: History, told: Read) -> None:
    """The row goes to request 2, which is computed from another place on."""
    speculating(history)
    verified(history, 4, 3, 1, step=2)
    history.release(0, 1, 1)
    history.acquire(0, 2, 2)
    pages = history.alloc([9, 10, 11], "request:2")
    history.publish(COMPUTE, 0, 2, pages)
    history.forward(COMPUTE, use(0, 2, 0, 8), step=3)
    history.forward(COMPUTE, use(0, 2, 8, 9), step=4)
    assert "TR601" not in [finding["code"] for finding in told(history)]


def test_what_the_history_does_not_have_is_no_finding(history: History, told: Read) -> None:
    """Without the frontier of the judgement, or the launch that stored the drafts, nothing is said."""
    speculating(history)
    verified(history, 4, 3, 1, step=2)
    history.forward(COMPUTE, use(0, 1, 8, 9), step=3)
    whole = list(history.events)
    for missing in ("frontier", "uses"):
        history.events = [dict(event) for event in whole]
        for event in history.events:
            if event["kind"] == "verify" or (event["kind"] == "launch" and event.get("step") == 2):
                event.pop(missing, None)
        assert "TR601" not in [finding["code"] for finding in told(history)]


@pytest.mark.parametrize("hole", ["torn", "strange"])
def test_holes_make_it_suspected(history: History, told: Read, hole: str) -> None:
    """A torn record, or a kind that nobody knows, may have stored over the drafts."""
    speculating(history)
    verified(history, 4, 3, 1, step=2)
    if hole == "torn":
        history.header["ring"] |= {"torn": 1, "torn_seqs": [history.seq + 1]}
        history.seq += 1
    else:
        history.event("rewrite_of_a_later_version", row=0)
    history.forward(COMPUTE, use(0, 1, 8, 9), step=3)
    (finding,) = (finding for finding in told(history) if finding["code"] == "TR601")
    assert finding["confidence"] == "suspected"


def moved(history: History, pages: list[tuple[int, int]], start: int) -> Launched:
    """Request 1 gives its row back, gets row 1 with these pages, and goes on."""
    history.release(0, 1, 1)
    history.acquire(1, 4, 1)
    history.publish(COMPUTE, 1, 4, pages)
    return history.forward(COMPUTE, use(1, 4, start, 9), step=3)


def test_the_drafts_move_with_their_request_to_another_row(history: History, told: Read) -> None:
    """The pages are the same: behind refused drafts it must not go on, at the frontier it may."""
    speculating(history)
    launch, judged = verified(history, 4, 3, 1, step=2)
    sound = deepcopy(history)
    reader = moved(history, [(5, 1), (6, 1), (7, 1)], 8)
    (finding,) = told(history)
    assert ("TR601", reader.seq, 1, 4, launch.launch) == tuple(
        finding[name] for name in ("code", "seq", "row", "generation", "other_launch")
    )
    assert (
        f"reads positions 6 to 7 of row 1 for request 1 as accepted: launch {launch.launch}"
        in (finding["sentence"])
    )
    assert f"of which 1 of 3 were accepted at event {judged}" in finding["sentence"]
    moved(sound, [(5, 1), (6, 1), (7, 1)], 6)
    assert [] == told(sound)


def test_drafts_that_stay_in_other_pages_are_no_ghosts(history: History, told: Read) -> None:
    """What is read in their place came from elsewhere: the page was loaded, whole."""
    speculating(history)
    verified(history, 4, 3, 1, step=2)
    other = history.alloc([9], "request:1")
    history.moved("load", COMPUTE, [(0, *other[0])])
    moved(history, [(5, 1), *other, (7, 1)], 8)
    assert "TR601" not in [found["code"] for found in told(history)]


@pytest.mark.parametrize(("first", "end"), [(2, 4), (0, 1)])
def test_what_mends_the_rejected_positions_covers_them(
    history: History, told: Read, first: int, end: int
) -> None:
    """Accepted nodes of a tree are copied together, through no row; a write beside them mends nothing."""
    speculating(history)
    verified(history, 4, 3, 1, step=2)
    history.forward(COMPUTE, kernel="compact", writes=[[6, 1, first, end]])
    history.forward(COMPUTE, use(0, 1, 8, 9), step=3)
    assert ([] if first else ["TR601"]) == [found["code"] for found in told(history)]
