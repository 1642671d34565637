"""Random programs of a host, how to run them on a device, and which orders their fences allow.

The model is written from the rules in words, as a graph over the host's acts, and shares nothing with
the device: an act is a node, and every rule adds arrows from earlier acts to later ones.
"""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import torch
from hypothesis import strategies as st

from tests.device.telling import ACCESS, TellingRecorder
from tracert.device.device import Fence
from tracert.device.simulated import SimDevice

Kind = Literal["launch", "record", "wait", "query", "sync", "sync_stream", "sync_all"]
BLOCKING = (True, True, True, False, False)
"""Stream 0 is the legacy one; 1 and 2 block, 3 and 4 do not."""


class Act(NamedTuple):
    """`fence` counts the records of the program; absent numbers are -1."""

    kind: Kind
    stream: int = -1
    fence: int = -1


Program = Sequence[Act]


@st.composite
def programs(draw: st.DrawFn, *, most: int = 14, synchronising: bool = True) -> list[Act]:
    """Up to `most` acts; fences are waited for only after they were recorded."""
    acts: list[Act] = []
    fences = 0
    kinds: list[Kind] = ["launch", "launch", "launch", "record", "wait"]
    if synchronising:
        kinds += ["query", "sync", "sync_stream", "sync_all"]
    for _ in range(draw(st.integers(2, most))):
        kind = draw(st.sampled_from(kinds))
        stream = draw(st.integers(0, len(BLOCKING) - 1))
        if kind in ("wait", "query", "sync"):
            if not fences:
                continue
            fence = draw(st.integers(0, fences - 1))
            acts.append(Act(kind, stream if kind == "wait" else -1, fence))
        elif kind == "sync_all":
            acts.append(Act(kind))
        else:
            acts.append(Act(kind, stream))
            fences += kind == "record"
    return acts


def before(program: Program) -> list[set[int]]:
    """For every act, the acts that have ended when it ends: the transitive closure of the rules."""
    ended: list[set[int]] = []
    records = [index for index, act in enumerate(program) if act.kind == "record"]
    learnt: set[int] = set()
    for index, act in enumerate(program):
        direct: set[int] = set()
        for earlier in range(index):
            other = program[earlier]
            if other.kind not in ("launch", "record", "wait"):
                continue
            on_device = act.kind in ("launch", "record", "wait", "sync_stream")
            same = on_device and act.stream == other.stream
            legacy = on_device and BLOCKING[act.stream] and BLOCKING[other.stream]
            implicit = legacy and (act.stream == 0 or (other.stream == 0 and act.kind != "sync_stream"))
            if same or implicit or act.kind == "sync_all":
                direct.add(earlier)
        if act.kind in ("wait", "query", "sync"):
            direct.add(records[act.fence])
        closed = direct.union(*(ended[earlier] for earlier in direct))
        if act.kind in ("launch", "record", "wait"):
            closed |= learnt
        if act.kind in ("sync", "sync_stream", "sync_all"):
            learnt |= closed
        ended.append(closed)
    return ended


def launches(program: Program) -> list[int]:
    """Indices of the acts that are launches."""
    return [index for index, act in enumerate(program) if act.kind == "launch"]


def orders(program: Program) -> set[tuple[int, ...]]:
    """Every order of the launches that the rules allow, by enumeration."""
    ended = before(program)

    def extend(done: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        left = [index for index in launches(program) if index not in done]
        if not left:
            yield done
        for index in left:
            if not any(other in ended[index] for other in left):
                yield from extend((*done, index))

    return set(extend(()))


class Ran(NamedTuple):
    """What came out: the launches as they ran, how many had run after each act, and the data."""

    order: tuple[int, ...]
    after: tuple[int, ...]
    answers: tuple[bool, ...]
    data: tuple[int, ...]
    schedule: str
    diverged: int | None


def run(program: Program, schedule: str) -> Ran:
    """Run a program, and a synchronise of all at its end."""
    device = SimDevice(TellingRecorder().as_recorder(), schedule=schedule)
    streams = [device.legacy]
    streams += [device.stream(f"s{index}", blocking=BLOCKING[index]) for index in range(1, len(BLOCKING))]
    memory = device.allocate(8 * 4).view(torch.int64, (4,))
    fences: list[Fence] = []
    order: list[int] = []
    after: list[int] = []
    answers: list[bool] = []

    def work(target: torch.Tensor, index: int) -> None:
        order.append(index)
        target[index % 4] = (target[(index + 1) % 4] * 31 + index) % 1_000_003

    for index, act in enumerate([*program, Act("sync_all")]):
        match act.kind:
            case "launch":
                device.launch(streams[act.stream], work, memory, index, access=ACCESS)
            case "record":
                fences.append(device.record(streams[act.stream]))
            case "wait":
                device.wait(streams[act.stream], fences[act.fence])
            case "query":
                answers.append(device.query(fences[act.fence]))
            case "sync":
                device.sync(fences[act.fence])
            case "sync_stream":
                device.sync_stream(streams[act.stream])
            case "sync_all":
                device.sync_all()
        after.append(len(order))
    data = tuple(device.read(memory).tolist())
    return Ran(tuple(order), tuple(after), tuple(answers), data, device.schedule_string(), device.diverged)
