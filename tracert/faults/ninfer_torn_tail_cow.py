"""Neroued/ninfer#210's second suspect: the source of a staged tail copy is unpinned before the copy retires.

A prefix that ends inside a page is forked by copying the tail, which is prepared in one engine step and
completed in the next. The pin of the source goes at the end of the first: from then on nothing but the cache
holds it, and under pressure another lane gets the page while it is still to be read.
"""

from collections.abc import Sequence
from typing import Any

from tracert.device.device import Stream
from tracert.engine.step import Engine
from tracert.faults.fault import Fault
from tracert.record.access import Extent, Holder


def _plant(engine: Engine) -> None:
    begin, drop = engine.copies.begin, engine.pool.drop
    unpinned: set[tuple[Holder, int]] = set()

    def begin_and_unpin(request: int, source: Extent, target: Extent, stream: Stream, writer: Stream) -> int:
        number = begin(request, source, target, stream, writer)
        pin = Holder("transfer", number)
        drop([source.page], pin, "read")
        unpinned.add((pin, source.page))
        return number

    def drop_what_is_left(pages: Sequence[int], holder: Holder, mode: Any = None, **fence: Any) -> None:
        left = [page for page in pages if (holder, page) not in unpinned]
        drop(left, holder, mode, **fence)

    engine.copies.begin = begin_and_unpin  # type: ignore[method-assign]
    engine.pool.drop = drop_what_is_left  # type: ignore[method-assign]


NINFER_TORN_TAIL_COW = Fault(
    name="ninfer-torn-tail-cow",
    finding="TR303",
    summary="the source of a staged tail copy is unpinned before the copy has executed",
    plant=_plant,
)
