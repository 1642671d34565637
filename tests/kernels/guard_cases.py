"""What guarded kernels must note and leave alone, worked out without them: for the twins and for Triton."""

from collections.abc import Sequence

import torch
from tracert_kernels import twins
from tracert_kernels.dispatch import Kernels
from tracert_kernels.guard import NOTES, Guard, first_value
from tracert_kernels.kv_types import Covers

from tests.kernels.paged import LAYER, Paged, Shape, paged

Planted = tuple[int, int, int]
"""Which sequence, which of its entries, and what that is made to name."""


def guard_of(case: Paged, layer: int = 0) -> Guard:
    """A guard's memory, full of what an earlier forward left."""
    return Guard(torch.full_like(case.table, 77), torch.full((len(case.table), NOTES), 5), layer)


def planted(case: Paged, bad: Sequence[Planted]) -> None:
    """Break entries of the table."""
    for b, index, page in bad:
        case.table[case.rows[b], index] = page


def forward(kernels: Kernels, case: Paged, guard: Guard, covers: Covers = "valid") -> torch.Tensor:
    """One layer, as a decoder runs it: answers for the queries, whose keys and values are stored first."""
    size, pages = case.shape.page_size, len(case.arena)
    kernels.follow_rows(guard, case.table, case.rows, case.context, size, pages)
    key, value = _own(case)
    out = torch.full_like(case.queries, 9.0)
    batch = case.rows, case.query_start, case.context
    plan = kernels.plan(guard.seen, *batch, case.token_row, case.position, size, guard=guard)
    layer, tokens = case.cache, (case.token_row, case.position)
    kernels.store_kv(key, value, layer, guard.seen, *tokens, plan=plan, guard=guard)
    kernels.paged_attention(
        out, case.queries, layer, guard.seen, *batch, case.scale, plan=plan, covers=covers, guard=guard
    )
    return out


def _own(case: Paged) -> tuple[torch.Tensor, torch.Tensor]:
    """The new tokens' keys and values, as the case says that they are."""
    parts = [
        [side[b][len(side[b]) - int(count) :] for b, count in enumerate(case.query_start.diff())]
        for side in (case.keys, case.values)
    ]
    key, value = (torch.cat(part) for part in parts)
    return key, value


def check_followed(
    kernels: Kernels,
    sequences: list[tuple[int, int]],
    bad: Sequence[Planted],
    dtype: torch.dtype = torch.float32,
    covers: Covers = "valid",
) -> None:
    """Sequences with a bad entry are noted and left alone; the others are answered as without a guard."""
    case, sound = (paged(sequences, Shape(dtype=dtype), garbage=0.5) for _ in range(2))
    planted(case, bad)
    expected = torch.empty_like(sound.queries)
    batch = sound.rows, sound.query_start, sound.context
    twins.paged_attention(
        expected, sound.queries, sound.cache, sound.table, *batch, sound.scale, covers=covers
    )
    before, guard = case.arena.clone(), guard_of(case)
    out = forward(kernels, case, guard, covers)

    for b, row in enumerate(case.rows.tolist()):
        walked = -(-int(case.context[b]) // case.shape.page_size)
        entries = case.table[row, :walked].tolist()
        wrong = [(index, page) for index, page in enumerate(entries) if not 0 < page < len(case.arena)]
        if walked > len(entries):
            wrong.append((len(entries), -1))
        first = wrong[0] if wrong else (-1, 0)
        assert [walked, *first] == guard.notes[row, :3].tolist()
        assert first_value(int(guard.notes[row, 3])) is None
        assert entries == guard.seen[row, : len(entries)].tolist()
        assert (guard.seen[row, walked:] == 77).all()
        tokens = slice(int(case.query_start[b]), int(case.query_start[b + 1]))
        if wrong:
            expected[tokens] = 0.0
        tolerance = 2e-2 if case.queries.dtype == torch.bfloat16 else 1e-5
        torch.testing.assert_close(expected[tokens], out[tokens], atol=tolerance, rtol=tolerance)
    # What is stored is what lay there: nothing else may have changed, of whatever sequence.
    assert torch.equal(before.view(torch.uint8), case.arena.view(torch.uint8))
    others = [row for row in range(len(case.table)) if row not in case.rows.tolist()]
    assert (guard.notes[others] == 5).all()


def check_stored_elsewhere_not(kernels: Kernels) -> None:
    """New keys of a sequence with a bad entry go nowhere, not even to what its good entries name."""
    case = paged([(20, 3), (40, 2)], Shape(), garbage=0.5)
    planted(case, [(0, 0, 2**31 - 1)])
    before, guard = case.arena.clone(), guard_of(case)
    kernels.follow_rows(guard, case.table, case.rows, case.context, 16, len(case.arena))
    ones = torch.ones(5, 2, 32)
    kernels.store_kv(ones, ones, case.cache, guard.seen, case.token_row, case.position, guard=guard)
    changed = (before != case.arena).flatten(2).any(2).nonzero().tolist()
    assert [[case.held(1)[2], LAYER]] == changed


def check_first_value(kernels: Kernels, dtype: torch.dtype, *, stage: str, value: float) -> None:
    """Of values that are not finite, in several layers and positions, the first in order is what is noted."""
    case = paged([(40, 1), (50, 20), (37, 4)], Shape(dtype=dtype), garbage=0.5)
    guard = guard_of(case)
    kernels.follow_rows(guard, case.table, case.rows, case.context, 16, len(case.arena))
    tokens = case.token_row, case.position
    batch = case.rows, case.query_start, case.context
    key = torch.zeros(25, 2, 32, dtype=case.shape.numbers)
    out = torch.empty_like(case.queries)
    # Tokens 1 to 20 are positions 30 to 49 of sequence 1.
    expected = 3, stage, 38
    if stage == "keys":
        for layer, token in ((5, 3), (3, 17), (3, 9), (4, 2)):
            wrong = key.clone()
            wrong[token, 1, 7] = value
            sides = (wrong, key) if token == 9 else (key, wrong)
            kernels.store_kv(*sides, case.cache, guard.seen, *tokens, guard=guard._replace(layer=layer))
    else:
        for layer, token in ((5, 3), (3, 17), (3, 9), (4, 2)):
            wrong = case.queries.clone()
            wrong[token, 1, 7] = value
            kernels.paged_attention(
                out, wrong, case.cache, guard.seen, *batch, case.scale, guard=guard._replace(layer=layer)
            )
    notes = guard.notes[case.rows.long(), 3].tolist()
    assert [None, expected, None] == [first_value(note) for note in notes]
