"""The kernels in plain torch: what the CPU serves with, and what the Triton kernels are tested against.

A page id, row or position out of range raises IndexError before anything is written: where a GPU would
touch foreign memory, the simulated device must fault. Nothing wraps and nothing is clamped.
"""

from tracert_kernels.twins.clear_pages import clear_pages
from tracert_kernels.twins.clear_positions import clear_positions
from tracert_kernels.twins.copy_pages import copy_pages
from tracert_kernels.twins.copy_row import copy_row
from tracert_kernels.twins.follow_rows import follow_rows
from tracert_kernels.twins.paged_attention import paged_attention
from tracert_kernels.twins.plan import plan
from tracert_kernels.twins.room import attention_room
from tracert_kernels.twins.store_kv import store_kv

__all__ = [
    "attention_room",
    "clear_pages",
    "clear_positions",
    "copy_pages",
    "copy_row",
    "follow_rows",
    "paged_attention",
    "plan",
    "store_kv",
]
