"""Staging buffers under steps in flight: a row is published from a buffer that the next publish fills again.

The clients of ninfer #210, with a step launched before the one before is learnt: publishes of two steps, or
of two rows in one, meet in the buffer.
"""

from tracert.scenarios.ninfer_unordered_publish import NINFER_UNORDERED_PUBLISH
from tracert.scenarios.scenario import Scenario, Variant

NINFER_STAGING_REUSE = Scenario(
    name="ninfer-staging-reuse",
    summary="the host writes a staging buffer again before the copy that reads it has executed",
    fault="ninfer-staging-reuse",
    workload=NINFER_UNORDERED_PUBLISH.workload,
    options={**NINFER_UNORDERED_PUBLISH.options, "overlap": True},
    variants={
        "silent": Variant({"poison_rows": False}, "silent"),
        "crash": Variant({"poison_rows": True}, "crash"),
    },
)
