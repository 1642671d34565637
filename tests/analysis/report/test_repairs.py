"""What repairs a verdict stands apart from what hardens, shows or masks it, and knows what was on."""

from pathlib import Path

import pytest
from tracert_analysis.explain import pages
from tracert_analysis.report.as_json import as_json
from tracert_analysis.report.as_text import render
from tracert_analysis.report.build import build
from tracert_analysis.report.repairs import CASE, advice, fitting

from tests.analysis.findings.test_tr303 import TRANSFER, Tail, granted_again
from tests.analysis.history import History, use
from tests.analysis.ring import COMPUTE, Ring

KEPT = "Where a block is kept"
LARGE = "Where the plan is larger than the whole workspace"
FLIGHT = "Where steps in flight have the room"
EMPTY = "Where nothing is live"


def test_an_item_is_for_its_case_alone() -> None:
    """Of another case it is left out, of this one its condition is, and what can't be told keeps it."""
    items = ["Where a: do this.", "Where b: do that.", "Where c, keep.", "Always."]
    assert fitting(items, {"Where a": True, "Where b": False}) == ["Do this.", "Where c, keep.", "Always."]
    assert fitting(items, {}) == items


def test_the_case_at_hand_comes_first() -> None:
    """Before what helps in general."""
    other, named, slot = (
        "Where other positions stand there",
        "Where it was hit by a name",
        "Where a slot of the host tier has another page",
    )
    for case, starts in ((other, "Map the pages"), (named, "Compare the tokens"), (slot, "Forget the name")):
        at_hand = {one: one == case for one in (other, named, slot)}
        assert fitting(pages()["TR501"].fixes(), at_hand)[0].startswith(starts)


def test_cases_that_a_page_tells_of_are_known() -> None:
    """A condition that nobody decides would stand in every report."""
    told = {
        case.group(1)
        for page in pages().values()
        for item in (*page.fixes(), *page.masks(), *page.hardening(), *page.detection())
        if (case := CASE.match(item))
    }
    assert told == {
        KEPT,
        LARGE,
        FLIGHT,
        EMPTY,
        "Where it is behind what is valid",
        "Where it is meant to be valid",
        "Where a state is gone on from",
        "Where more is loaded than is valid",
        "Where state rows are what is stale",
        "Where its range is what is wrong",
        "Where the host means another page",
        "Where the row names what was given back",
        "Where it names a reserved page",
        "Where the page is granted anew",
        "Where other positions stand there",
        "Where it was hit by a name",
        "Where a slot of the host tier has another page",
        "Where its source changes too early",
        "Where the source is written over before the copy",
        "Where the copy stops short",
    }


@pytest.mark.parametrize("anew", [False, True])
def test_a_page_that_is_granted_anew_was_to_be_evicted_first(tmp_path: Path, anew: bool) -> None:
    """Where it was evicted, the hit came too late."""
    history = History()
    history.clear(COMPUTE)
    pages = history.alloc([5], "prefix:1")
    named = [list(page) for page in pages]
    history.event("insert", node=1, digest="a" * 16, parent=0, identity=7, pages=named)
    if not anew:
        history.event("evict", node=1, pages=named)
    history.give_back(pages, "prefix:1")
    if anew:
        history.alloc([5], "request:1")
    history.event("match", request=2, node=1, digest="a" * 16, identity=7, hit_tokens=4, pages=named)
    verdict = build(history.read(tmp_path)).verdict
    first = "Evict what it is cached under" if anew else "Hold what a match gives"
    assert ("TR503", True) == (verdict.code, verdict.fix[0].startswith(first)), verdict.fix


@pytest.mark.parametrize(
    ("torn", "starts", "tried"),
    [
        (
            "short",
            ["Copy all positions"],
            "with a copy of all that was planned, and every rule checked again, ",
        ),
        ("not copied", ["Copy all positions"], "no fence and no clear would have helped"),
        ("written before", ["Launch the copy first"], "no fence and no clear would have helped"),
        (
            "released",
            ["Keep a pin", "Retire the source", "Copy on"],
            "with a host that waits for the copy before",
        ),
    ],
)
def test_a_torn_copy_is_repaired_as_its_reason_asks(
    tmp_path: Path, torn: str, starts: list[str], tried: str
) -> None:
    """A pin is no help where less was copied than planned, nor a fence where nothing lacks order."""
    history = History()
    history.clear(COMPUTE)
    history.sync()
    tail = Tail(history)
    if torn == "released":
        tail.copy()
        tail.unpin()
        tail.evict()
        granted_again(history)
    elif torn == "written before":
        history.forward(COMPUTE, writes=[[5, 1, 0, 3]])
        history.order(COMPUTE, TRANSFER)
        tail.copy()
    else:
        if torn == "short":
            # What else the launch copies, it copies.
            (other,) = history.alloc([9], "request:3")
            history.copy(TRANSFER, [[5, 1, 0, 2], [5, 1, 0, 3]], [[6, 1, 0, 2], [*other, 0, 3]])
        tail.learn()
        tail.done()
    verdict = build(history.read(tmp_path)).verdict
    assert ("TR303", len(starts)) == (verdict.code, len(verdict.fix))
    for fix, start in zip(verdict.fix, starts, strict=True):
        assert fix.startswith(start)
    assert verdict.counterfactual is not None
    assert verdict.counterfactual.startswith(tried)
    if torn in ("short", "released"):
        assert verdict.counterfactual.endswith("gone")


@pytest.mark.parametrize(
    ("entry", "first"),
    [
        ("swapped", "Publish from the list that was mapped"),
        ("given back", "Unmap and publish before the page"),
        ("not published", "Publish from the list that was mapped"),
        ("reserved", "Name a page of the request's own"),
        ("another's", "Publish the whole row when a row changes hands"),
    ],
)
def test_the_first_repair_of_a_stale_entry_fits_its_reason(tmp_path: Path, entry: str, first: str) -> None:
    """Of pages that nobody gave back, no repair that gives them back later."""
    history = History()
    history.clear(COMPUTE)
    history.sync()
    history.alloc([0], "reserved:0")
    pages = history.alloc([5, 6], "request:1")
    named = list(pages)
    if entry == "given back":
        history.give_back(pages[1:], "request:1")
    elif entry in ("reserved", "another's"):
        pages[1] = named[1] = (0, 1) if entry == "reserved" else history.alloc([7], "request:2")[0]
    elif entry == "swapped":
        named.reverse()
    else:
        named.pop()
    history.acquire(0, 1, 1)
    history.event("map", row=0, generation=1, index=0, pages=[list(page) for page in pages])
    history.publish(COMPUTE, 0, 1, named)
    history.forward(COMPUTE, use(0, 1, 0, 4 if entry == "given back" else 6, walked=2))
    verdict = build(history.read(tmp_path)).verdict
    assert ("TR402", True) == (verdict.code, verdict.fix[0].startswith(first)), verdict.fix


@pytest.mark.parametrize(
    ("nbytes", "kept", "starts"),
    [
        (750, True, ["Give a launch's scratch back"]),
        (1200, True, ["Give a launch's scratch back", "Size the workspace"]),
        (750, False, ["Let the launch wait until one of them has ended"]),
    ],
)
def test_the_workspace_is_enlarged_only_for_a_plan_that_never_fits(
    tmp_path: Path, nbytes: int, kept: bool, starts: list[str]
) -> None:
    """Where a block is kept, a larger one only masks it: it isn't told as a repair, too."""
    history = History()
    history.clear(COMPUTE)
    history.sync()
    ring = Ring(history)
    first = ring.launch((200, 100))
    if kept:
        ring.settle(first)
    ring.plan(nbytes, room=700)
    waits = ring.launch()
    history.progress[COMPUTE] = (waits.ordinal, waits.ordinal - 1)
    history.error(COMPUTE)
    history.header["config"]["preflight"] = False
    report = build(history.read(tmp_path))
    verdict = report.verdict
    for fix, start in zip(verdict.fix, starts, strict=True):
        assert fix.startswith(start)
    assert any("larger workspace" in mask for mask in verdict.masks) is kept
    assert "(it was off: `--no-preflight`)" in verdict.detection[0]
    told = as_json(report)["verdict"]
    assert told["detection"] == list(verdict.detection)
    assert told["fix_how"] == ("The one that fits the case" if len(starts) > 1 else "")
    assert "detection      Refuse a launch whose plan does not fit" in render(report)


@pytest.mark.parametrize(
    ("policy", "uncleared", "number", "says"),
    [
        ("zero", True, 0, "was on, and cleared none of these positions after they were written"),
        ("clear-tail", False, 1, "`--stale-pages clear-tail` was on."),
        ("inert", True, 2, "Let this kernel leave out"),
    ],
)
def test_an_option_that_was_on_is_no_repair(policy: str, uncleared: bool, number: int, says: str) -> None:
    """What is left to do about it stands in its place; the others stand as they are."""
    page = pages()["TR301"]
    made = advice(page, (), {}, {"stale_pages": policy}, uncleared)
    plain = advice(page, (), {}, {}, uncleared)
    assert says in made.repair[number]
    assert [fix for n, fix in enumerate(made.repair) if n != number] == [
        fix for n, fix in enumerate(plain.repair) if n != number
    ]
    assert made.how == "One is enough"
