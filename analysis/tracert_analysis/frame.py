"""What stands around the events of a dump: the header before them, the states, and the end line."""

from dataclasses import dataclass
from typing import Any

import orjson

VERSION = 1
"""The format of dumps that this reader reads."""
LINE_BYTES_MAX = 16 << 20
"""A longer line is no event."""
STATES = ("stream_state", "page_state", "lane_state")

_BEGIN = b'{"kind":"header"'


class DumpError(Exception):
    """The dump can't be read. The message is one line: what, where, what to do."""


@dataclass(frozen=True)
class Frame:
    """What stands around the events."""

    header: dict[str, Any]
    states: dict[str, list[bytes]]
    """State lines by kind, as they stand in the file."""
    events: int | None
    """How many events the end line tells of; None when there is no end line."""
    intact: bool
    """The checksum of the end line is that of the lines before it; False without an end line."""
    cut_line: bool
    """The last line breaks off."""


def header_of(name: str, line: bytes) -> dict[str, Any]:
    """The header in the first line of the dump `name`. DumpError when it is none, or of another version."""
    header = object_of(line)
    begun = line.startswith(_BEGIN) or bool(line and _BEGIN.startswith(line))
    if not header and begun and not line.endswith(b"\n") and len(line) < LINE_BYTES_MAX:
        raise DumpError(
            f"{name} is cut short: it ends within its first line; copy the whole file again, or look for the "
            "ring"
        )
    if header.get("kind") != "header" or header.get("format") != "tracert":
        raise DumpError(f"{name} is not a tracert dump: it does not start with a header line")
    version = header.get("version")
    if version != VERSION:
        raise DumpError(
            f"{name} is a dump of format {version}, and this tracert reads format {VERSION}: "
            "read it with the version that wrote it"
        )
    return header


def object_of(line: bytes) -> dict[str, Any]:
    """The object in a line; empty when there is none."""
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}
