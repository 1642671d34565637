"""What a report tells of the execution workspace."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LiveBlock:
    """Bytes of the workspace that a launch has and has not given back; `age` in launches."""

    launch: int
    kernel: str | None
    phase: str | None
    step: int | None
    state: str | None
    """Of the launch at the end: finished, running, waiting."""
    request: int | None
    request_id: str | None
    offset: int
    nbytes: int
    age: int
    seq: int
    """Event that took it."""
    free_seq: int | None
    """Event that gave it back after all."""


@dataclass(frozen=True, slots=True)
class Scratch:
    """What a launch planned and took of the workspace, and gave back of it until the end, in bytes."""

    launch: int
    kernel: str | None
    phase: str | None
    step: int | None
    state: str | None
    """At the end: finished, running, waiting."""
    planned: int | None
    room: int | None
    """The largest when it was planned."""
    taken: int | None
    given_back: int | None
    kept: int | None


@dataclass(frozen=True, slots=True)
class KeptBlocks:
    """Of a launch that ended and kept scratch: its blocks in the order in which it took them."""

    launch: int
    blocks: tuple[tuple[int, int, int | None], ...]
    """Bytes, offset, and the event that gave it back, if one did."""
    alike: int
    """Other launches of its kernel that took as many blocks and had ended."""
    whole: int
    """Of these, those that gave back all."""
    query: int


@dataclass(frozen=True, slots=True)
class WorkspaceStory:
    """The execution workspace when `launch` was enqueued, in bytes; `room` is the largest piece free then."""

    launch: int
    capacity: int | None
    planned: int | None
    room: int | None
    live: tuple[LiveBlock, ...]
    """The oldest first."""
    mask: str | None
    """What would make it go away without mending it."""
    queries: tuple[int, ...] = ()
    room_at: int | None = None
    """Offset at which the largest room begins; None where the live blocks don't tell."""
    scratch: tuple[Scratch, ...] = ()
    """Of every launch that planned or took any, in order."""
    kept: KeptBlocks | None = None
    """Of the first launch that ended and kept some; None where none did."""
