"""TR501 without digests: a request's page comes back from a slot that another's page has taken since."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tracert_analysis.report.build import build

from tests.analysis.findings.test_outside import told as all_told
from tests.analysis.history import History, Launched, Page, use
from tests.some import a_few

Read = Callable[[History], list[dict[str, Any]]]
COMPUTE = 1


class Requests:
    """Each request has a row and a page, computes it, and goes to the host and back."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.pages: dict[int, Page] = {}
        self.ends: dict[int, int] = {}
        self._fresh = 1
        self._generations: dict[int, int] = {}

    def begin(self, request: int, end: int = 4) -> None:
        """It computes so many positions of a page."""
        self._enter(request)
        self.computes(request, 0, end)

    def computes(self, request: int, start: int, end: int) -> Launched:
        """A launch of its row."""
        self.ends[request] = end
        generation = self._generations[request]
        return self.history.forward(COMPUTE, use(request, generation, start, end))

    def out(self, request: int, slot: int) -> Launched:
        """Its page goes to the host, and it gives up page and row."""
        page = self.pages.pop(request)
        launch = self.history.moved("offload", COMPUTE, [(slot, *page)])
        self.history.event("preempt", request=request, row=request, step=1, reason="room")
        self.history.release(request, self._generations[request], request)
        self.history.give_back([page], f"request:{request}")
        return launch

    def back(self, request: int, slot: int) -> Launched:
        """It gets another page, and the slot is loaded into it."""
        return self.history.moved("load", COMPUTE, [(slot, *self._enter(request))])

    def _enter(self, request: int) -> Page:
        self._fresh += 1
        (page,) = self.history.alloc([self._fresh], f"request:{request}")
        self.pages[request] = page
        self._generations[request] = self._generations.get(request, 0) + 1
        self.history.acquire(request, self._generations[request], request)
        self.history.publish(COMPUTE, request, self._generations[request], [page])
        return page


def test_two_that_are_swapped_out_to_one_slot(history: History, told: Read, tmp_path: Path) -> None:
    """The second over the first: each loads it back, and the first goes on from what the second computed."""
    requests = Requests(history)
    requests.begin(1, 3)
    requests.begin(2, 3)
    lost = requests.out(1, 0)
    over = requests.out(2, 0)
    load = requests.back(1, 0)
    requests.back(2, 0)
    requests.computes(1, 3, 4)
    requests.computes(2, 3, 4)
    (finding,) = told(history)
    assert {
        "code": "TR501",
        "seq": load.seq,
        "confidence": "suspected",
        "sentence": (
            f"launch {load.launch} (load_pages) on compute loads slot 0 of the host tier into page 4.1 of "
            f"request 1, whose page 2.1 had been offloaded there at event {lost.seq}; since then launch "
            f"{over.launch} (offload_pages) on compute has offloaded page 3.1 of request 2 to it, which that "
            "request alone had, and no match gave it to request 1"
        ),
        "resource_kind": "page",
        "resource_id": 4,
        "life": 1,
        "request": 1,
        "launch": load.launch,
        "other_launch": over.launch,
        "other_seq": over.seq,
    }.items() <= finding.items()
    report = build(history.read(tmp_path))
    assert report.sentence.startswith("Suspected only: two requests may have the same tokens, of which")
    assert [fix for fix in report.verdict.fix if fix.startswith("Forget the name of a host slot when")]


SOUND = ("match", "cached", "shared", "copied", "again", "taken back", "next turn")


@pytest.mark.parametrize("case", SOUND)
def test_what_another_put_into_the_slot_may_be_meant(history: History, told: Read, case: str) -> None:
    """Where the request can know that it is what it wants, or does not use it; and where it is its own."""
    requests = Requests(history)
    requests.begin(1)
    requests.begin(2)
    own = requests.pages[1], requests.pages[2]
    if case == "cached":
        history.hold([own[1]], "prefix:7")
    if case == "shared":
        history.hold([own[1]], "request:1")
        history.drop([own[1]], "request:1", "read")
    if case == "copied":
        # Of the same beginning.
        history.copy(COMPUTE, [[*own[0], 0, 2]], [[*own[1], 0, 2]])
    if case == "next turn":
        # Request 1 had never anything there.
        requests.out(1, 1)
    else:
        requests.out(1, 0)
    if case == "taken back":
        requests.back(1, 0)
        requests.computes(1, 4, 4)
        requests.out(1, 1)
    requests.out(2, 0)
    if case == "match":
        history.event("match", request=1, node=1, digest="0" * 16, identity=1, hit_tokens=4, pages=[])
    requests.back(1, 0)
    if case == "again":
        requests.computes(1, 0, 4)
    requests.computes(1, 3, 4)
    assert [] == [found for found in told(history) if found["code"] == "TR501"]


def swapped(seed: int) -> tuple[History, set[int]]:
    """Requests that go out to random slots and come back; and the loads that bring one another's page."""
    draw = random.Random(seed)
    history = History(kv_pages=64)
    history.clear(COMPUTE)
    requests = Requests(history)
    slots: dict[int, int] = {}
    """Whose bytes each slot has."""
    out: dict[int, int] = {}
    spoiled: set[int] = set()
    broken = set()
    for request in range(1, 5):
        requests.begin(request, 1)
    for _ in range(24):
        request = draw.randint(1, 4)
        if request in out:
            slot = out.pop(request)
            load = requests.back(request, slot)
            if slots[slot] not in (request, 0):
                broken.add(load.seq)
                spoiled.add(request)
            if slots[slot] == 0:
                spoiled.add(request)
            requests.computes(request, 1, 2)
        else:
            slot = draw.choice([request, request, draw.randint(1, 4)])
            requests.out(request, slot)
            # What is another's already, and what comes of that, is told where it began.
            slots[slot] = 0 if request in spoiled else request
            out[request] = slot
    return history, broken


@pytest.mark.parametrize("seed", a_few(1, range(20)))
def test_swapped_requests_agree_with_brute_force(tmp_path: Path, seed: int) -> None:
    """Every load that brings another's page is told of, and no other."""
    history, broken = swapped(seed)
    found = all_told(history.read(tmp_path))
    assert broken == {row["seq"] for row in found if row["code"] == "TR501"}


def test_some_are_broken_and_some_are_not() -> None:
    """Or the test above would prove nothing."""
    broken = [bool(swapped(seed)[1]) for seed in range(20)]
    assert True in broken
    assert False in broken
