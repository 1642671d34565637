"""How token positions lie in the bytes of the arena.

Page-major: the bytes of page p are [layers, 2 (K, V), page_size, kv_heads, head_bytes], so a position of a
page is 2 x layers pieces of bytes, and a page is one piece. A head's vector is head_dim numbers, or in int8
head_dim codes and then their scale, so that a position's scales lie with it. Knows nothing of who holds a
page.
"""

from dataclasses import dataclass
from typing import Any

import torch
from tracert_kernels.kv_types import SCALE_BYTES, stored_width

from tracert.memory.errors import LayoutError
from tracert.record.access import ByteRange

ORDER = ("page", "layer", "key_value", "position", "kv_head", "head_dim")
SMALLEST_PAGE, LARGEST_PAGE = 16, 256


@dataclass(frozen=True, slots=True)
class KvLayout:
    """The shape of a paged KV cache; page 0 is reserved. LayoutError for a shape that cannot be."""

    pages: int
    layers: int
    page_size: int
    """Token positions a page, 16 to 256."""
    kv_heads: int
    head_dim: int
    dtype: torch.dtype
    """What pages hold, whatever the model computes in."""

    def __post_init__(self) -> None:
        if not SMALLEST_PAGE <= self.page_size <= LARGEST_PAGE:
            raise LayoutError(
                f"page size {self.page_size} is not within {SMALLEST_PAGE}..{LARGEST_PAGE} token positions"
            )
        for name in ("layers", "kv_heads", "head_dim"):
            if getattr(self, name) < 1:
                raise LayoutError(f"{name} is {getattr(self, name)}; a KV cache needs at least 1")
        if self.dtype == torch.int8 and self.head_dim % SCALE_BYTES:
            raise LayoutError(
                f"int8 pages need heads of a multiple of {SCALE_BYTES} numbers, so that scales are aligned, "
                f"and these have {self.head_dim}; use another --kv-dtype"
            )
        if self.pages < 2:
            raise LayoutError(
                f"no room for one page: {self.pages} in the cache, and page 0 is reserved; give it 2"
            )

    @property
    def head_width(self) -> int:
        """Elements of `dtype` that one head's key or value takes up."""
        return stored_width(self.head_dim, self.dtype)

    @property
    def head_bytes(self) -> int:
        """Bytes of one head's key or value, a scale included."""
        return self.head_width * self.dtype.itemsize

    @property
    def position_bytes(self) -> int:
        """Bytes of one position in one plane, the key or the value of a layer."""
        return self.kv_heads * self.head_bytes

    @property
    def plane_bytes(self) -> int:
        """Bytes of one plane of a page."""
        return self.page_size * self.position_bytes

    @property
    def page_bytes(self) -> int:
        """Bytes of a page, all layers."""
        return 2 * self.layers * self.plane_bytes

    @property
    def nbytes(self) -> int:
        """Bytes of the arena."""
        return self.pages * self.page_bytes

    @property
    def shape(self) -> tuple[int, int, int, int, int, int]:
        """[pages, layers, 2, page_size, kv_heads, head_width]."""
        return self.pages, self.layers, 2, self.page_size, self.kv_heads, self.head_width

    def byte_ranges(self, page: int, first: int, end: int) -> list[ByteRange]:
        """The bytes of positions `first..end` of a page, in order; adjoining pieces are one."""
        if not 0 <= first <= end <= self.page_size:
            raise LayoutError(f"positions {first}..{end} are not within a page of {self.page_size}")
        if first == end:
            return []
        if end - first == self.page_size:
            return [ByteRange(page, 0, self.page_bytes)]
        step, plane = self.position_bytes, self.plane_bytes
        starts = range(0, self.page_bytes, plane)
        return [ByteRange(page, start + first * step, start + end * step) for start in starts]

    def positions(self, piece: ByteRange) -> list[tuple[int, int]]:
        """The positions that bytes of a page belong to, wholly or in part, as runs (first, end)."""
        if not 0 <= piece.first <= piece.end <= self.page_bytes:
            raise LayoutError(
                f"bytes {piece.first}..{piece.end} are not within a page of {self.page_bytes} bytes"
            )
        if piece.first == piece.end:
            return []
        low, last = piece.first // self.position_bytes, (piece.end - 1) // self.position_bytes
        if last - low + 1 >= self.page_size:
            return [(0, self.page_size)]
        first, end = low % self.page_size, last % self.page_size + 1
        return [(first, end)] if first < end else [(0, end), (first, self.page_size)]

    def describe(self) -> dict[str, Any]:
        """The layout as plain values, for the header of a dump."""
        return {
            "order": list(ORDER),
            "pages": self.pages,
            "layers": self.layers,
            "page_size": self.page_size,
            "kv_heads": self.kv_heads,
            "head_dim": self.head_dim,
            "dtype": str(self.dtype).removeprefix("torch."),
            "head_bytes": self.head_bytes,
            "position_bytes": self.position_bytes,
            "page_bytes": self.page_bytes,
        }
