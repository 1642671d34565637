"""What can be wrong with a ring or a dump: one class a cause, one line each, with what to do."""

from pathlib import Path


class RecordError(Exception):
    """Something about a ring or a dump that the user can act on; the message is one line."""


class NotARingError(RecordError):
    """The file is something else."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path}: not a tracert ring ({why}); give a .ring file that tracert serve wrote")


class RingVersionError(RecordError):
    """The ring was written by a later version."""

    def __init__(self, path: Path, found: int, known: int) -> None:
        super().__init__(
            f"{path}: ring format {found}, this tracert reads up to {known}; use the version that wrote it"
        )


class TruncatedRingError(RecordError):
    """The file is shorter than its header says."""

    def __init__(self, path: Path, found: int, expected: int) -> None:
        super().__init__(f"{path}: truncated ring, {found} of {expected} bytes; copy the whole file again")


class NoRoomError(RecordError):
    """The file system has no room for a ring or a dump."""

    def __init__(self, path: Path, nbytes: int, why: str) -> None:
        size = f"{nbytes / 2**20:.0f} MiB" if nbytes >= 2**20 else f"{nbytes} bytes"
        super().__init__(
            f"{path}: no room for {size} ({why}); free space, choose another --record-dir, "
            "or lower --ring-events"
        )


class PathError(RecordError):
    """The path cannot be read or written."""

    def __init__(self, path: Path, doing: str, why: str) -> None:
        super().__init__(f"{path}: cannot {doing} ({why}); check the path and its permissions")


class GeometryError(RecordError):
    """The ring cannot hold what it is asked to record."""
