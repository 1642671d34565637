"""Nodes of a tree without children, the one used longest ago first.

The heap has every leaf, perhaps under a `used` of the past, and at most one entry a node. An entry of a node
that has got children since is thrown away when it is met, and the node is pushed again when it has none. What
nobody meets, entries of nodes that are gone, is cleared out when it is the most of the heap.
"""

import heapq
from collections.abc import Sized
from typing import Generic, Protocol, TypeVar

SLACK = 64
"""Entries of nodes that are gone, beside as many as there are leaves, that nobody minds."""


class Aged(Protocol):
    """What a leaf must have: `used` only grows."""

    number: int
    used: int

    @property
    def children(self) -> Sized:
        """Empty in a leaf."""


N = TypeVar("N", bound=Aged)


class Leaves(Generic[N]):
    """A queue of nodes by `used`."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int]] = []
        self._queued: dict[int, N] = {}
        self._clock = 0

    def __contains__(self, number: int) -> bool:
        """Is the node of this number queued?"""
        return number in self._queued

    def use(self, node: N) -> None:
        """The node is the youngest from now on."""
        self._clock += 1
        node.used = self._clock

    def push(self, node: N) -> None:
        """The node is a leaf: queue it, unless it is queued already."""
        if node.number not in self._queued:
            self._queued[node.number] = node
            heapq.heappush(self._heap, (node.used, node.number))

    def pop(self) -> N | None:
        """Take the leaf that was used longest ago out of the queue."""
        while self._heap:
            used, number = heapq.heappop(self._heap)
            node = self._queued.get(number)
            if node is None:
                continue
            if node.used != used and not node.children:
                heapq.heappush(self._heap, (node.used, number))
                continue
            del self._queued[number]
            if not node.children:
                return node
        return None

    def forget(self, node: N) -> None:
        """The node is gone, and will not be pushed again."""
        self._queued.pop(node.number, None)
        if len(self._heap) > 2 * len(self._queued) + SLACK:
            self._heap = [entry for entry in self._heap if entry[1] in self._queued]
            heapq.heapify(self._heap)
