"""A wrong fix of Flare's stale rows: pages are cleared, on the legacy default stream.

Nothing orders that before what is written on them: a clear may take away what was written, or come too late.
"""

from collections.abc import Sequence
from typing import Any

from tracert.engine.step import Engine
from tracert.faults.fault import Fault


def _plant(engine: Engine) -> None:
    granted = engine.stale.granted

    def clear_on_default_stream(pages: Sequence[int], lives: Sequence[int], end: int, stream: Any) -> Any:
        del stream
        return granted(pages, lives, end, engine.device.legacy)

    engine.stale.granted = clear_on_default_stream  # type: ignore[method-assign]


FLARE_LEGACY_CLEAR = Fault(
    name="flare-legacy-clear",
    finding="TR104",
    summary="granted pages are cleared on stream 0, unordered with compute",
    plant=_plant,
)
