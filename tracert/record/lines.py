"""The events of an image as JSON lines: in C where it was built, else through `decode`; the same bytes.

What C does not know (JSON payload, keyframes, kinds that the schema lacks) is decoded here and handed in.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from tracert.record.decode import decode
from tracert.record.image import Image
from tracert.record.layout import SLOT
from tracert.record.ring import native_writer
from tracert.record.schema import FORM_JSON, Kind
from tracert.record.whole import Index

BATCH = 1 << 15
"""Events a chunk of lines."""

_TYPES = {"int": 0, "text": 1, "hex": 2, "flag": 3, "holder": 4}
_REST, _SLOT, _WORD = range(3)
_LISTS, _TEXTS, _OBJECTS = range(3)


def lines(image: Image, *, native: bool | None = None) -> Iterator[bytes]:
    """The events in seq order, many lines a chunk. `native` None takes C when it was built."""
    one = _lines_natively if (native_writer() if native is None else native) else _lines
    for start in range(0, len(image.heads), BATCH):
        yield one(image, image.heads[start : start + BATCH])


def _lines(image: Image, heads: Index) -> bytes:
    return b"".join(orjson.dumps(event, option=orjson.OPT_APPEND_NEWLINE) for event in decode(image, heads))


def _lines_natively(image: Image, heads: Index) -> bytes:
    from tracert.record._ring import lines as format_lines

    planned = plain_kinds(image)
    places = np.flatnonzero(~are_plain(image, heads))
    return format_lines(
        image.slots,
        np.ascontiguousarray(heads, np.int64),
        [_plan(kind, image.schema.shapes) for kind in planned],
        [orjson.dumps(word) for word in image.words],
        places,
        [orjson.dumps(event) for event in decode(image, heads[places])],
    )


def plain_kinds(image: Image) -> list[Kind]:
    """Kinds whose records C reads by the schema alone: all but keyframes."""
    return [
        kind
        for kind in image.schema.kinds
        if not any(section.shape.startswith("keyframe_") for section in kind.sections)
    ]


def are_plain(image: Image, heads: Index) -> NDArray[np.bool_]:
    """Which events C reads by the schema alone: those of `plain_kinds` whose payload is no JSON."""
    codes = [kind.code for kind in plain_kinds(image)]
    found: NDArray[np.bool_] = np.isin(image.slots["kind"][heads], codes)
    found &= (image.slots["flags"][heads] & 3) != FORM_JSON
    return found


def _plan(kind: Kind, shapes: dict[str, tuple[str, ...]]) -> tuple[Any, ...]:
    """A kind as `_lines.c` reads it."""
    fields = []
    for field in kind.fields:
        where = -1 - int(field.slot[1:]) if field.slot.startswith("w") else _offset(field.slot)
        fields.append((_key(field.name), where, field.slot in "xy", _TYPES[field.type]))
    sections = []
    for section in kind.sections:
        names = [column.removesuffix(":text") for column in shapes[section.shape]]
        is_text = [column.endswith(":text") for column in shapes[section.shape]]
        style = _LISTS if not any(is_text) else _TEXTS if len(names) == 1 else _OBJECTS
        if section.count == "rest":
            count = (_REST, 0)
        elif section.count.startswith("w"):
            count = (_WORD, int(section.count[1:]))
        else:
            count = (_SLOT, _offset(section.count))
        keys = [(orjson.dumps(name) + b":", text) for name, text in zip(names, is_text, strict=True)]
        sections.append((_key(section.name), *count, style, keys))
    begin = b',"kind":' + orjson.dumps(kind.name) + (b',"actor":"host"' if kind.by_host else b"")
    return kind.code, begin, kind.lead_words, kind.single, fields, sections


def _key(name: str) -> bytes:
    return b"," + orjson.dumps(name) + b":"


def _offset(slot: str) -> int:
    assert SLOT.fields is not None
    return int(SLOT.fields[slot][1])
