"""Pages that the prefix cache evicts are copied to the host while the next request fills them.

Prompts that do not fit the pool together, each of them twice: the second time its front comes back from the
host tier, with whatever was in the pages when the copy got to them.
"""

from tracert.scenarios.prompts import exactly
from tracert.scenarios.scenario import Scenario, Variant
from tracert.scenarios.workload import Script, Send, Workload

_TEXTS = (
    "The tide tables of the harbour list high water twice a day, and pilots know them by heart. ",
    "A kettle boils sooner with its lid on, which is why cooks keep their lids at hand. ",
    "The night train stops at the border for an hour, and the guards walk through it with lamps. ",
    "Beekeepers wear white because dark cloth upsets the bees, or so the older ones say. ",
)


def _sends(turn: str) -> tuple[Send, ...]:
    return tuple(
        Send(f"{turn}-{number}", exactly(text, 150), max_tokens=8, ignore_eos=True)
        for number, text in enumerate(_TEXTS, start=1)
    )


NINFER_UNFENCED_RELEASE = Scenario(
    name="ninfer-unfenced-release",
    summary="an evicted page is granted again before its copy to the host has read it",
    fault="ninfer-unfenced-release",
    workload=Workload(scripts=(Script("reader", (*_sends("first"), *_sends("again"))),)),
    options={"max_num_seqs": 2, "max_model_len": 256, "kv_pages": 20, "host_kv": "1M"},
    variants={
        "hash": Variant({"prefix_cache": "hash"}, "silent", note="the host keeps another prompt's keys"),
        "radix": Variant({"prefix_cache": "radix"}, "silent", note="the same under a radix tree"),
    },
)
