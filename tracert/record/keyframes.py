"""Cuts the whole state into the records of one set, none of them longer than a bound. Knows no ring."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from tracert.record.access import Mode
from tracert.record.recorder import Keyframe
from tracert.record.schema import CODE

KEYFRAME_WORDS_MAX = 8192
"""Payload of one `keyframe` event, unless a single page has more holders than that."""


class Part(NamedTuple):
    """A record: kind and slots as `Writer.emit_words` takes them, and the payload behind."""

    slots: tuple[int, ...]
    payload: tuple[Any, ...] = ()


def parts(state: Keyframe, number: int, words_max: int) -> Iterator[Part]:
    """The records of set `number`: pages with their holders, rows, and the end, which says how many."""
    pages: list[tuple[int, int, str, int]] = []
    holders: list[tuple[str, int, Mode]] = []
    for page, life, condition, held in state.pages:
        if 4 * len(pages) + 3 * (len(holders) + len(held)) + 4 > words_max and pages:
            yield _pages(number, pages, holders)
            pages, holders = [], []
        pages.append((page, life, condition, len(held)))
        holders += ((holder.kind, holder.id, mode) for holder, mode in held)
    if pages:
        yield _pages(number, pages, holders)
    for row, generation, request, epoch, entries in state.rows:
        numbered = [(index, page, life) for index, (page, life) in enumerate(entries)]
        yield Part((CODE["keyframe_row"], number, row, generation, epoch, 0, request, 0), (numbered,))
    yield Part((CODE["keyframe_end"], number, len(state.pages), len(state.rows), 0, 0, 0, 0))


def _pages(number: int, pages: list[tuple[int, int, str, int]], holders: list[tuple[str, int, Mode]]) -> Part:
    return Part((CODE["keyframe"], number, len(pages), 0, 0, 0, 0, 0), (pages, holders))
