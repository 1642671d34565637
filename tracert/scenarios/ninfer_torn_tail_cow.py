"""A prefix of 41 tokens more than whole pages of 64, forked while a second lane is short of pages.

The report's prefix has 114,281 tokens; 169 leave the same 41 in a page. The second request of the agent
copies that page, staged, and the side lane is admitted in the same step, for both came while the engine was
at a long prompt. The pages that are free and those that nobody needs any more are one too few for the side
lane, unless the copy's source counts among them.
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
_LOG = exactly("[17:04:31] stage two: cannot open the table of symbols, will try again. ", 16 * PAGE - 30)


def _workload(prefix: int, *, side: bool = True) -> Workload:
    """Two requests of the agent that share just so many tokens, and perhaps the side lane."""
    shared = exactly(_MANUAL, prefix)
    first = joined(shared, exactly(_FIRST, 30))
    second = joined(shared, exactly(_SECOND, 40))
    scripts = (
        # With the odd prefix: three full pages, the last shared in part, and one filled in part.
        Script(
            "agent",
            (
                Send("agent-1", first, max_tokens=8, ignore_eos=True),
                # Long enough that the two after it are there when its first step has run.
                Send("log-1", _LOG, max_tokens=20, ignore_eos=True, pause=3),
            ),
        ),
        Script("fork", (Send("agent-2", second, max_tokens=8, ignore_eos=True),), beside="log-1"),
        Script("side", (Send("side-1", _SIDE, max_tokens=8, ignore_eos=True),), beside="agent-2"),
    )
    return Workload(scripts=scripts if side else scripts[:2])


NINFER_TORN_TAIL_COW = Scenario(
    name="ninfer-torn-tail-cow",
    summary="the page that a staged tail copy reads is granted to another lane before the copy has executed",
    fault="ninfer-torn-tail-cow",
    workload=_workload(PREFIX),
    options={
        "page_size": PAGE,
        # The reserved page, four of the first request, sixteen of the log, two of the second request, and one
        # that is free.
        "kv_pages": 24,
        "max_num_seqs": 3,
        "max_model_len": 1024,
        "stage_copies": True,
    },
    variants={
        "hash": Variant({"prefix_cache": "hash"}, "silent", note="the copy has the other lane's tokens"),
        "radix": Variant({"prefix_cache": "radix"}, "silent", note="the same under a radix tree"),
    },
    controls={
        "whole-pages": _workload(2 * PAGE),
        "one-lane": _workload(PREFIX, side=False),
    },
)
