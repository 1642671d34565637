"""What a launch touches: the declared accesses, and the words for holders.

One launch is one submission of work on a stream. Its access says which event it is recorded as and
what it reads and writes; the device records it, the reader reconstructs pages from it, and a test
checks that kernels touch nothing else.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

Covers = Literal["valid", "page"]
Mode = Literal["read", "write"]


class Holder(NamedTuple):
    """Who holds a page: a kind and a number that is never used again in this process."""

    kind: Literal["request", "prefix", "snapshot", "transfer", "reserved", "checkpoint", "retired", "inbound"]
    id: int

    def __str__(self) -> str:
        return f"{self.kind}:{self.id}"


class Extent(NamedTuple):
    """Token positions `first` up to, not including, `end` of one life of one page."""

    page: int
    life: int
    first: int
    end: int


class ByteRange(NamedTuple):
    """Bytes `first` up to, not including, `end` of one page."""

    page: int
    first: int
    end: int


class RowUse(NamedTuple):
    """How a launch uses a row of the block table.

    It writes the sequence's positions `start..end`, reads `0..end`, and follows the first `walked`
    entries of the row. `covers` says whether the kernel touches valid positions only or whole pages.
    """

    row: int
    generation: int
    start: int
    end: int
    walked: int
    covers: Covers = "valid"


@dataclass(frozen=True, slots=True)
class Compute:
    """A kernel over rows and extents; recorded as `launch`."""

    phase: str
    step: int
    uses: Sequence[RowUse] = ()
    reads: Sequence[Extent] = ()
    writes: Sequence[Extent] = ()
    resources: Sequence[str] = ()
    """Other device memory that the launch touches: `read:logits`, `write:sampled`."""
    content: str = ""
    """What the bytes are that `writes` get, where they are not keys and values: `rows` of a snapshot.

    Recorded as `class`.
    """


@dataclass(frozen=True, slots=True)
class Publish:
    """The copy of a staging buffer to a device row; recorded as `publish`."""

    row: int
    generation: int
    epoch: int
    first: int
    """Index of the first entry written; the entries are contiguous."""
    pages: Sequence[int]
    lives: Sequence[int]
    staging: int


@dataclass(frozen=True, slots=True)
class Copy:
    """Positions of pages copied to positions of pages; recorded as `copy`."""

    source: Sequence[Extent]
    target: Sequence[Extent]


@dataclass(frozen=True, slots=True)
class Clear:
    """Positions of pages set to zero; recorded as `clear`."""

    target: Sequence[Extent]


@dataclass(frozen=True, slots=True)
class Offload:
    """Whole pages copied to slots of the host tier, one to one; recorded as `offload`."""

    pages: Sequence[int]
    lives: Sequence[int]
    slots: Sequence[int]


@dataclass(frozen=True, slots=True)
class Load:
    """Slots of the host tier copied to whole pages, one to one; recorded as `load`."""

    pages: Sequence[int]
    lives: Sequence[int]
    slots: Sequence[int]


Access = Compute | Publish | Copy | Clear | Offload | Load
