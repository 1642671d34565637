"""What is missing from a history makes findings fewer or weaker, and adds none that is sure.

A history that starts late or ends early has no other findings than the whole. One with torn records may lack
the very act that made something right: what it adds is suspected, no more. So is what stands beside events of
kinds that nobody knows.
"""

import random
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import pytest
from tracert_analysis import library
from tracert_analysis.load import open_dump

from tests.analysis.findings.firing import firing
from tests.analysis.findings.test_rules import FAULTS, Copying, renumbered
from tests.analysis.history import History, use
from tests.some import a_few


class Finding(NamedTuple):
    """What a finding is about, and how sure it is."""

    code: str
    about: tuple[Any, ...]
    confidence: str


def served(fault: str, seed: int) -> History:
    """A served history with a fault, with keyframes so that it may begin anywhere."""
    draw = random.Random(f"{fault} {seed}")
    history = History(kv_pages=20)
    serving = Copying(history, seed, poison=seed % 2 == 0, keyframe_steps=3)
    serving.start()
    for _ in range(24):
        serving.step()
    FAULTS[fault](history, draw)
    return renumbered(history)


def late(history: History, draw: random.Random) -> None:
    """The ring has lost its beginning."""
    del history.events[: draw.randint(1, len(history.events) * 2 // 3)]
    history.header["ring"] |= {"first_seq": history.events[0]["seq"], "lost": history.events[0]["seq"] - 1}


def early(history: History, draw: random.Random) -> None:
    """The process died in the middle."""
    del history.events[draw.randint(20, len(history.events)) :]
    history.header["reason"] = "killed"


def torn(history: History, draw: random.Random) -> None:
    """Some records were being written when it died, each at another place."""
    gone = draw.sample(history.events, draw.randint(1, min(8, len(history.events) // 3)))
    history.events = [event for event in history.events if event not in gone]
    history.header["ring"] |= {"torn": len(gone), "torn_seqs": sorted(event["seq"] for event in gone)}


def strange(history: History, draw: random.Random) -> None:
    """Some events are told as kinds of a later version."""
    for event in draw.sample(history.events, draw.randint(1, min(8, len(history.events) // 3))):
        event["kind"] += "_of_a_later_version"


def newer(history: History, draw: random.Random) -> None:
    """Beside the known events stand some that only a later version understands."""
    for number in range(draw.randint(1, 6)):
        place = draw.randint(0, len(history.events))
        about = {"page": draw.randint(0, 19), "life": 1, "row": 0, "request": 1, "notes": ["?"]}
        event = {"seq": -number, "t": 0, "kind": "of_a_later_version", "actor": "host", **about}
        history.events.insert(place, event)
    renumbered(history)


DAMAGE = {"late": late, "early": early, "torn": torn, "strange": strange, "newer": newer}
GUESSES = ("torn", "strange")
"""Here an event is gone, and nothing tells what it was."""
SERVED = [(fault, damage, seed) for seed in range(3) for damage in DAMAGE for fault in FAULTS]


def findings(history: History, folder: Path) -> list[Finding]:
    """The findings of a history."""
    rows = history.read(folder, macros=False).connection.execute(
        "SELECT code, resource_kind, resource_id, life, confidence FROM finding"
    )
    return [Finding(code, tuple(about), confidence) for code, *about, confidence in rows.fetchall()]


def added(whole: set[tuple[str, tuple[Any, ...]]], found: list[Finding], damage: str) -> list[Finding]:
    """What the damaged history tells of beyond the whole one, and surer than it may."""
    return [
        one
        for one in found
        if (one.code, one.about) not in whole and not (damage in GUESSES and one.confidence == "suspected")
    ]


@pytest.mark.parametrize("case", a_few(5, SERVED[:: len(FAULTS) + 1] + SERVED))
def test_damage_adds_no_finding(tmp_path: Path, case: tuple[str, str, int]) -> None:
    """Whatever is missing: what the whole history has not is suspected at most."""
    fault, damage, seed = case
    history = served(fault, seed)
    whole = {(one.code, one.about) for one in findings(history, tmp_path)}
    DAMAGE[damage](history, random.Random(f"{damage} {seed}"))
    assert [] == added(whole, findings(history, tmp_path), damage)


FIRED = [
    (code, damage, seed)
    for seed in range(4)
    for damage in ("torn", "strange", "newer")
    for code in library.FINDINGS
]


@pytest.mark.parametrize("case", a_few(3, FIRED[:: len(library.FINDINGS) + 3] + FIRED))
def test_damage_weakens_each_finding(tmp_path: Path, case: tuple[str, str, int]) -> None:
    """The smallest history of each code: what is left of it, or comes of it, is as sure as it may be."""
    code, damage, seed = case
    history = firing(code)
    whole = {(one.code, one.about) for one in findings(history, tmp_path)}
    DAMAGE[damage](history, random.Random(f"{damage} {seed}"))
    assert [] == added(whole, findings(history, tmp_path), damage)


@pytest.mark.parametrize("told", ["not at all", "without saying so"])
def test_a_stream_of_which_nobody_says_whether_legacy_orders_it(tmp_path: Path, told: str) -> None:
    """A publish on the legacy stream, and a launch behind it that it may order: suspected, no more."""
    history = History()
    history.clear(1)
    history.sync()
    pages = history.alloc([5], "request:1")
    history.acquire(0, 1, 1)
    history.publish(0, 0, 1, pages)
    history.forward(1, use(0, 1, 0, 4))
    lines = []
    for line in history.lines():
        event = orjson.loads(line)
        if event["kind"] == "stream_state" and event["stream"] == 1:
            if told == "not at all":
                continue
            del event["blocking"]
        lines.append(orjson.dumps(event) + b"\n")
    end = {"kind": "end", "events": len(history.events), "crc32": zlib.crc32(b"".join(lines))}
    path = tmp_path / "dump.jsonl"
    path.write_bytes(b"".join(lines) + orjson.dumps(end) + b"\n")
    dump = open_dump(str(path))
    found = dump.connection.execute("SELECT code, confidence FROM finding").fetchall()
    assert [("TR102", "suspected")] == found
    assert ("whether stream 1 orders itself with the legacy stream is not told",) == dump.evidence.unknown
