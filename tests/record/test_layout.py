"""A ring describes itself."""

from dataclasses import asdict, replace

import pytest

from tests.record.telling import GEOMETRY
from tracert.record.errors import GeometryError
from tracert.record.layout import (
    CHECKSUM_NONE,
    HEADER_SIZE,
    LANE,
    PAGE,
    SLOT,
    STREAM,
    Geometry,
    Header,
    Regions,
)

HEADER = Header(1, CHECKSUM_NONE, 4711, "boot", 5, 6, GEOMETRY, Regions.of(GEOMETRY))


def test_a_header_comes_back() -> None:
    """Every field, from one page."""
    page = HEADER.pack()
    assert HEADER_SIZE == len(page)
    assert HEADER == Header.unpack(page)


def test_regions_do_not_overlap_and_begin_on_pages() -> None:
    """Whatever the geometry, none of them empty of what it must hold."""
    for geometry in (Geometry(), GEOMETRY, Geometry(pages=100_000, rows=256, row_width=2048)):
        offsets = list(asdict(Regions.of(geometry)).values())
        assert offsets == sorted(offsets)
        assert {0} == {offset % 4096 for offset in offsets}
        regions = Regions.of(geometry)
        assert regions.end - regions.records == 64 * geometry.slots
        assert regions.lanes - regions.pages >= 64 * geometry.pages


def test_tables_have_the_sizes_that_the_c_writer_knows() -> None:
    """Bytes of a record, a page's facts, a lane's facts, a stream."""
    assert (64, 64, 128, 128) == (SLOT.itemsize, PAGE.itemsize, LANE.itemsize, STREAM.itemsize)
    assert SLOT.fields is not None
    assert 56 == SLOT.fields["seq"][1]


def test_slots_are_rounded_up_to_a_power_of_two() -> None:
    """`--ring-events` takes any number."""
    assert [256, 1024, 1024, 2048] == [Geometry(slots=slots).slots for slots in (1, 1000, 1024, 1025)]


def test_a_ring_that_could_not_hold_an_event_of_all_pages_is_refused() -> None:
    """With the number that would do."""
    with pytest.raises(GeometryError, match="too small for 4096 pages") as raised:
        Geometry(slots=1024, pages=4096)
    enough = int(str(raised.value).split("--ring-events ")[1].split()[0])
    assert 4096 == Geometry(slots=enough, pages=4096).pages
    with pytest.raises(GeometryError, match="negative"):
        Geometry(rows=-1)


def test_a_header_with_a_region_outside_is_refused() -> None:
    """A file that says so was not written by a tracert."""
    wrong = replace(HEADER, regions=replace(HEADER.regions, lanes=HEADER.regions.end))
    with pytest.raises(ValueError, match="regions overlap"):
        Header.unpack(wrong.pack())
