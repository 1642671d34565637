"""A prefix of 41 tokens more than whole pages of 64, forked while a second lane is short of pages.

The report's prefix has 114,281 tokens; 169 leave the same 41 in a page. The second request of the agent
copies that page, staged. The side lane is admitted in the same step: the pages that are free and those that
nobody needs any more are one too few for it, unless the copy's source counts among them.
"""

from tracert.scenarios.prompts import exactly, joined
from tracert.scenarios.scenario import Scenario, Variant
from tracert.scenarios.workload import Script, Send, Workload

PAGE = 64
PREFIX = 2 * PAGE + 41

_MANUAL = "You are a coding agent. Read the files that are named, change nothing else, and run the tests. "
_FIRST = "The build of the parser fails in the second stage. "
_SECOND = "Now write the release notes for what was changed. "
_SIDE = exactly("Title this conversation in a few words, and do not explain. ", 3 * PAGE - 10)


def _agent(prefix: int) -> Script:
    """Two requests that share just so many tokens."""
    shared = exactly(_MANUAL, prefix)
    return Script(
        "agent",
        (
            # With the odd prefix: three full pages, the last shared in part, and one filled in part.
            Send("agent-1", joined(shared, exactly(_FIRST, 30)), max_tokens=8, ignore_eos=True),
            Send("agent-2", joined(shared, exactly(_SECOND, 40)), max_tokens=8, ignore_eos=True, pause=3),
        ),
    )


_SIDE_LANE = Script("side", (Send("side-1", _SIDE, max_tokens=8, ignore_eos=True),), beside="agent-2")

NINFER_TORN_TAIL_COW = Scenario(
    name="ninfer-torn-tail-cow",
    summary="the page that a staged tail copy reads is granted to another lane before the copy has executed",
    fault="ninfer-torn-tail-cow",
    workload=Workload(scripts=(_agent(PREFIX), _SIDE_LANE)),
    options={
        "page_size": PAGE,
        # The reserved page, four of the first request, two of the second, and one that is free.
        "kv_pages": 8,
        "max_num_seqs": 2,
        "max_model_len": 256,
        "stage_copies": True,
    },
    variants={
        "hash": Variant({"prefix_cache": "hash"}, "silent", note="the copy has the other lane's tokens"),
        "radix": Variant({"prefix_cache": "radix"}, "silent", note="the same under a radix tree"),
    },
    controls={
        "whole-pages": Workload(scripts=(_agent(2 * PAGE), _SIDE_LANE)),
        "one-lane": Workload(scripts=(_agent(PREFIX),)),
    },
)
