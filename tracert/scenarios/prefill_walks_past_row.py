"""A prefill that follows the entry behind its row's last one: a former tenant's, or one that names no page.

What the reporter of pypto-serving's 507018 took for the cause; a contrast to it, for here the index is
guilty. One row, a long prompt, then a short one: behind the entries of the short one stand the long one's.
"""

from tracert.scenarios.prompts import exactly
from tracert.scenarios.scenario import Scenario, Variant
from tracert.scenarios.workload import Script, Send, Workload

_LONG = "The tide tables of the harbour list high water twice a day, and the pilots know them by heart. "
_SHORT = "A kettle boils sooner with its lid on, which is why cooks keep lids at hand. "

PREFILL_WALKS_PAST_ROW = Scenario(
    name="prefill-walks-past-row",
    summary="a prefill follows one entry more than its row is mapped",
    fault="prefill-walks-past-row",
    workload=Workload(
        scripts=(
            Script(
                "probe",
                sends=(
                    Send("long", exactly(_LONG, 230), max_tokens=4),
                    Send("short", exactly(_SHORT, 70), max_tokens=4),
                    Send("again", exactly(_LONG, 100), max_tokens=4),
                ),
            ),
        )
    ),
    options={"max_num_seqs": 1, "max_model_len": 512, "kv_pages": 64, "prefix_cache": "hash"},
    variants={
        "crash": Variant({"poison_rows": True}, "crash", note="released rows name no page"),
        "silent": Variant(
            {"poison_rows": False}, "silent", note="the former tenant's page is loaded, and masked"
        ),
    },
)
