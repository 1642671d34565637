"""Where snapshots' rows lie: slot s has the same bytes of the arena for good.

    borrowed     spread evenly over the pool, so that neighbours meet in a page and many slots cover it
    dedicated    one behind the other in the last pages, which nobody else gets

The bytes of two slots never overlap; their pages do. Knows nothing of who holds a page.
"""

from typing import NamedTuple

from tracert.memory.errors import LayoutError
from tracert.memory.layout import KvLayout
from tracert.record.access import ByteRange

_ALIGNED = 16


class RowSpan(NamedTuple):
    """`nbytes` bytes of the arena from `first` on."""

    first: int
    nbytes: int

    def ranges(self, page_bytes: int) -> list[ByteRange]:
        """The same bytes page by page, in order."""
        end = self.first + self.nbytes
        return [
            ByteRange(page, max(self.first - page * page_bytes, 0), min(end - page * page_bytes, page_bytes))
            for page in range(self.first // page_bytes, (end - 1) // page_bytes + 1)
        ]


def row_spans(layout: KvLayout, slots: int, row_bytes: int, *, dedicated: bool = False) -> list[RowSpan]:
    """A span of `row_bytes` for each slot, none in page 0. LayoutError when they do not fit."""
    first, step = layout.page_bytes, -(-row_bytes // _ALIGNED) * _ALIGNED
    room = layout.nbytes - first
    if slots < 1 or slots * step > room:
        raise LayoutError(
            f"{slots} snapshots of {row_bytes} bytes do not fit the {room} bytes of KV pages; ask for 1 to "
            f"{room // step}, or give more pages"
        )
    if dedicated:
        pages = -(-slots * step // layout.page_bytes)
        first = (layout.pages - pages) * layout.page_bytes
    elif slots > 1:
        step = (room - row_bytes) // (slots - 1) // _ALIGNED * _ALIGNED
    return [RowSpan(first + slot * step, row_bytes) for slot in range(slots)]
