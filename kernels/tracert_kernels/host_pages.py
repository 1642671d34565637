"""Whole pages copied to slots of pinned host memory and back: the same on every device.

Plain torch copies, one for each run of neighbours: on a GPU its copy engine makes them, asynchronously since
`host` is pinned. Page ids and slots are plain numbers, taken at the launch, as a copy engine's addresses are;
the bytes are read and written when the copy executes.

`cache_bytes` uint8 [pages, page_bytes]; `host` uint8 [slots, page_bytes]; `pages` and `slots` are parallel,
targets distinct. IndexError, with nothing copied, for a page or slot out of range.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import torch


def offload_pages(
    cache_bytes: torch.Tensor, host: torch.Tensor, pages: Sequence[int], slots: Sequence[int]
) -> None:
    """Slot `slots[i]` becomes a copy of page `pages[i]`."""
    for page, slot, count in _runs(cache_bytes, host, pages, slots):
        host[slot : slot + count].copy_(cache_bytes[page : page + count], non_blocking=True)


def load_pages(
    cache_bytes: torch.Tensor, host: torch.Tensor, pages: Sequence[int], slots: Sequence[int]
) -> None:
    """Page `pages[i]` becomes a copy of slot `slots[i]`."""
    for page, slot, count in _runs(cache_bytes, host, pages, slots):
        cache_bytes[page : page + count].copy_(host[slot : slot + count], non_blocking=True)


def _runs(
    cache_bytes: torch.Tensor, host: torch.Tensor, pages: Sequence[int], slots: Sequence[int]
) -> Iterator[tuple[int, int, int]]:
    """(first page, first slot, how many) of each run in which both go on by one."""
    _require("page", pages, len(cache_bytes))
    _require("slot", slots, len(host))
    pairs = list(zip(pages, slots, strict=True))
    parted = [at for at, (one, next_) in enumerate(pairwise(pairs), 1) if next_ != (one[0] + 1, one[1] + 1)]
    for first, end in pairwise([0, *parted, len(pairs)]):
        if first < end:
            yield *pairs[first], end - first


def _require(name: str, ids: Sequence[int], limit: int) -> None:
    for each in ids:
        if not 0 <= each < limit:
            raise IndexError(f"{name} {each} is out of range 0..{limit}")
