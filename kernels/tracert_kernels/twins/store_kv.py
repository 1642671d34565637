"""Writes the keys and values of new tokens to their slots in the pages."""

import torch

from tracert_kernels.guard import Guard
from tracert_kernels.plan import Plan
from tracert_kernels.twins.bounds import require_pages
from tracert_kernels.twins.follow_rows import all_finite, note_first
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
    guard: Guard | None = None,
) -> None:
    """Token t goes to page `table[token_row[t], position[t] // P]` at offset `position[t] % P`.

    `key`, `value` [T, Hkv, D]; `cache` [pages, 2, P, Hkv, W] of a KV type, any page stride; `table` int32
    [rows, width]; `token_row`, `position` int32 [T]. Two tokens must not share a slot. `plan` is the
    forward's: then the last three are not read again. IndexError, with nothing written, for anything out of
    range. With `guard`, nothing is stored for sequences with a bad entry, and the first value is noted that
    is not finite, or not when it is stored.
    """
    if plan is None:
        none = table.new_empty(0)
        plan = make_plan(
            table, none, table.new_zeros(1), none, token_row, position, cache.shape[2], guard=guard
        )
    require_pages(plan.slot_page_max, cache.shape[0])
    slots = (plan.slot_page, plan.slot_offset)
    if plan.stored is not None:
        key, value = key[plan.stored], value[plan.stored]
        token_row, position = token_row[plan.stored], position[plan.stored]
    for side, numbers in enumerate((key, value)):
        stored = narrow(numbers, cache.dtype)
        cache[:, side].index_put_(slots, stored)
        if guard is not None:
            # What 8 bits hold tells less than the numbers did: fp8 saturates.
            told = stored if stored.dtype.itemsize > 1 else numbers
            if not all_finite(told):
                note_first(guard, "keys", told, token_row, position)
