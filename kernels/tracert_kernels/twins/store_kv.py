"""Writes the keys and values of new tokens to their slots in the pages."""

import torch

from tracert_kernels.plan import Plan
from tracert_kernels.twins.bounds import require_pages
from tracert_kernels.twins.plan import plan as make_plan
from tracert_kernels.twins.stored import narrow


def store_kv(
    key: torch.Tensor,
    value: torch.Tensor,
    cache: torch.Tensor,
    table: torch.Tensor,
    token_row: torch.Tensor,
    position: torch.Tensor,
    *,
    plan: Plan | None = None,
) -> None:
    """Token t goes to page `table[token_row[t], position[t] // P]` at offset `position[t] % P`.

    `key`, `value` [T, Hkv, D]; `cache` [pages, 2, P, Hkv, W] of a KV type, any page stride; `table` int32
    [rows, width]; `token_row`, `position` int32 [T]. Two tokens must not share a slot. `plan` is the
    forward's: then the last three are not read again. IndexError, with nothing written, for anything out of
    range.
    """
    if plan is None:
        none = table.new_empty(0)
        plan = make_plan(table, none, table.new_zeros(1), none, token_row, position, cache.shape[2])
    require_pages(plan.slot_page_max, cache.shape[0])
    slots = (plan.slot_page, plan.slot_offset)
    cache[:, 0].index_put_(slots, narrow(key, cache.dtype))
    cache[:, 1].index_put_(slots, narrow(value, cache.dtype))
