"""Where everything lies in a ring file: regions, header, and the fixed tables of last facts.

The file is its own memory: header page, then regions at the offsets that the header names, then the
records. Little-endian throughout. Knows nothing of mmap, of writing or of what events mean.

    header     one page: magic, version, geometry, clocks, region offsets; counters in a line of their own
    about      JSON: config, model, device, fault, tool                     (a note, see below)
    schema     JSON: the kinds of this file                                 (a note)
    error      JSON: the last error                                         (a note)
    state      JSON: what the device came to                                (a note)
    words      the table of words: u32 count, then u16 length and UTF-8 bytes each
    streams    128 bytes a stream: 8 progress words, then name and flags
    pages      64 bytes a page: last facts
    lanes      128 bytes a row: last facts
    mirror     (page, life) of every entry of the device's block table, as last published
    records    64 bytes each

A note is u32 length, u32 CRC-32, bytes: one that was being written when the process died is recognised.
"""

import struct
import zlib
from dataclasses import asdict, dataclass, fields
from itertools import pairwise
from typing import Any

import numpy as np

from tracert.record.errors import GeometryError
from tracert.record.schema import WORDS_A_SLOT

MAGIC = b"TRCRTRNG"
HEADER_SIZE = 4096
COUNTERS_AT = 1024
"""Byte offset of the counters (u64 each): cursor (the last seq given out), slots of payload among them,
events lost (overwritten since), and the seq of the last event that became facts."""
CURSOR, PAYLOADS, LOST, FACTS_SEQ = range(4)

CHECKSUM_NONE, CHECKSUM_MULTIPLY_XOR = 0, 1

ABOUT_SIZE = 64 * 1024
SCHEMA_SIZE = 32 * 1024
ERROR_SIZE = 16 * 1024
STATE_SIZE = 4 * 1024
WORDS_SIZE = 64 * 1024
STREAM_SIZE = 128
PAGE_SIZE = 64
LANE_SIZE = 128
SLOT_SIZE = 64

SLOT = np.dtype(
    [
        ("t", "<u8"),
        ("kind", "<u2"),
        ("flags", "<u2"),
        ("count", "<u4"),
        ("a", "<u4"),
        ("b", "<u4"),
        ("c", "<u4"),
        ("d", "<u4"),
        ("x", "<u8"),
        ("y", "<u8"),
        ("e", "<u4"),
        ("sum", "<u4"),
        ("seq", "<u8"),
    ]
)
"""A record. `count`: payload words, or bytes of JSON. `seq` is stored last."""
SLOT_FORMAT = struct.Struct("<QHHIIIIIQQIIQ")

PAGE = np.dtype(
    [
        ("life", "<u4"),
        ("state", "u1"),
        ("given_back", "u1"),
        ("holder_kind", "u1"),
        ("previous_kind", "u1"),
        ("holder", "<u4"),
        ("previous", "<u4"),
        ("writer_life", "<u4"),
        ("writer_stream", "<u4"),
        ("alloc_seq", "<u8"),
        ("writer", "<u8"),
        ("writer_seq", "<u8"),
        ("fence", "<u8"),
        ("freed_seq", "<u8"),
    ]
)
"""Last facts of a page. `fence` is stored plus one; `holder` is the last one that took it, and
`given_back` says that this one has dropped it since."""

PAGE_STATES = ("never", "held", "retired", "free")

LANE_WORDS = (
    "generation",
    "state",
    "request",
    "frontier",
    "committed",
    "provisional",
    "transaction",
    "phase",
    "step",
    "scheduled",
    "computed",
    "pages",
    "epoch",
    "publish_launch",
    "publish_stream",
    "publish_seq",
)
LANE = np.dtype([(name, "<u8") for name in LANE_WORDS])
"""Last facts of a row. `transaction` is stored plus one, 0 when none is open."""

STREAM = np.dtype(
    [
        ("launched", "<u8"),
        ("started", "<u8"),
        ("finished", "<u8"),
        ("spare", "<u8", (5,)),
        ("used", "u1"),
        ("blocking", "u1"),
        ("name", "S62"),
    ]
)

NOTE = struct.Struct("<II")
_FIXED = struct.Struct("<8sIIIIIIQQQ")
"""magic, version, record size, header size, checksum kind, pid, flags, monotonic ns, unix ns, file size"""
_BOOT_ID_AT = 128
_BOOT_ID_SIZE = 64
_GEOMETRY_AT = 256
_REGIONS_AT = 512
_REGION = struct.Struct("<16sQQ")
_SEAL_AT = COUNTERS_AT - 4
"""CRC-32 of everything before it, which never changes."""


@dataclass(frozen=True, slots=True)
class Geometry:
    """What a ring must hold. `slots` is rounded up to a power of two. GeometryError when it cannot work."""

    slots: int = 1 << 20
    pages: int = 0
    page_size: int = 16
    rows: int = 0
    row_width: int = 0
    streams: int = 64

    def __post_init__(self) -> None:
        if min(asdict(self).values()) < 0 or self.page_size < 1:
            raise GeometryError(f"a ring cannot have negative sizes: {asdict(self)}")
        object.__setattr__(self, "slots", 1 << max(8, (max(self.slots, 1) - 1).bit_length()))
        words = max(8 * self.pages, 3 * self.row_width + 1, 6 * self.rows + 64)
        needed = 2 * (words // WORDS_A_SLOT + 2)
        if needed > self.slots:
            raise GeometryError(
                f"a ring of {self.slots} events is too small for {self.pages} pages and {self.rows} rows of "
                f"{self.row_width}: give fewer --kv-pages, or --ring-events {1 << (needed - 1).bit_length()}"
            )

    @property
    def mask(self) -> int:
        """Of a record's `seq - 1`: its slot."""
        return self.slots - 1


@dataclass(frozen=True, slots=True)
class Regions:
    """Byte offset of every region, and the size of the file."""

    about: int
    schema: int
    error: int
    state: int
    words: int
    streams: int
    pages: int
    lanes: int
    mirror: int
    records: int
    end: int

    @classmethod
    def of(cls, geometry: Geometry) -> "Regions":
        """The regions of a new file, each on a page of its own."""
        sizes = (
            ABOUT_SIZE,
            SCHEMA_SIZE,
            ERROR_SIZE,
            STATE_SIZE,
            WORDS_SIZE,
            STREAM_SIZE * geometry.streams,
            PAGE_SIZE * geometry.pages,
            LANE_SIZE * geometry.rows,
            8 * geometry.rows * geometry.row_width,
            SLOT_SIZE * geometry.slots,
        )
        offsets = [HEADER_SIZE]
        for size in sizes:
            offsets.append((offsets[-1] + size + 4095) & ~4095)
        return cls(*offsets)


def seal(page: bytes | bytearray) -> bytes:
    """The header page with the checksum that its first part must have."""
    checksum = zlib.crc32(page[:_SEAL_AT]).to_bytes(4, "little")
    return bytes(page[:_SEAL_AT]) + checksum + bytes(page[_SEAL_AT + 4 :])


@dataclass(frozen=True, slots=True)
class Header:
    """The first page of a ring."""

    version: int
    checksum: int
    pid: int
    boot_id: str
    monotonic_ns: int
    unix_ns: int
    geometry: Geometry
    regions: Regions

    def pack(self) -> bytes:
        """The page, its counters zero."""
        page = bytearray(HEADER_SIZE)
        _FIXED.pack_into(
            page,
            0,
            MAGIC,
            self.version,
            SLOT_SIZE,
            HEADER_SIZE,
            self.checksum,
            self.pid,
            0,
            self.monotonic_ns,
            self.unix_ns,
            self.regions.end,
        )
        boot_id = self.boot_id.encode()[:_BOOT_ID_SIZE]
        page[_BOOT_ID_AT : _BOOT_ID_AT + len(boot_id)] = boot_id
        struct.pack_into("<6Q", page, _GEOMETRY_AT, *asdict(self.geometry).values())
        at = _REGIONS_AT
        for name, offset in asdict(self.regions).items():
            _REGION.pack_into(page, at, name.encode(), offset, 0)
            at += _REGION.size
        return seal(page)

    @classmethod
    def unpack(cls, page: bytes) -> "Header":
        """The inverse of `pack`. ValueError says in a few words why the bytes cannot be a ring's."""
        if len(page) < HEADER_SIZE:
            raise ValueError("shorter than a header")
        magic, version, record, _, checksum, pid, _, monotonic, unix, _ = _FIXED.unpack_from(page)
        if magic != MAGIC:
            raise ValueError("wrong magic bytes")
        if seal(page) != page:
            raise ValueError("damaged header")
        if record != SLOT_SIZE:
            raise ValueError(f"records of {record} bytes")
        values: tuple[int, ...] = struct.unpack_from("<6Q", page, _GEOMETRY_AT)
        slots = values[0]
        if slots & (slots - 1) or not slots:
            raise ValueError(f"{slots} slots is no power of two")
        found: dict[str, int] = {}
        for index in range(len(fields(Regions))):
            name, offset, _ = _REGION.unpack_from(page, _REGIONS_AT + index * _REGION.size)
            found[name.rstrip(b"\0").decode("ascii", "replace")] = offset
        try:
            geometry, regions = Geometry(*values), Regions(**found)
        except (GeometryError, TypeError) as error:
            raise ValueError(f"damaged header: {error}") from None
        boot_id = page[_BOOT_ID_AT : _BOOT_ID_AT + _BOOT_ID_SIZE].rstrip(b"\0").decode("ascii", "replace")
        header = cls(version, checksum, pid, boot_id, monotonic, unix, geometry, regions)
        header._check()
        return header

    def _check(self) -> None:
        """The regions must have room for what the geometry says, in order."""
        offsets: list[Any] = list(asdict(self.regions).values())
        needed = list(asdict(Regions.of(self.geometry)).values())
        sizes = [end - start for start, end in pairwise(offsets)]
        least = [end - start for start, end in pairwise(needed[5:])]
        if (
            offsets[0] < HEADER_SIZE
            or min(sizes) < 0
            or any(have < need for have, need in zip(sizes[5:], least, strict=True))
        ):
            raise ValueError("damaged header: regions overlap")
