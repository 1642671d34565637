"""Neroued/ninfer#210's host shadow, and NVIDIA/TensorRT-LLM#15546: one staging buffer for all publishes.

The host writes the next row's page ids into the buffer from which the copy before is still to be made. Stream
and fences are right; the copy reads what the buffer holds when it executes, so a row gets another's pages.
"""

from tracert.engine.step import Engine
from tracert.faults.fault import Fault
from tracert.memory.staging import StagingBuffer


def _plant(engine: Engine) -> None:
    take = engine.table.staging.take
    shadow: list[StagingBuffer] = []

    def take_the_same_again() -> StagingBuffer:
        if not shadow:
            shadow.append(take())
        return shadow[0]

    engine.table.staging.take = take_the_same_again  # type: ignore[method-assign]


NINFER_STAGING_REUSE = Fault(
    name="ninfer-staging-reuse",
    finding="TR103",
    summary="a staging buffer is written again before the publish that reads it has executed",
    plant=_plant,
)
