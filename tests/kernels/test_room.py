"""The room of attention: enough for whatever the table names, known from the batch's shape alone."""

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tracert_kernels import twins
from tracert_kernels.kv_types import KV_TYPES, Covers, stored_width
from tracert_kernels.scratch import Scratch, ScratchShort

KV_HEADS, GROUPS, DIM = 2, 2, 8


def attend(
    lengths: list[tuple[int, int]],
    shared: int,
    page_size: int,
    dtype: torch.dtype,
    room: int | None = None,
    covers: Covers = "valid",
) -> Scratch:
    """Attention of sequences (new tokens, all tokens), the first `shared` pages common, in a planned room."""
    queries, contexts = [count for count, _ in lengths], [length for _, length in lengths]
    width = max(-(-length // page_size) for length in contexts)
    table = torch.arange(1, 1 + len(lengths) * width, dtype=torch.int32).view(len(lengths), width)
    table[:, :shared] = table[0, :shared].clone()
    width_bytes = stored_width(DIM, dtype)
    cache = torch.zeros(int(table.max()) + 1, 2, page_size, KV_HEADS, width_bytes).to(dtype)
    if room is None:
        room = twins.attention_room(queries, contexts, page_size, KV_HEADS * GROUPS, KV_HEADS, DIM, dtype)
    scratch = Scratch(torch.empty(room, dtype=torch.uint8))
    rows = torch.arange(len(lengths), dtype=torch.int32)
    start = torch.tensor([0, *torch.tensor(queries).cumsum(0).tolist()], dtype=torch.int32)
    context = torch.tensor(contexts, dtype=torch.int32)
    none = torch.empty(0, dtype=torch.int32)
    plan = twins.plan(table, rows, start, context, none, none, page_size, scratch=scratch)
    query = torch.zeros(sum(queries), KV_HEADS * GROUPS, DIM)
    for _ in range(2):
        twins.paged_attention(
            torch.empty_like(query), query, cache, table, rows, start, context, 1.0, plan=plan, covers=covers
        )
    return scratch


@settings(max_examples=120, deadline=None)
@given(
    lengths=st.lists(
        st.one_of(
            st.tuples(st.just(1), st.integers(1, 400)),
            st.integers(1, 40).flatmap(lambda count: st.tuples(st.just(count), st.integers(count, 400))),
        ),
        min_size=1,
        max_size=7,
    ),
    shared=st.integers(0, 24),
    page_size=st.sampled_from([16, 32]),
    dtype=st.sampled_from(list(KV_TYPES.values())),
    covers=st.sampled_from(["valid", "page"]),
)
@example(lengths=[(1, 3000), (1, 2999)], shared=0, page_size=16, dtype=torch.float32, covers="page")
@example(
    lengths=[(1, 1500), (1, 900), (1, 900), (1, 880), (1, 160)],
    shared=9,
    page_size=16,
    dtype=torch.int8,
    covers="valid",
)
def test_it_is_enough(
    lengths: list[tuple[int, int]], shared: int, page_size: int, dtype: torch.dtype, covers: Covers
) -> None:
    """Prompts, decoding sequences alone and together, prefixes in common or not, in every type and cover."""
    attend(lengths, shared, page_size, dtype, covers=covers)


@pytest.mark.parametrize("lengths", [[(5, 37)], [(1, 37)]])
def test_one_sequence_takes_all_of_it(lengths: list[tuple[int, int]]) -> None:
    """Its keys and its values, as they are: not a byte more is planned, and one less is too little."""
    room = 2 * 48 * KV_HEADS * DIM * 4
    assert room == twins.attention_room(
        [lengths[0][0]], [37], 16, KV_HEADS * GROUPS, KV_HEADS, DIM, torch.float32
    )
    attend(lengths, 0, 16, torch.float32, room)
    with pytest.raises(ScratchShort, match="values needs 3072 bytes of scratch; of 6143 that were"):
        attend(lengths, 0, 16, torch.float32, room - 1)


def test_frames_lie_one_over_the_other() -> None:
    """What comes back in a frame lies where it lay; another frame begins at the start again."""
    scratch = Scratch(torch.empty(256, dtype=torch.uint8))
    first, second = (scratch.take(name, (8,), torch.float32) for name in ("a", "b"))
    scratch.frame(1)
    other = scratch.take("c", (64,), torch.uint8)
    assert other.data_ptr() == first.data_ptr()
    scratch.frame(0)
    assert scratch.take("b", (8,), torch.float32) is second
    assert second.data_ptr() - first.data_ptr() == 64
    with pytest.raises(ScratchShort):
        scratch.take("d", (33,), torch.float32)


def test_without_a_room_it_has_its_own() -> None:
    """Memory by name, kept from call to call, and larger when it has to be."""
    scratch = Scratch()
    first = scratch.take("a", (8,), torch.float32)
    scratch.frame(3)
    assert scratch.take("a", (4,), torch.float32).data_ptr() == first.data_ptr()
    assert scratch.take("a", (64,), torch.float32).shape == (64,)
