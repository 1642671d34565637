"""The workspace in a report: what is live, what was to fit in, what only hides it, and whom it acquits."""

from pathlib import Path

import pytest
from tracert_analysis.load import Dump
from tracert_analysis.report.as_json import as_json
from tracert_analysis.report.as_text import render
from tracert_analysis.report.build import build

from tests.analysis.history import History, use
from tests.analysis.ring import COMPUTE, Ring


@pytest.fixture
def starved(tmp_path: Path) -> Dump:
    """Launch 3 keeps 100 bytes at 200; launch 5, on two new pages, wants 750 in one piece and never runs."""
    history = History()
    history.clear(COMPUTE)
    history.sync()
    history.alloc([0], "reserved:0")
    ring = Ring(history)
    history.event("arrive", request=7, id="cold", prompt_tokens=4, max_tokens=1)
    history.acquire(0, 1, 7)
    history.publish(COMPUTE, 0, 1, history.alloc([1], "request:7"))
    ring.plan(300)
    first = ring.launch((0, 200), (200, 100), uses=[use(0, 1, 0, 4)], phase="prefill")
    ring.free(first, 0, 200)
    ring.settle(first)
    history.acquire(1, 1, 8)
    history.publish(COMPUTE, 1, 1, history.alloc([4, 5], "request:8"))
    ring.plan(750, room=700)
    waits = ring.launch(uses=[use(1, 1, 0, 7)], phase="prefill")
    history.progress[COMPUTE] = (waits.ordinal, waits.ordinal - 1)
    history.error(COMPUTE)
    history.header["error"] |= {"code": 507018, "name": "AICPU_EXCEPTION", "detail": {"orch_error_code": 2}}
    return history.read(tmp_path)


def test_what_is_live_and_whose_it_is(starved: Dump) -> None:
    """As of the launch that waits: the block, its launch, its request, its age; and the sizes."""
    told = as_json(build(starved))
    story = told["workspace"]
    assert (5, 1000, 750, 700) == tuple(story[name] for name in ("launch", "capacity", "planned", "room"))
    (block,) = story["live"]
    assert (3, "forward", "prefill", 1, "cold", 200, 100, 2, None) == tuple(
        block[name]
        for name in ("launch", "kernel", "phase", "step", "request_id", "offset", "nbytes", "age", "free_seq")
    )
    text = " ".join(render(build(starved)).split())
    assert (
        f'taken at seq {block["seq"]} by launch 3 (forward, prefill, step 1, request 7 ("cold")); that '
        "launch had finished by the end; not given back in the recorded window"
    ) in text
    assert (
        "of 1 launch of forward that took scratch and had ended, 0 gave back all of it; launch 3 did not"
        in text
    )
    assert (told["verdict"]["code"], told["verdict"]["confidence"]) == ("TR701", "observed")
    # The sentence tells first of the launch that kept its block.
    assert told["verdict"]["first"] is None


def test_it_is_told_which_of_its_blocks_a_launch_kept(starved: Dump) -> None:
    """In the order in which it took them; and what was new about it, not about the launch that lacks room."""
    report = build(starved)
    assert report.workspace is not None
    kept = report.workspace.kept
    assert kept is not None
    assert (3, 0, 0) == (kept.launch, kept.alike, kept.whole)
    assert [(200, 0, False), (100, 200, True)] == [
        (nbytes, offset, freed is None) for nbytes, offset, freed in kept.blocks
    ]
    assert "took, in this order: 200 bytes at 0 (given back at seq " in " ".join(render(report).split())
    assert not [item for item in report.what_was_new if item.of]


def test_the_mask_is_named_as_one(starved: Dump) -> None:
    """A smaller launch went well: capping hides the block, and the report says so."""
    text = render(build(starved))
    assert "only masks" in text
    assert "launch 3 (4 positions in a row) planned 300 bytes" in text
    assert build(starved).verdict.fix[0].startswith("Give a launch's scratch back where its scope ends")


def test_given_back_it_would_have_fitted(starved: Dump) -> None:
    """Room is reckoned without the block, and every rule checked again; the dump stays as it was."""
    report = build(starved)
    assert report.verdict.counterfactual == (
        f"with the 100 bytes at 200 given back when launch 3 had ended, before event {report.verdict.seq}, "
        "and every rule checked again, all 2 findings are gone; launch 5 then finds 1000 bytes in one piece "
        "for its 750"
    )
    assert build(starved) == report
    assert report.title.endswith("(it went wrong with that block live: launch 5 forward on compute)")
    assert "With that block still live it visibly went wrong at event " in report.verdict.sentence
    assert report.access is not None
    assert report.access.why is not None
    assert report.access.why.startswith("where it visibly went wrong, beside the block that launch 3 kept")


def test_what_giving_back_does_not_repair(tmp_path: Path) -> None:
    """Of two blocks one is another launch's, still running; and a plan may be larger than all there is."""
    told = []
    for nbytes, kept in ((950, True), (750, False), (1200, True)):
        history = History()
        history.clear(COMPUTE)
        history.sync()
        ring = Ring(history)
        first = ring.launch((200, 100))
        if kept:
            ring.settle(first)
        ring.launch((0, 100))
        ring.plan(nbytes, room=700)
        waits = ring.launch()
        history.progress[COMPUTE] = (waits.ordinal, waits.ordinal - 1)
        history.error(COMPUTE)
        told.append(str(build(history.read(tmp_path)).verdict.counterfactual))
    assert told[0].endswith(
        "1 of 2 findings is left: TR701; launch 4 then finds 900 bytes in one piece for its 950"
    )
    assert "the 100 bytes at 200 of launch 2 given back before event" in told[1]
    assert told[1].endswith("the finding is gone; launch 4 then finds 900 bytes in one piece for its 750")
    assert told[2].endswith(
        "1 of 2 findings is left: TR701; launch 4 then finds 900 bytes in one piece for its 1200"
    )


def test_the_pages_are_acquitted(starved: Dump) -> None:
    """Nobody wrote them before, owners and ids are right, and the row was published in order."""
    whys = [item.why for item in build(starved).acquitted]
    assert any("in their first life" in why and "(2 pages checked)" in why for why in whys)
    assert any(why.startswith("owners are right") for why in whys)
    assert any(why.startswith("page ids are right") for why in whys)
    assert any("published in its entries is ordered" in why for why in whys)


def test_pages_with_a_past_are_not_acquitted_as_new(tmp_path: Path) -> None:
    """The launch that waits is on a page which another request wrote: that is not said of it."""
    history = History()
    history.clear(COMPUTE)
    history.sync()
    ring = Ring(history)
    for generation, request in enumerate((7, 8), start=1):
        pages = history.alloc([1], f"request:{request}")
        history.acquire(0, generation, request)
        history.publish(COMPUTE, 0, generation, pages)
        ring.plan(1200 if request == 8 else 10)
        launched = ring.launch(uses=[use(0, generation, 0, 4)])
        history.passed(history.record(COMPUTE))
        history.give_back(pages, f"request:{request}")
    report = build(history.read(tmp_path))
    assert (report.verdict.code, report.verdict.launch) == ("TR701", launched.launch)
    assert report.verdict.counterfactual == (
        f"no block given back would have helped: launch {launched.launch} planned 1200 bytes, and the whole "
        "workspace has 1000"
    )
    assert not any("first life" in item.why or "nobody had written" in item.why for item in report.acquitted)


def test_the_drawing(starved: Dump) -> None:
    """The live block at its place, and a bar as long as what was planned, on one scale."""
    shown = [line.strip() for line in render(build(starved)).splitlines()]
    (drawn,) = (line for line in shown if line.startswith("bytes    0 "))
    (planned,) = (line for line in shown if line.startswith("planned    |"))
    (room,) = (line for line in shown if line.startswith("room       |"))
    assert drawn == "bytes    0 |" + " " * 12 + "#" * 6 + " " * 42 + "| 1000"
    assert planned == "planned    |" + " " * 18 + "=" * 41 + ">" + "| 750"
    assert room == "room       |" + " " * 18 + "-" * 42 + "| 700"


def test_the_scratch_of_each_launch(starved: Dump) -> None:
    """Planned, room then, taken, given back, kept; the one that waits took none."""
    told = as_json(build(starved))
    scratch = [
        tuple(one[name] for name in ("launch", "planned", "taken", "given_back", "kept"))
        for one in told["workspace"]["scratch"]
    ]
    assert scratch == [(3, 300, 300, 200, 100), (5, 750, None, None, None)]
    assert told["workspace"]["room_at"] == 300
    (row,) = (line.split() for line in render(build(starved)).splitlines() if " 750  " in line)
    assert row == ["5", "forward", "prefill", "2", "750", "700", "-", "-", "-"]


def test_no_room_is_no_repetition_of_a_kept_block(starved: Dump) -> None:
    """It follows from it, and the list of the other findings says so."""
    (_, other) = build(starved).findings
    assert other.follows == "the block that launch 3 kept was in the way"
    assert "more of the same" not in render(build(starved))


def test_the_error_is_called_what_it_is(starved: Dump) -> None:
    """Its name points at a processor, its sub-codes are kept."""
    error = build(starved).error
    assert error is not None
    assert error.misleading
    assert error.remark == (
        "its name points to the device's control processor; the cause found lies in the room of the workspace"
    )
    told = " ".join(render(build(starved)).split())
    assert "orch_error_code=2 (a launch waits for room in the heap ring, and none comes)" in told
