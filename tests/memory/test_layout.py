"""How positions map to bytes and back."""

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tracert.memory.errors import LayoutError
from tracert.memory.layout import KvLayout
from tracert.record.access import ByteRange


def layout(**changes: Any) -> KvLayout:
    """Three pages of 16 positions, two layers."""
    fields: dict[str, Any] = {
        "pages": 3,
        "layers": 2,
        "page_size": 16,
        "kv_heads": 2,
        "head_dim": 4,
        "dtype": torch.bfloat16,
    }
    return KvLayout(**(fields | changes))


layouts = st.builds(
    KvLayout,
    pages=st.integers(2, 4),
    layers=st.integers(1, 3),
    page_size=st.integers(16, 40),
    kv_heads=st.integers(1, 2),
    head_dim=st.sampled_from([4, 8]),
    dtype=st.sampled_from([torch.float32, torch.bfloat16, torch.int8, torch.float8_e4m3fn]),
)


def test_sizes() -> None:
    """Bytes of a position, a plane, a page and the arena."""
    have = layout()
    assert have.position_bytes == 16
    assert have.plane_bytes == 256
    assert have.page_bytes == 1024
    assert have.nbytes == 3072
    assert have.shape == (3, 2, 2, 16, 2, 4)
    assert have.describe() == {
        "order": ["page", "layer", "key_value", "position", "kv_head", "head_dim"],
        "pages": 3,
        "layers": 2,
        "page_size": 16,
        "kv_heads": 2,
        "head_dim": 4,
        "dtype": "bfloat16",
        "head_bytes": 8,
        "position_bytes": 16,
        "page_bytes": 1024,
    }


def test_an_int8_head_has_its_scale_with_it() -> None:
    """Four bytes more a head, so that positions still map to bytes by a factor; 8 bits of float need none."""
    have = layout(dtype=torch.int8)
    assert (have.head_width, have.head_bytes, have.position_bytes) == (8, 8, 16)
    assert have.shape == (3, 2, 2, 16, 2, 8)
    assert have.nbytes == 3 * 2 * 2 * 16 * 2 * 8
    assert layout(dtype=torch.float8_e4m3fn).position_bytes == 8


def test_a_position_is_a_piece_a_plane() -> None:
    """Keys and values of each layer lie a plane apart; a whole page is one piece."""
    pieces = layout().byte_ranges(2, 3, 5)
    assert pieces == [(2, 48, 80), (2, 304, 336), (2, 560, 592), (2, 816, 848)]
    assert layout().byte_ranges(1, 0, 16) == [(1, 0, 1024)]
    assert layout().byte_ranges(1, 4, 4) == []


def test_bytes_across_planes_belong_to_two_runs() -> None:
    """A piece from the end of one plane into the next has the last positions and the first."""
    have = layout()
    assert have.positions(ByteRange(1, 250, 260)) == [(0, 1), (15, 16)]
    assert have.positions(ByteRange(1, 0, 17)) == [(0, 2)]
    assert have.positions(ByteRange(1, 100, 700)) == [(0, 16)]
    assert have.positions(ByteRange(1, 9, 9)) == []


@given(layouts, st.data())
def test_agrees_with_a_tensor(have: KvLayout, data: st.DataObject) -> None:
    """The byte ranges are exactly the bytes of `cache[page, :, :, first:end]`, and map back."""
    first = data.draw(st.integers(0, have.page_size))
    end = data.draw(st.integers(first, have.page_size))
    raw = torch.zeros(have.nbytes, dtype=torch.uint8)
    planes = raw.view(have.pages, have.layers, 2, have.page_size, have.position_bytes)
    planes[1, :, :, first:end] = 1
    marked = torch.zeros(have.pages, have.page_bytes, dtype=torch.uint8)
    for piece in have.byte_ranges(1, first, end):
        marked[piece.page, piece.first : piece.end] = 1
        assert have.positions(piece) == [(first, end)]
    assert torch.equal(marked.reshape(-1), raw)


@given(layouts, st.data())
def test_positions_are_those_of_every_byte(have: KvLayout, data: st.DataObject) -> None:
    """A piece of bytes belongs to the positions that its bytes belong to, one by one."""
    first = data.draw(st.integers(0, have.page_bytes))
    end = data.draw(st.integers(first, have.page_bytes))
    one_by_one = {byte // have.position_bytes % have.page_size for byte in range(first, end)}
    runs = have.positions(ByteRange(1, first, end))
    assert one_by_one == {position for run in runs for position in range(*run)}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"dtype": torch.int8, "head_dim": 6},
            "int8 pages need heads of a multiple of 4 numbers, so that scales are aligned, and these have 6; "
            "use another --kv-dtype",
        ),
        ({"page_size": 15}, "page size 15 is not within 16..256 token positions"),
        ({"page_size": 257}, "page size 257 is not within 16..256 token positions"),
        ({"layers": 0}, "layers is 0; a KV cache needs at least 1"),
        ({"head_dim": 0}, "head_dim is 0; a KV cache needs at least 1"),
        ({"pages": 1}, "no room for one page: 1 in the cache, and page 0 is reserved; give it 2"),
    ],
)
def test_refuses_what_cannot_be(changes: dict[str, Any], message: str) -> None:
    """One line, with the value and the bound."""
    with pytest.raises(LayoutError) as caught:
        layout(**changes)
    assert str(caught.value) == message


def test_refuses_pieces_outside_a_page() -> None:
    """Positions and bytes of another page are not this page's."""
    with pytest.raises(LayoutError, match=r"^positions 3..17 are not within a page of 16$"):
        layout().byte_ranges(1, 3, 17)
    with pytest.raises(LayoutError, match=r"^bytes 0..1025 are not within a page of 1024 bytes$"):
        layout().positions(ByteRange(1, 0, 1025))
