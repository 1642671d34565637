"""A dump from the ring of a process that is gone, or one that lives. Needs nothing but the file."""

from pathlib import Path
from typing import Any

from tracert.record.dump import Dump, write_dump


def recover(ring: Path, output: Path, *, reason: str = "killed", error: dict[str, Any] | None = None) -> Dump:
    """Write what the ring at `ring` holds to `output`, as `write_dump` does, with its errors."""
    return write_dump(ring, output, reason=reason, error=error)
