"""A prompt that shares the front of a cached one, when pages are few: the hit names pages that are gone.

The kind of sgl-project/mini-sglang#52, where the last node of a hit was not locked and went while it was
in use. The radix tree parts the cached edge where the last prompt parts from it, and the front, which
nobody has used for the longest time, is evicted at once.
"""

from tracert.scenarios.prompts import exactly, joined
from tracert.scenarios.scenario import Scenario, Variant
from tracert.scenarios.workload import Script, Send, Workload

_FRONT = exactly("The harbour master writes down each ship that comes in, with its flag and its cargo. ", 96)
_TIMBER = exactly("The first of them had come with timber for the mill up the river. ", 100)
_FERRY = exactly("On Sundays the ferry sails at nine and comes back when the band is aboard. ", 240)
_SALT = exactly("A small one brought salt in sacks, which the rain had got at on the way. ", 40)

HIT_AFTER_EVICT = Scenario(
    name="hit-after-evict",
    summary="a prompt hits pages that were evicted while they were looked up",
    fault="hit-after-evict",
    workload=Workload(
        scripts=(
            Script(
                "clerk",
                (
                    Send("timber", joined(_FRONT, _TIMBER), max_tokens=4),
                    Send("ferry", _FERRY, max_tokens=4),
                    Send("salt", joined(_FRONT, _SALT), max_tokens=4),
                ),
            ),
        )
    ),
    options={"max_num_seqs": 2, "max_model_len": 256, "kv_pages": 34, "prefix_cache": "radix"},
    variants={"radix": Variant({}, "silent", note="they are read before they are granted again")},
    controls={
        "same-prompt": Workload(
            scripts=(
                Script(
                    "clerk",
                    (
                        Send("timber", joined(_FRONT, _TIMBER), max_tokens=4),
                        Send("ferry", _FERRY, max_tokens=4),
                        Send("again", joined(_FRONT, _TIMBER), max_tokens=4),
                    ),
                ),
            )
        ),
    },
)
