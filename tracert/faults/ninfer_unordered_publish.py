"""Neroued/ninfer#210: an activation is published on the legacy default stream.

A refactor lost the stream argument of the call that publishes the row of a sequence that starts, and
the copy fell to a default of stream 0. The engine's own streams are non-blocking, so that nothing
orders the copy before the forward that follows the row. Rows that only grow are still published right.
"""

from typing import Any

from tracert.engine.step import Engine
from tracert.faults.fault import Fault


def _plant(engine: Engine) -> None:
    activate = engine.table.activate

    def activate_on_default_stream(row: Any, pages: Any, lives: Any, stream: Any) -> Any:
        del stream
        return activate(row, pages, lives, engine.device.legacy)

    engine.table.activate = activate_on_default_stream  # type: ignore[method-assign, assignment]


NINFER_UNORDERED_PUBLISH = Fault(
    name="ninfer-unordered-publish",
    finding="TR102",
    summary="the row of a sequence that starts is published on stream 0, unordered with compute",
    plant=_plant,
)
