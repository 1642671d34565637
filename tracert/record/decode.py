"""Ring image -> columns -> events, by the schema that the ring carries.

`decode_columns` gives numpy arrays a kind; `decode` and `events` make of them what a dump holds, in seq
order. Knows the schema's forms, not what a kind means.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from tracert.record.image import Image
from tracert.record.schema import (
    ABSENT32,
    ABSENT64,
    FORM_JSON,
    FORM_WORDS,
    WORDS_A_SLOT,
    Field,
    Kind,
)
from tracert.record.whole import Index, ragged

BATCH = 1 << 14
"""Events decoded at a time: their dictionaries are what costs memory."""
HOLDER_MAX = (1 << 55) - 1

Event = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Values:
    """A field of all events of a kind. `present` is None when every event has it."""

    field: Field
    values: NDArray[Any]
    present: NDArray[np.bool_] | None


@dataclass(frozen=True, slots=True)
class Rows:
    """A section of all events of a kind: event i has `items[offsets[i]:offsets[i + 1]]`, int64 [n, width].

    -1 is an absent number; text columns are indices into the image's words.
    """

    columns: tuple[str, ...]
    offsets: Index
    items: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Columns:
    """All events of one kind, in seq order."""

    kind: Kind
    position: Index
    """Where each event stands among those asked for."""
    seq: NDArray[np.uint64]
    t: NDArray[np.uint64]
    fields: dict[str, Values]
    sections: dict[str, Rows]
    texts: list[bytes] = field(default_factory=list)
    """JSON objects to merge, when the kind has them."""


def decode_columns(image: Image, heads: Index | None = None) -> dict[str, Columns]:
    """The events in the slots `heads` (by default all of the image) as columns, by the name of their kind.

    A holder's value is its number shifted left by 8, with the word of its kind in the low bits.
    """
    if heads is None:
        heads = image.heads
    codes = image.slots["kind"][heads]
    kinds = image.schema.by_code()
    found = {}
    for code in np.unique(codes).tolist():
        kind = kinds.get(code) or Kind(f"unknown-{code}", code, ())
        chosen = np.flatnonzero(codes == code)
        found[kind.name] = _columns(image, kind, heads[chosen], chosen)
    return found


def decode(image: Image, heads: Index) -> list[Event]:
    """The events in the slots `heads`, in that order, as a dump has them."""
    found: list[Event] = [{}] * len(heads)
    for columns in decode_columns(image, heads).values():
        for position, event in zip(columns.position.tolist(), _events(image, columns), strict=True):
            found[position] = event
    return found


def events(image: Image) -> Iterator[Event]:
    """Every event of the image in seq order."""
    for start in range(0, len(image.heads), BATCH):
        yield from decode(image, image.heads[start : start + BATCH])


def _columns(image: Image, kind: Kind, heads: Index, position: Index) -> Columns:
    slots = image.slots[heads]
    form = slots["flags"] & 3
    counts = np.where(form == FORM_WORDS, slots["count"], 0).astype(np.int64)
    words, starts = _words(image, heads, counts)
    fields = {}
    for item in kind.fields:
        fields[item.name] = _values(item, kind, slots, words, starts, counts)
    sections = {}
    at = starts + kind.lead_words
    end = starts + counts
    for section in kind.sections:
        columns = image.schema.shapes[section.shape]
        width = len(columns)
        if section.count == "rest":
            number = np.maximum(end - at, 0) // width
        elif section.count.startswith("w"):
            number = _single(words, starts, counts, int(section.count[1:]))
        else:
            number = slots[section.count].astype(np.int64)
        number = np.clip(number, 0, np.maximum(end - at, 0) // width)
        items = words[ragged(at, number * width)].reshape(-1, width)
        offsets = np.zeros(len(heads) + 1, np.int64)
        np.cumsum(number, out=offsets[1:])
        sections[section.name] = Rows(columns, offsets, items)
        at = at + number * width
    texts = []
    if bool((form == FORM_JSON).any()):
        texts = [image.payload_bytes(place) for place in heads.tolist()]
    return Columns(kind, position, slots["seq"], slots["t"], fields, sections, texts)


def _words(image: Image, heads: Index, counts: Index) -> tuple[NDArray[np.int64], Index]:
    """The payload words of all events one after the other, and where each one's begin."""
    used = -(-counts // WORDS_A_SLOT)
    follow = ragged(heads + 1, used) & image.header.geometry.mask
    block = image.slots.view(np.uint32).reshape(-1, 16)[follow, :WORDS_A_SLOT].reshape(-1)
    first = (np.cumsum(used) - used) * WORDS_A_SLOT
    words = block[ragged(first, counts)].astype(np.int64)
    words[words == ABSENT32] = -1
    return words, np.cumsum(counts) - counts


def _single(words: NDArray[np.int64], starts: Index, counts: Index, index: int) -> NDArray[np.int64]:
    """Payload word `index` of every event, 0 where the payload is shorter."""
    there = counts > index
    values = np.zeros(len(starts), np.int64)
    values[there] = words[starts[there] + index]
    return values


def _values(
    item: Field,
    kind: Kind,
    slots: NDArray[np.void],
    words: NDArray[np.int64],
    starts: Index,
    counts: Index,
) -> Values:
    present: NDArray[np.bool_]
    if item.slot.startswith("w"):
        values: NDArray[Any] = _single(words, starts, counts, int(item.slot[1:]))
        present = values >= 0
    else:
        values = slots[item.slot]
        present = values != (ABSENT64 if item.slot in "xy" else ABSENT32)
    if item.type == "flag":
        present = present & (values != 0)
    if item.type == "holder":
        number = (slots["x"] & np.uint64(HOLDER_MAX)).astype(np.int64)
        values = number << 8 | values.astype(np.int64) & 0xFF
    if kind.single and item.slot in "ab":
        present = present & (counts == 0)
    return Values(item, values, None if bool(present.all()) else present)


def _events(image: Image, columns: Columns) -> list[Event]:
    """The events of one kind."""
    names = ["seq", "t", "kind"]
    count = len(columns.seq)
    values: list[list[Any]] = [columns.seq.tolist(), columns.t.tolist(), [columns.kind.name] * count]
    if columns.kind.by_host:
        names.append("actor")
        values.append(["host"] * count)
    present: list[NDArray[np.bool_] | None] = [None] * len(names)
    for name, column in columns.fields.items():
        names.append(name)
        values.append(_plain(column, image.words))
        present.append(column.present)
    if columns.kind.sections:
        for name, rows in _sections(columns, image.words).items():
            names.append(name)
            values.append(rows)
            present.append(_worth_showing(columns, name))
    if all(each is None for each in present):
        found = [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)]
    else:
        found = _with_gaps(names, values, present)
    if columns.texts:
        for event, text in zip(found, columns.texts, strict=True):
            event.update(_object(text))
    return found


def _object(text: bytes) -> Event:
    """A payload's fields. A ring without checksums may give text that is none."""
    try:
        found = orjson.loads(text) if text else {}
    except orjson.JSONDecodeError:
        found = None
    return found if isinstance(found, dict) else {"unreadable": True}


def _with_gaps(
    names: list[str], values: list[list[Any]], present: list[NDArray[np.bool_] | None]
) -> list[Event]:
    """As `dict(zip(...))` a row, each set of present fields at a time."""
    count = len(values[0])
    pattern = np.zeros(count, np.int64)
    for index, each in enumerate(present):
        if each is not None:
            pattern |= (~each).astype(np.int64) << index
    found: list[Event] = [{}] * count
    for gaps in np.unique(pattern).tolist():
        chosen = np.flatnonzero(pattern == gaps).tolist()
        kept = [index for index in range(len(names)) if not gaps >> index & 1]
        keys = [names[index] for index in kept]
        rows = zip(*([values[index][place] for place in chosen] for index in kept), strict=True)
        for place, row in zip(chosen, rows, strict=True):
            found[place] = dict(zip(keys, row, strict=True))
    return found


def _worth_showing(columns: Columns, name: str) -> NDArray[np.bool_] | None:
    """A list is shown unless the event said the same in fields: one page, or all pages."""
    if columns.kind.single:
        return np.diff(columns.sections[name].offsets) > 0
    everything = columns.fields.get("all")
    if everything is not None:
        return ~_there(everything)
    return None


def _there(column: Values) -> NDArray[np.bool_]:
    return np.ones(len(column.values), np.bool_) if column.present is None else column.present


def _plain(column: Values, words: list[str]) -> list[Any]:
    """A field's values as a dump writes them."""
    plain: list[Any] = column.values.tolist()
    match column.field.type:
        case "text":
            return [_text(words, index) for index in plain]
        case "hex":
            return [f"{value:016x}" for value in plain]
        case "flag":
            return [True] * len(plain)
        case "holder":
            return [f"{_text(words, value & 0xFF)}:{value >> 8}" for value in plain]
    return plain


def _text(words: list[str], index: int) -> str:
    return words[index] if 0 <= index < len(words) else "unknown"


def _sections(columns: Columns, words: list[str]) -> dict[str, list[Any]]:
    """Every section as one list an event."""
    if columns.kind.name == "keyframe":
        return {"pages": _keyframe_pages(columns.sections["pages"], columns.sections["holders"], words)}
    return {name: _cut(rows.offsets, _items(rows, words)) for name, rows in columns.sections.items()}


def _items(rows: Rows, words: list[str]) -> list[Any]:
    """Rows as lists; as texts when that is all they have; as objects when their columns have texts."""
    names = [column.partition(":")[0] for column in rows.columns]
    texts = [column.endswith(":text") for column in rows.columns]
    if not any(texts):
        plain: list[Any] = rows.items.tolist()
        return plain
    if len(names) == 1:
        return [_text(words, index) for index in rows.items[:, 0].tolist()]
    listed: list[list[Any]] = rows.items.T.tolist()
    for index, is_text in enumerate(texts):
        if is_text:
            listed[index] = [_text(words, word) for word in listed[index]]
    return [dict(zip(names, row, strict=True)) for row in zip(*listed, strict=True)]


def _keyframe_pages(pages: Rows, holders: Rows, words: list[str]) -> list[list[Event]]:
    """Pages of a keyframe with their holders, as `request:17/write`."""
    held = [
        f"{_text(words, kind)}:{number}/{_text(words, mode)}" for kind, number, mode in holders.items.tolist()
    ]
    found = []
    for index in range(len(pages.offsets) - 1):
        at = int(holders.offsets[index])
        event = []
        for page, life, state, count in pages.items[pages.offsets[index] : pages.offsets[index + 1]].tolist():
            entry = {
                "page": page,
                "life": life,
                "state": _text(words, state),
                "holders": held[at : at + count],
            }
            event.append(entry)
            at += count
        found.append(event)
    return found


def _cut(offsets: Index, items: list[Any]) -> list[list[Any]]:
    bounds = offsets.tolist()
    return [items[start:end] for start, end in pairwise(bounds)]
