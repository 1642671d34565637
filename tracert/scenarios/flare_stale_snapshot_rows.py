"""Flare, device error 6 under KV pressure: prompts of two lengths, each sent twice, until the pool is full.

The report's prompts are 16k and 32k tokens, its pool has 3,760 pages and its 101 snapshots' rows cover all of
them; prompts, pool and snapshots are smaller here, and the rows cover the pool all the same. Pages are fp8,
and the kernels load whole pages. Once pages go from rows to keys and values, a request finds what a row left
behind its last token; it is the second send of a prompt that fails, as in the report.
"""

import dataclasses

from tracert.scenarios.prompts import exactly, joined
from tracert.scenarios.scenario import Scenario, Variant
from tracert.scenarios.workload import Script, Send, Workload

_TEXT = "The tide tables of the harbour list high water twice a day. "


def _workload(prompts: int, lengths: tuple[int, int], answer: int, returning: int = 0) -> Workload:
    """Each prompt twice; in the end so many of them once more, in their order."""
    sends: list[Send] = []
    for number in range(prompts):
        prompt = joined(exactly(f"Prompt {number}: ", 10), exactly(_TEXT, lengths[number % 2]))
        sends += [
            Send(f"prime-{number}", prompt, max_tokens=1, ignore_eos=True),
            Send(f"warm-{number}", prompt, max_tokens=answer, ignore_eos=True),
        ]
    sends += [
        dataclasses.replace(sends[2 * number], name=f"again-{number}", max_tokens=answer)
        for number in range(returning)
    ]
    return Workload(scripts=(Script("prompts", tuple(sends)),))


FLARE_STALE_SNAPSHOT_ROWS = Scenario(
    name="flare-stale-snapshot-rows",
    summary="pages that had a snapshot's rows become a request's last page uncleared: 0 x NaN (error 6)",
    fault="flare-stale-snapshot-rows",
    workload=_workload(24, (57, 122), 40),
    options={
        "kv_pages": 48,
        "kv_dtype": "fp8",
        "max_model_len": 256,
        "max_num_seqs": 2,
        "prefix_cache": "none",
        "snapshots": 44,
        "stale_pages": "zero",
        "audit": True,
    },
    variants={
        "failure": Variant({}, "failure", note="the pages of released rows are left out of what is cleared"),
        "dedicated": Variant(
            {"dedicated_snapshots": True},
            "clean",
            note="rows on pages of their own, which others lack",
        ),
        "clear-tail": Variant(
            {"stale_pages": "clear-tail"}, "clean", note="what lies behind a request's tokens is cleared"
        ),
        "inert": Variant({"stale_pages": "inert"}, "clean", note="kernels load the positions of tokens only"),
        "legacy-clear": Variant(
            {}, "silent", fault="flare-legacy-clear", note="a wrong fix: cleared on the default stream"
        ),
        "late-clear": Variant(
            {"prefix_cache": "hash", "host_kv": "1M"},
            "silent",
            fault="flare-late-clear",
            note="a wrong fix: cleared once the host tier has brought the page back, which is blank then",
            # When the first prompts come back, the host tier has their pages and the pool has not.
            workload=_workload(24, (57, 122), 40, returning=2),
        ),
        "finite": Variant(
            {"kv_dtype": "fp32", "kv_pages": 36, "snapshots": 40},
            "silent",
            note="what is stale are numbers, and 0 times a number is 0: right answers, and proven wrong",
        ),
    },
)
