"""A recorder that remembers what the device told it: no ring, no file."""

from typing import Any, cast

from tracert.record.access import Access, Compute
from tracert.record.recorder import Recorder

ACCESS = Compute(phase="test", step=1)
"""What launches declare where a test does not care."""


class TellingRecorder:
    """The four calls that a device makes, in order, as tuples that start with the event's name."""

    enabled = True

    def __init__(self) -> None:
        self.told: list[tuple[Any, ...]] = []

    def launch(self, launch: int, stream: int, ordinal: int, kernel: str, access: Access) -> int:
        """A launch, publish, copy or clear."""
        return self._tell("launch", launch, stream, ordinal, kernel, access)

    def fence_record(self, fence: int, stream: int, ordinal: int) -> int:
        """A fence was recorded."""
        return self._tell("fence_record", fence, stream, ordinal)

    def fence_wait(self, fence: int, stream: int, record_seq: int) -> int:
        """A stream waits."""
        return self._tell("fence_wait", fence, stream, record_seq)

    def fence_passed(
        self, *, fence: int | None = None, stream: int | None = None, device: bool = False
    ) -> int:
        """The host learned that something has passed."""
        return self._tell("fence_passed", fence, stream, device)

    def as_recorder(self) -> Recorder:
        """The same object under the protocol's name: a device calls nothing else of it."""
        return cast(Recorder, self)

    def kinds(self) -> list[str]:
        """Names of the events told so far."""
        return [event[0] for event in self.told]

    def _tell(self, *event: Any) -> int:
        self.told.append(event)
        return len(self.told)
