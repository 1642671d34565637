"""Every feature of the engine that must not change a token, and what may be asked of each."""

from typing import Any

from hypothesis import strategies as st

FEATURES: dict[str, list[Any]] = {
    "prefix_cache": ["none", "hash", "radix"],
    "stage_copies": [False, True],
    "retain": [0, 1, 3],
    "host_slots": [0, 3, 40],
    "snapshots": [0, 1, 6],
    "dedicated_snapshots": [False, True],
    "workspace": [None, 310_000],
    "stale_pages": ["inert", "zero", "clear-tail"],
    "audit": [False, True],
    "overlap": [False, True],
    "guard": [False, True],
    "poison_rows": [False, True],
    "max_prefill_tokens": [2048, 16, 11],
}
"""Values by the field of EngineConfig; the first is the plain engine's.

A workspace of 310,000 bytes holds the prefill of any sequence of 160 tokens, and seldom two together.
"""

combinations = st.fixed_dictionaries({name: st.sampled_from(values) for name, values in FEATURES.items()})
schedules = st.one_of(st.sampled_from(["eager", "fifo"]), st.integers(0, 99).map("random:{}".format))
