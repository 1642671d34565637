from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

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

def whole(
    slots: NDArray[np.void],
    seqs: NDArray[np.uint64] | None,
    checked: bool,
    first: NDArray[np.int64],
    last: NDArray[np.int64],
) -> int:
    """Fills in the seqs of whole records and returns how many there are; see `tracert.record.whole`."""

def lines(
    slots: NDArray[np.void],
    heads: NDArray[np.int64],
    plan: list[tuple[Any, ...]],
    words: list[bytes],
    given_at: NDArray[np.int64],
    given: list[bytes],
) -> bytes:
    """Events as JSON lines; see `tracert.record.lines`."""
