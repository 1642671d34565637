"""A wrong fix of Flare's stale rows: pages are cleared, but behind what the host tier brings back to them.

A waiting request that goes on from host memory gets its pages, they are loaded, and then they are cleared: in
order, on the stream that writes pages, and too late. What was restored is blank. Others are cleared in time.
"""

from collections.abc import Sequence

from tracert.device.device import Launch, Stream
from tracert.engine.fronts import Front
from tracert.engine.request import Request
from tracert.engine.step import Engine
from tracert.faults.fault import Fault


def _plant(engine: Engine) -> None:
    clear, find, take, leave = (
        engine.stale.granted,
        engine.fronts.find,
        engine.fronts.take,
        engine.fronts.leave,
    )
    starting = False
    owed: list[tuple[Sequence[int], Sequence[int], int, Stream]] = []

    def find_and_put_off(request: Request) -> Front:
        nonlocal starting
        starting = True
        return find(request)

    def clear_or_put_off(
        pages: Sequence[int], lives: Sequence[int], end: int, stream: Stream
    ) -> Launch | None:
        if not starting:
            return clear(pages, lives, end, stream)
        owed.append((pages, lives, end, stream))
        return None

    def take_and_clear(request: Request, front: Front, granted: list[int]) -> None:
        nonlocal starting
        starting = False
        if front.slots:
            take(request, front, granted)
        while owed:
            clear(*owed.pop())
        if not front.slots:
            take(request, front, granted)

    def leave_off(request: Request, front: Front) -> None:
        nonlocal starting
        starting = False
        leave(request, front)

    engine.stale.granted = clear_or_put_off  # type: ignore[method-assign]
    engine.fronts.find = find_and_put_off  # type: ignore[method-assign]
    engine.fronts.take = take_and_clear  # type: ignore[method-assign]
    engine.fronts.leave = leave_off  # type: ignore[method-assign]


FLARE_LATE_CLEAR = Fault(
    name="flare-late-clear",
    finding="TR104",
    summary="granted pages are cleared behind what the host tier brings back to them",
    plant=_plant,
)
