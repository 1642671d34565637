"""A ring as a dump, its events read straight from the records by the schema that the ring carries.

Gives the same rows as the lines of the dump that `tracert recover` would write, and neither writes nor parses
these. Rare events (a JSON payload, keyframes, kinds that the schema lacks) are decoded to lines, and read as
such.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from tracert.record.decode import decode
from tracert.record.dump import head, write_image
from tracert.record.errors import RecordError
from tracert.record.image import read
from tracert.record.layout import SLOT
from tracert.record.lines import are_plain, plain_kinds
from tracert.record.schema import Kind
from tracert_analysis.columns import LISTS, NUMBER, Column, place_of
from tracert_analysis.families import KINDS, TABLES
from tracert_analysis.frame import STATES, DumpError, Frame, header_of, object_of
from tracert_analysis.lines import Lines, spool

_TYPES = {"int": 0, "text": 1, "hex": 2, "flag": 3, "holder": 4}
_REST, _IN_RECORD, _IN_PAYLOAD = range(3)
"""As `native/records.h` numbers them."""


PART_EVENTS = 1 << 18
"""So many are read before they go to the tables."""

Slots = NDArray[np.int64]


class Ring:
    """The ring file at `path`, whose writer may be alive. DumpError when it can't be read."""

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        try:
            self._image = read(path, copy=False)
        except RecordError as error:
            raise DumpError(str(error)) from None

    def frame(self) -> Frame:
        """What would stand around the events."""
        first, *rest = head(self._image)
        states: dict[str, list[bytes]] = {kind: [] for kind in STATES}
        for line in rest:
            states[object_of(line)["kind"]].append(line)
        return Frame(header_of(self.name, first), states, len(self._image.heads), True, False)

    def parts(self) -> list[Slots]:
        """The slots of the events in parts, an even number of them unless it is one."""
        heads = self._image.heads
        count = 1 if len(heads) < PART_EVENTS else 2 * -(-len(heads) // (2 * PART_EVENTS))
        bounds = [number * len(heads) // count for number in range(count + 1)]
        return [heads[begin:end] for begin, end in pairwise(bounds)]

    def reader(self, tables: Sequence[tuple[Column, ...]]) -> Callable[[Any, Slots], None]:
        """Reads a part into the tables of a `tracert_analysis._events.Events`, which have these columns."""
        image, place, rest = self._image, dict(KINDS), len(TABLES) - 1
        plan = tuple(
            _layout(kind, tables[place.get(kind.name, rest)], image.schema.shapes)
            for kind in plain_kinds(image)
        )
        words = tuple(image.words)

        def read_part(events: Any, part: Slots) -> None:
            plain = are_plain(image, part)
            events.records(image.slots, np.ascontiguousarray(part[plain]), plan, words)
            events.lines_of_text(b"\n".join(map(orjson.dumps, decode(image, part[~plain]))))
            self._expect_still()

        return read_part

    def lines(self) -> Lines:
        """The dump, written."""
        file = spool()
        write_image(file, self._image)
        file.flush()
        self._expect_still()
        return Lines(self.name, file)

    def _expect_still(self) -> None:
        """DumpError when what was just read may not be what was judged."""
        if self._image.has_moved:
            raise DumpError(
                f"{self.name} is being written by a process that can't be seen from here, of another "
                "container maybe: read what `tracert recover` makes of it"
            )


def _layout(kind: Kind, columns: tuple[Column, ...], shapes: dict[str, tuple[str, ...]]) -> tuple[Any, ...]:
    """A kind as `native/plan.c` reads it."""
    fields = []
    for field in kind.fields:
        where = -1 - int(field.slot[1:]) if field.slot.startswith("w") else _offset(field.slot)
        place = place_of(columns, field.name, NUMBER)
        fields.append((place, where, field.slot in "xy", _TYPES[field.type]))
    sections = []
    for section in kind.sections:
        if section.count == "rest":
            count = (_REST, 0)
        elif section.count.startswith("w"):
            count = (_IN_PAYLOAD, int(section.count[1:]))
        else:
            count = (_IN_RECORD, _offset(section.count))
        place = place_of(columns, section.name, LISTS)
        members = columns[place].children[0].children if place >= 0 else ()
        words = tuple(_word(word, members) for word in shapes[section.shape])
        sections.append((place, *count, words))
    head = (kind.code, kind.name.encode(), kind.by_host, kind.lead_words, kind.single)
    return *head, tuple(fields), tuple(sections)


def _word(word: str, members: Sequence[Column]) -> tuple[int, bool]:
    """The place of a row's word in a struct with these members, -1 for none, and whether it is a text."""
    name = word.removesuffix(":text")
    names = [member.name for member in members]
    return (names.index(name) if name in names else -1), name != word


def _offset(slot: str) -> int:
    assert SLOT.fields is not None
    return int(SLOT.fields[slot][1])
