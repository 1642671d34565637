"""Staging buffers: a row is published from a buffer that the host fills again for the next publish.

Two lanes of completions that start together, with a step launched before the one before is learnt: publishes
of two rows in a step, or of two steps, meet in the one buffer.
"""

from tracert.scenarios.prompts import exactly
from tracert.scenarios.scenario import Scenario, Variant
from tracert.scenarios.workload import Script, Send, Workload

_TEXTS = {
    "harbour": "The tide tables of the harbour list high water twice a day, and pilots know them by heart. ",
    "kitchen": "A kettle boils sooner with its lid on, which is why cooks keep their lids at hand. ",
}


def _lane(name: str) -> Script:
    sends = tuple(
        Send(f"{name}-{turn}", exactly(_TEXTS[name], 60 + 17 * turn), max_tokens=24) for turn in range(1, 7)
    )
    return Script(name, sends)


NINFER_STAGING_REUSE = Scenario(
    name="ninfer-staging-reuse",
    summary="the host writes a staging buffer again before the copy that reads it has executed",
    fault="ninfer-staging-reuse",
    workload=Workload(scripts=tuple(_lane(name) for name in _TEXTS)),
    options={
        "max_num_seqs": 2,
        "max_model_len": 512,
        "kv_pages": 96,
        "prefix_cache": "none",
        "overlap": True,
    },
    variants={
        "silent": Variant({"poison_rows": False}, "silent", note="a row gets the other's pages"),
        "poisoned": Variant({"poison_rows": True}, "silent", note="released rows name no page"),
    },
)
