"""Rings for tests: made, told, read back."""

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.record.telling import GEOMETRY
from tracert.record.decode import events
from tracert.record.image import Image, read
from tracert.record.layout import COUNTERS_AT, HEADER_SIZE, Geometry, Header
from tracert.record.ring import Ring, native_writer
from tracert.record.ring_recorder import RingRecorder

WRITERS = [False, True] if native_writer() else [False]
"""Values of `native` to test with."""

_numbers = itertools.count()


def new_recorder(
    folder: Path, geometry: Geometry = GEOMETRY, *, native: bool = False, **about: Any
) -> RingRecorder:
    """A recorder over a new ring in the folder."""
    return RingRecorder(Ring.create(folder / f"{next(_numbers)}.ring", geometry, about, native=native))


def events_of(source: RingRecorder | Image) -> list[dict[str, Any]]:
    """The events, without their times."""
    image = read(source.ring.path) if isinstance(source, RingRecorder) else source
    return [{name: value for name, value in event.items() if name != "t"} for event in events(image)]


def disown(path: Path) -> None:
    """Make the ring in this file one of another boot, whose process is gone."""
    with path.open("r+b") as file:
        header = Header.unpack(file.read(HEADER_SIZE))
        file.seek(0)
        file.write(replace(header, boot_id="another", pid=2**22 + 1).pack()[:COUNTERS_AT])
