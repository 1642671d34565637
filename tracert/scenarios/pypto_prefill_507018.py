"""pypto-serving, error 507018: cold, hit, miss of the report's probe, one request after the other.

What is kept of the probe is its shape, with any tokenizer: 233, 233 and 262 tokens; cold and hit take two
pages of 128, the hit finds one of them, the miss takes three and finds none. Unlike the report's cache this
one shares the front of a page, too, so that the prompts part at a page's end. The workspace has the size that
is measured for the largest step: one block that is kept leaves no room for a prefill of three pages, but some
for one of two.
"""

from tracert.scenarios.prompts import exactly, joined
from tracert.scenarios.scenario import Scenario, Variant
from tracert.scenarios.workload import Prompt, Script, Send, Workload

_HIT = "Probe round 1. " + "Huawei is a leading global technology company. " * 8
_MISS = "A miss of round 1. " + "The Forbidden City is an ancient imperial palace. " * 8


def _after_page(text: str) -> Prompt:
    return joined(exactly(_HIT, 128), exactly(text, 105))


_COLD = Send("cold", _after_page("First answer: " + _HIT), max_tokens=2)
_WARM = Send("hit", _after_page("Second answer: " + _HIT), max_tokens=2)
_OTHER = Send("miss", exactly(_MISS, 262), max_tokens=2)


def _probe(*sends: Send) -> Workload:
    return Workload(scripts=(Script("probe", sends),))


PYPTO_PREFILL_507018 = Scenario(
    name="pypto-prefill-507018",
    summary="a prefill behind a cached prefix keeps scratch; a longer one later finds no room (507018)",
    fault="pypto-prefill-507018",
    workload=_probe(_COLD, _WARM, _OTHER),
    options={
        "page_size": 128,
        "kv_pages": 16,
        "max_model_len": 512,
        "max_num_seqs": 2,
        "max_num_batched_tokens": 364,
        "prefix_cache": "hash",
    },
    variants={
        "crash": Variant(
            {"preflight": False}, note="the launch waits on the device for room that never comes"
        ),
        "preflight": Variant({}, "failure", note="the launch is refused before it starts"),
        "mask": Variant(
            {"preflight": False, "max_prefill_tokens": 256},
            "silent",
            note="prefill capped at two pages plans less: what is kept stays, and the answers are right",
        ),
    },
    controls={"miss": _probe(_OTHER), "cold-miss": _probe(_COLD, _OTHER)},
)
