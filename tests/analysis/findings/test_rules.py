"""Findings against the rules in plain Python, on served histories in which some acts are missing or moved."""

import random
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.findings.rules import Rules
from tests.analysis.history import History
from tests.analysis.serving import COMPUTE, TRANSFER, Serving
from tests.some import a_few

CODES = {
    "TR101": "resource_id, life",
    "TR102": "row, generation",
    "TR201": "resource_id, life",
    "TR202": "resource_id, life",
    "TR203": "resource_id, life",
    "TR204": "coalesce(request, -resource_id)",
    "TR401": "row, generation",
    "TR402": "row, generation",
    "TR403": "row, generation",
}


class Copying(Serving):
    """Now and then the transfer stream copies a page to another, in order with compute on both sides."""

    def step(self) -> None:
        """As always, with a copy before it."""
        if len(self.running) > 1 and self.draw.random() < 0.4:
            source, target = (request.pages[-1] for request in self.draw.sample(self.running, 2))
            self.history.order(COMPUTE, TRANSFER)
            self.history.copy(TRANSFER, [[*source, 0, self.size]], [[*target, 0, self.size]])
            self.history.order(TRANSFER, COMPUTE)
        super().step()


def without(kind: str, *, every: bool = False) -> Callable[[History, random.Random], None]:
    """Some events of the kind, or all, never happened."""

    def plant(history: History, draw: random.Random) -> None:
        events = [event for event in history.events if event["kind"] == kind]
        for event in draw.sample(events, len(events) if every else draw.randint(1, 3)):
            history.events.remove(event)

    return plant


def published_elsewhere(history: History, draw: random.Random) -> None:
    """Some publishes go to the legacy stream."""
    for event in history.events:
        if event["kind"] == "publish" and draw.random() < 0.2:
            event["stream"] = 0
    _counted(history)


def given_back_early(history: History, draw: random.Random) -> None:
    """A drop and the release behind it come some events too early."""
    places = [place for place, event in enumerate(history.events) if event["kind"] == "free"]
    place = draw.choice(places)
    moved = [history.events.pop(place)]
    if history.events[place - 1]["kind"] == "drop":
        moved.insert(0, history.events.pop(place - 1))
    target = max(5, place - draw.randint(10, 60))
    history.events[target:target] = moved


def entries_mixed_up(history: History, draw: random.Random) -> None:
    """A publish names the pages of another."""
    publishes = [event for event in history.events if event["kind"] == "publish"]
    for event in draw.sample(publishes, 2):
        other = draw.choice(publishes)["entries"]
        event["entries"] = [[index, *draw.choice(other)[1:]] for index, _, _ in event["entries"]]


def walked_too_far(history: History, draw: random.Random) -> None:
    """Some launches follow entries behind those that they need, and some compute positions there."""
    launches = [event for event in history.events if event.get("uses")]
    for event in draw.sample(launches, 5):
        one = draw.choice(event["uses"])
        one["walked"] += draw.randint(1, 3)
        if draw.random() < 0.4:
            one["end"] = one["walked"] * history.header["config"]["page_size"]


def published_late(history: History, draw: random.Random) -> None:
    """Publishes are done once more by their old handles, some events behind the next tenancy's first."""
    publishes = [event for event in history.events if event["kind"] == "publish"]
    theirs = {(event["row"], event["generation"]): event["seq"] for event in reversed(publishes)}
    for number, event in enumerate(draw.sample(publishes, 8)):
        seq = theirs.get((event["row"], event["generation"] + 1))
        if seq is not None:
            place = next(place for place, other in enumerate(history.events) if other["seq"] == seq)
            history.events.insert(place + draw.randint(1, 12), {**event, "seq": -number})
    _counted(history)


def used_late(history: History, draw: random.Random) -> None:
    """A lane of an ended request goes on in a launch of the next tenancy, in its place or beside it."""
    launches = [event for event in history.events if event.get("uses")]
    for event in draw.sample(launches, 4):
        one = draw.choice(event["uses"])
        former = {**one, "generation": max(1, one["generation"] - 1)}
        if draw.random() < 0.5:
            event["uses"] = [former if other is one else other for other in event["uses"]]
        else:
            event["uses"] = [*event["uses"], former]


def _counted(history: History) -> None:
    """Ordinals again, in the order of the events; launches, too."""
    count: dict[int, int] = defaultdict(int)
    launches = 0
    for event in history.events:
        if event["kind"] in ("launch", "publish", "copy", "clear"):
            count[event["stream"]] += 1
            event["ordinal"] = count[event["stream"]]
            launches += 1
            event["launch"] = launches
        elif event["kind"] == "fence_record":
            event["ordinal"] = count[event["stream"]]


def renumbered(history: History) -> History:
    """Events in the order in which they stand, numbered anew; waits still name their records."""
    numbers = {event["seq"]: place for place, event in enumerate(history.events, 1)}
    for event in history.events:
        event["seq"] = numbers[event["seq"]]
        if "record_seq" in event:
            event["record_seq"] = numbers.get(event["record_seq"], 0)
    history.seq = len(history.events)
    return history


FAULTS = {
    "sound": lambda history, draw: None,
    "no wait": without("fence_wait"),
    "no waits": without("fence_wait", every=True),
    "not learned": without("fence_passed"),
    "never learned": without("fence_passed", every=True),
    "no publish": without("publish"),
    "no hold": without("hold"),
    "no drop": without("drop"),
    "no alloc": without("alloc"),
    "elsewhere": published_elsewhere,
    "early": given_back_early,
    "mixed up": entries_mixed_up,
    "no map": without("map"),
    "too far": walked_too_far,
    "published late": published_late,
    "used late": used_late,
}


def served(fault: str, seed: int) -> History:
    """A served history with the fault."""
    draw = random.Random(f"{fault} {seed}")
    history = History(kv_pages=20)
    serving = Copying(history, seed, poison=seed % 2 == 0)
    serving.start()
    for _ in range(30):
        serving.step()
    FAULTS[fault](history, draw)
    return renumbered(history)


@pytest.mark.parametrize("seed", a_few(1, range(4)))
@pytest.mark.parametrize("fault", FAULTS)
def test_findings_agree_with_the_rules(tmp_path: Path, fault: str, seed: int) -> None:
    """The same resources, each at the same event."""
    history = served(fault, seed)
    connection = history.read(tmp_path, macros=False).connection
    found: dict[str, set[tuple[Any, ...]]] = {}
    for code, resource in CODES.items():
        rows = connection.execute(f"SELECT {resource}, seq FROM finding WHERE code = ?", [code]).fetchall()
        if rows:
            found[code] = set(rows)
    assert Rules(history).broken() == found


def test_the_faults_break_every_rule() -> None:
    """None of the codes is compared on sound histories only, and the sound ones are sound."""
    broken = {
        fault: {code for seed in range(4) for code in Rules(served(fault, seed)).broken()} for fault in FAULTS
    }
    assert set() == broken["sound"]
    assert set(CODES) == set().union(*broken.values())
