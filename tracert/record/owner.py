"""Whose ring a file is, and whether that process still lives: from the header and /proc alone.

A process of another machine, or of this one before it was booted, does not live. Where there is no /proc, and
for a process that this one may not see (another container), the answer is that it is gone.
"""

import os
import struct
import time
from pathlib import Path

from tracert.record.layout import HEADER_SIZE, Header

_SLACK_SECONDS = 5.0


def lives(header: Header) -> bool:
    """Does the process that made the ring of this header still run?"""
    try:
        if Path("/proc/sys/kernel/random/boot_id").read_text().strip() != header.boot_id:
            return False
        words = Path(f"/proc/{header.pid}/stat").read_text().rpartition(")")[2].split()
    except (OSError, UnicodeDecodeError):
        return False
    if words[0] in "ZX":
        return False
    # The number may be another process's by now, which began after the ring was made.
    began = int(words[19]) / os.sysconf("SC_CLK_TCK")
    booted = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
    return booted + began <= header.unix_ns / 1e9 + _SLACK_SECONDS


def dead_rings(directory: Path) -> list[Path]:
    """Rings of processes that are gone, the newest last; none where the directory cannot be read."""
    try:
        rings = sorted(directory.glob("*.ring"), key=lambda path: path.stat().st_mtime)
    except OSError:
        return []
    return [path for path in rings if _dead(path)]


def _dead(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            header = Header.unpack(file.read(HEADER_SIZE))
    except (OSError, ValueError, struct.error):
        return False
    return not lives(header)
