"""A row's publish that is done once more, by a handle that has been given back.

Whoever takes a copy for failed puts it into a queue, and tries it again behind the next ones. The queue
outlives the lane: by then the row is another request's, and `publish` does not ask whose it is. No device
error follows, for all the pages exist.
"""

from collections.abc import Sequence

from tracert.device.device import Launch, Stream
from tracert.engine.step import Engine
from tracert.faults.fault import Fault
from tracert.memory.block_table import RowHandle

BEHIND = 2
"""So many publishes later it is tried again."""


def _plant(engine: Engine) -> None:
    publish = engine.table.publish
    queue: list[tuple[RowHandle, int, list[int], list[int], Stream]] = []

    def publish_and_retry(
        handle: RowHandle, first: int, pages: Sequence[int], lives: Sequence[int], stream: Stream
    ) -> Launch:
        launch = publish(handle, first, pages, lives, stream)
        queue.append((handle, first, list(pages), list(lives), stream))
        if len(queue) > BEHIND:
            launch = publish(*queue.pop(0))
        return launch

    engine.table.publish = publish_and_retry  # type: ignore[method-assign]


LATE_REPUBLISH = Fault(
    name="late-republish",
    finding="TR402",
    summary="a publish is tried again when its row is another request's",
    plant=_plant,
)
