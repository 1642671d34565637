"""Tells a hand-made history to a ring: by the schema alone, whatever the events are.

Numbers of events differ: in a ring a long one takes several. What refers to an event follows.
"""

from typing import Any

import orjson

from tracert.record.ring import Ring
from tracert.record.schema import SCHEMA, Kind
from tracert.record.writer import writer_of

Event = dict[str, Any]


class Retold:
    """Puts events into a ring, one after the other."""

    def __init__(self, ring: Ring) -> None:
        self._ring = ring
        self._writer = writer_of(ring)
        self._kinds = {kind.name: kind for kind in SCHEMA.kinds}
        self._seqs: dict[int, int] = {}
        """Where fences were recorded, by the history's own numbers."""

    def tell(self, event: Event) -> None:
        """Put one event of the history into the ring."""
        kind = self._kinds[event["kind"]]
        if "record_seq" in event:
            event = {**event, "record_seq": self._seqs[event["record_seq"]]}
        rest = set(event) - {"seq", "t", "kind", "actor"} - {field.name for field in kind.fields}
        rest -= {section.name for section in kind.sections}
        (a, b, c, d, e, x, y), words = self._slots(kind, event)
        if rest:
            text = orjson.dumps({name: event[name] for name in rest})
            seq = self._writer.emit_json(kind.code, a, b, c, d, e, x, y, text)
        elif words:
            seq = self._writer.emit_words(kind.code, a, b, c, d, e, x, y, *words)
        else:
            seq = self._writer.emit(kind.code, a, b, c, d, e, x, y)
        if kind.name == "fence_record":
            self._seqs[event["seq"]] = seq

    def _slots(self, kind: Kind, event: Event) -> tuple[list[int | None], list[Any]]:
        """The slots a to e, x and y, and the payload."""
        slots: dict[str, int | None] = dict.fromkeys("abcdexy")
        lead: dict[str, int | None] = {}
        for field in kind.fields:
            value = event.get(field.name)
            if isinstance(value, list):
                continue
            if field.type == "holder" and value is not None:
                name, _, number = value.partition(":")
                slots["x"] = int(number)
                value = self._ring.word(name)
            elif field.type == "text" and value is not None:
                value = self._ring.word(value)
            elif field.type == "hex" and value is not None:
                value = int(value, 16)
            where = lead if field.slot.startswith("w") else slots
            where[field.slot] = None if value is None else int(value)
        rows: list[Any] = []
        for section in kind.sections:
            listed = event.get(section.name) or []
            if section.count != "rest":
                (lead if section.count.startswith("w") else slots)[section.count] = len(listed)
            names = [column.removesuffix(":text") for column in SCHEMA.shapes[section.shape]]
            rows.append([[one.get(n) for n in names] if isinstance(one, dict) else one for one in listed])
        words = [lead[name] for name in sorted(lead)]
        return list(slots.values()), [words, rows] if words or any(rows) else []
