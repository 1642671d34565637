"""A publish that is tried again late: the third request's row names the pages of the first.

One row, so each request has it after the one before. The first one's prompt stays in the prefix cache; its
publish comes once more behind the third one's. That one writes its own tokens into the cached pages, and
whoever hits them later is told another prompt's. Every id is a page, every order is kept, and nothing fails,
but with `--guard`.
"""

from tracert.scenarios.prompts import exactly
from tracert.scenarios.scenario import Scenario, Variant
from tracert.scenarios.workload import Script, Send, Workload

_FIRST = exactly("The lock keeper counts the barges at dawn, and again when the mist has gone. ", 230)
_SECOND = exactly("In the attic stood a loom that nobody had the patience to thread. ", 100)
_THIRD = exactly("Whoever paints the ferry paints it green, for the paint was cheap once. ", 100)

LATE_REPUBLISH = Scenario(
    name="late-republish",
    summary="a publish is tried again when its row is another request's",
    fault="late-republish",
    workload=Workload(
        scripts=(
            Script(
                "keeper",
                (
                    Send("first", _FIRST, max_tokens=4),
                    Send("second", _SECOND, max_tokens=4),
                    Send("third", _THIRD, max_tokens=4),
                ),
            ),
        )
    ),
    options={"max_num_seqs": 1, "max_model_len": 256, "kv_pages": 64, "prefix_cache": "hash"},
    variants={
        "silent": Variant({}, "silent", note="another prompt's pages are read and written"),
        "guarded": Variant({"guard": True}, "failure", note="the kernels themselves saw which pages"),
    },
    controls={
        "two-prompts": Workload(
            scripts=(
                Script(
                    "keeper",
                    (Send("first", _FIRST, max_tokens=4), Send("second", _SECOND, max_tokens=4)),
                ),
            )
        ),
    },
)
