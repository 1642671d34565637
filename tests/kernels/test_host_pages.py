import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tracert_kernels.host_pages import load_pages, offload_pages

from tests.kernels.accesses import assert_touches_only, declared

PAGES, SLOTS = [6, 1, 2, 3], [0, 3, 4, 2]


def memories() -> tuple[torch.Tensor, torch.Tensor]:
    """Seven pages and five slots of 32 bytes, none of them alike."""
    generator = torch.Generator().manual_seed(4)
    both = torch.randint(1, 255, (12, 32), dtype=torch.uint8, generator=generator)
    return both[:7].clone(), both[7:].clone()


def test_offload_pages_touches_what_is_declared() -> None:
    """The pages are read, the slots written."""
    pages, slots = (declared(memory) for memory in memories())
    pages.reads[PAGES] = True
    slots.writes[SLOTS] = True
    assert_touches_only([pages, slots], lambda arena, host: offload_pages(arena, host, PAGES, SLOTS))


def test_load_pages_touches_what_is_declared() -> None:
    """The slots are read, the pages written."""
    pages, slots = (declared(memory) for memory in memories())
    slots.reads[SLOTS] = True
    pages.writes[PAGES] = True
    assert_touches_only([pages, slots], lambda arena, host: load_pages(arena, host, PAGES, SLOTS))


@given(st.permutations(range(7)), st.permutations(range(5)), st.integers(0, 5))
def test_runs_are_copied_as_pairs_are(pages: list[int], slots: list[int], count: int) -> None:
    """Neighbours or not, each slot gets its page, and the rest stays; back again likewise."""
    pages, slots = pages[:count], slots[:count]
    arena, host = memories()
    expected = host.clone()
    expected[slots] = arena[pages]
    offload_pages(arena, host, pages, slots)
    assert torch.equal(expected, host)
    before, (_, other) = arena.clone(), memories()
    before[pages] = other[slots]
    load_pages(arena, other, pages, slots)
    assert torch.equal(before, arena)


@pytest.mark.parametrize(
    ("pages", "slots", "message"),
    [([1, 7], [0, 1], "page 7 is out of range 0..7"), ([1, 2], [0, -1], "slot -1 is out of range 0..5")],
)
def test_a_wrong_id_raises_before_anything_is_copied(
    pages: list[int], slots: list[int], message: str
) -> None:
    """Nothing wraps, nothing is clamped, and the good pairs are not let through."""
    arena, host = memories()
    for kernel in (offload_pages, load_pages):
        with pytest.raises(IndexError, match=message):
            kernel(arena, host, pages, slots)
    assert all(torch.equal(kept, memory) for kept, memory in zip(memories(), (arena, host), strict=True))
