"""The kernels in Triton: what a GPU serves with.

The same signatures and the same answers as `tracert_kernels.twins`, but nothing is checked: a page id or a
row out of range is foreign memory, as in any production kernel. Page offsets are 64 bits wide.
"""

from tracert_kernels.triton_kernels.clear_pages import clear_pages
from tracert_kernels.triton_kernels.clear_positions import clear_positions
from tracert_kernels.triton_kernels.copy_pages import copy_pages
from tracert_kernels.triton_kernels.copy_row import copy_row
from tracert_kernels.triton_kernels.follow_rows import follow_rows
from tracert_kernels.triton_kernels.paged_attention import paged_attention
from tracert_kernels.triton_kernels.plan import plan
from tracert_kernels.triton_kernels.room import attention_room
from tracert_kernels.triton_kernels.store_kv import store_kv

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
