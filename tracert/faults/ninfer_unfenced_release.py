"""Neroued/ninfer#210's first suspect: `release_page()` frees a page with no stream fence.

Who gives a page back hands over the fence behind the launches that still touch it, and the pool does not ask
for it: the page is granted again while another stream reads it.
"""

from collections.abc import Sequence
from typing import Any

from tracert.engine.step import Engine
from tracert.faults.fault import Fault
from tracert.record.access import Holder


def _plant(engine: Engine) -> None:
    drop = engine.pool.drop

    def drop_without_fence(pages: Sequence[int], holder: Holder, mode: Any = None, **fence: Any) -> None:
        del fence
        drop(pages, holder, mode)

    engine.pool.drop = drop_without_fence  # type: ignore[method-assign]


NINFER_UNFENCED_RELEASE = Fault(
    name="ninfer-unfenced-release",
    finding="TR202",
    summary="a page is granted again while another stream still reads what it held",
    plant=_plant,
)
