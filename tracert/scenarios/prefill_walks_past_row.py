"""A prefill that follows the entry behind its row's last one: a former tenant's, or one that names no page.

What the reporter of pypto-serving's 507018 took for the cause; a contrast to it, for here the index is
guilty.
"""

from tracert.scenarios.ninfer_unordered_publish import NINFER_UNORDERED_PUBLISH
from tracert.scenarios.scenario import Scenario, Variant

PREFILL_WALKS_PAST_ROW = Scenario(
    name="prefill-walks-past-row",
    summary="a prefill follows one entry more than its row is mapped",
    fault="prefill-walks-past-row",
    workload=NINFER_UNORDERED_PUBLISH.workload,
    options=NINFER_UNORDERED_PUBLISH.options,
    variants={
        "crash": Variant({"poison_rows": True}, "crash"),
        "silent": Variant({"poison_rows": False}, "silent"),
    },
)
