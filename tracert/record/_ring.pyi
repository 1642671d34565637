from collections.abc import Sequence
from typing import Any

from tracert.record.ring import Ring

class Writer:
    """See `tracert.record.writer.Writer`."""

    def __init__(self, ring: Ring) -> None: ...
    def emit(
        self,
        kind: int,
        a: int | None,
        b: int | None,
        c: int | None,
        d: int | None,
        e: int | None,
        x: int | None,
        y: int | None,
    ) -> int: ...
    def emit_pages(
        self,
        kind: int,
        c: int | None,
        d: int | None,
        e: int | None,
        x: int | None,
        y: int | None,
        pages: Sequence[int],
        lives: Sequence[int],
    ) -> int: ...
    def emit_pairs(
        self,
        kind: int,
        a: int | None,
        b: int | None,
        c: int | None,
        d: int | None,
        e: int | None,
        x: int | None,
        y: int | None,
        pages: Sequence[int],
        lives: Sequence[int],
    ) -> int: ...
    def emit_words(
        self,
        kind: int,
        a: int | None,
        b: int | None,
        c: int | None,
        d: int | None,
        e: int | None,
        x: int | None,
        y: int | None,
        *parts: Any,
    ) -> int: ...
    def emit_json(
        self,
        kind: int,
        a: int | None,
        b: int | None,
        c: int | None,
        d: int | None,
        e: int | None,
        x: int | None,
        y: int | None,
        text: bytes,
    ) -> int: ...
