"""Where snapshots' rows lie."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tracert.memory.errors import LayoutError
from tracert.memory.layout import KvLayout
from tracert.memory.row_spans import RowSpan, row_spans
from tracert.record.access import ByteRange

LAYOUT = KvLayout(pages=9, layers=1, page_size=16, kv_heads=1, head_dim=2, dtype=torch.float32)


def test_says_the_bytes_of_a_span_page_by_page() -> None:
    """A span that begins and ends inside pages has a piece of each."""
    pieces = RowSpan(first=250, nbytes=300).ranges(page_bytes=256)
    assert [ByteRange(0, 250, 256), ByteRange(1, 0, 256), ByteRange(2, 0, 38)] == pieces


def test_spreads_spans_so_that_enough_of_them_cover_the_pool() -> None:
    """Twelve rows over eight pages: every page but the reserved one has some, and neighbours share pages."""
    spans = row_spans(LAYOUT, slots=12, row_bytes=100)
    pages = [piece.page for span in spans for piece in span.ranges(LAYOUT.page_bytes)]
    assert set(range(1, 9)) == set(pages)
    assert any(pages.count(page) > 1 for page in range(1, 9))
    assert spans[-1].first + 100 <= LAYOUT.nbytes < spans[-1].first + 100 + 16 * 12


def test_packs_dedicated_spans_at_the_end() -> None:
    """Three rows of 100 bytes lie on the last two pages of 256."""
    spans = row_spans(LAYOUT, slots=3, row_bytes=100, dedicated=True)
    assert {7, 8} == {piece.page for span in spans for piece in span.ranges(LAYOUT.page_bytes)}


def test_refuses_rows_that_do_not_fit() -> None:
    """The message says how many would."""
    with pytest.raises(LayoutError, match=r"^19 snapshots of 100 bytes do not fit .* ask for 1 to 18,"):
        row_spans(LAYOUT, slots=19, row_bytes=100)


@given(st.integers(1, 18), st.integers(1, 100), st.booleans())
def test_spans_never_share_a_byte_nor_touch_page_0(slots: int, row_bytes: int, dedicated: bool) -> None:
    """Whatever the sizes, they lie one behind the other in the pool, at multiples of 16."""
    spans = row_spans(LAYOUT, slots, row_bytes, dedicated=dedicated)
    ends = [LAYOUT.page_bytes, *(span.first + span.nbytes for span in spans)]
    assert all(span.first >= end and span.first % 16 == 0 for span, end in zip(spans, ends, strict=False))
    assert ends[-1] <= LAYOUT.nbytes
