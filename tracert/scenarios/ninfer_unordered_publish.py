"""Neroued/ninfer#210: agent traffic on two lanes, each turn a sequence that starts on a row used before.

Both endings of the report: with rows poisoned at release the forward meets an id outside the pool and
the device fails; without, it follows the row of the former tenant and answers from its pages.
"""

from tracert.scenarios.ninfer_reproducers import NINFER_REPRODUCERS
from tracert.scenarios.scenario import Scenario, Variant
from tracert.scenarios.workload import Conversation, Workload

_ATLAS = Conversation(
    name="atlas",
    system="You are a geography teacher. Answer in one short sentence.",
    turns=(
        "What is the capital of France?",
        "Which river flows through it?",
        "Into which sea does that river flow?",
        "Name one city on the coast of that sea.",
        "Which country lies across the water from there?",
        "What is the capital of that country?",
        "Which river flows through that city?",
        "Is that river longer than the first one?",
    ),
)

_KITCHEN = Conversation(
    name="kitchen",
    system="You are a cook who teaches beginners. Answer in one short sentence.",
    turns=(
        "How long do I boil an egg?",
        "And if I want the yolk soft?",
        "What goes well with it for breakfast?",
        "How do I make toast without a toaster?",
        "Which butter should I put on it?",
        "Can I use olive oil instead?",
        "What else could I cook with that oil?",
        "How do I clean the pan afterwards?",
    ),
)

NINFER_UNORDERED_PUBLISH = Scenario(
    name="ninfer-unordered-publish",
    summary="a row is published on the default stream while the compute stream follows it (ninfer #210)",
    fault="ninfer-unordered-publish",
    workload=Workload(conversations=(_ATLAS, _KITCHEN), answer_tokens=24),
    options={"max_num_seqs": 3, "max_model_len": 2048, "kv_pages": 256, "prefix_cache": "hash"},
    variants={
        "crash": Variant({"poison_rows": True}, "crash"),
        "silent": Variant({"poison_rows": False}, "silent"),
    },
    reproducers=NINFER_REPRODUCERS,
)
