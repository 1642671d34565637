"""Replays recorded events into the state they tell of.

Independent of tracert.memory: it reads events only, so that a wrong event cannot agree by accident.
"""

from typing import Any

from tracert.record.access import Holder, Mode


class Fold:
    """Pages, rows and prefix nodes as the history has them."""

    def __init__(self, events: list[tuple[str, dict[str, Any]]]) -> None:
        self.life: dict[int, int] = {}
        self.state: dict[int, str] = {}
        self.holders: dict[int, dict[Holder, Mode]] = {}
        self.mapped: dict[int, list[tuple[int, int]]] = {}
        self.device_row: dict[int, dict[int, tuple[int, int]]] = {}
        self.tenant: dict[int, tuple[int, int]] = {}
        self.epoch: dict[int, int] = {}
        self.nodes: dict[int, tuple[bytes, int, list[tuple[int, int]], int]] = {}
        self.cached: dict[tuple[int, int], int] = {}
        self.tails: dict[int, int] = {}
        """Positions that count, of nodes whose page is filled in part."""
        self.newest_node = 0
        self.slots: dict[int, tuple[int, int]] = {}
        """Slots of the host tier, and the page in its life that each was copied from."""
        for kind, fields in events:
            getattr(self, f"_{kind}", lambda **_: None)(**fields)

    def _alloc(self, pages: list[tuple[int, int]], holder: Holder) -> None:
        for page, life in pages:
            assert life == self.life.get(page, 0) + 1, f"page {page} skipped a life"
            assert self.state.get(page, "free") == "free", f"page {page} was granted while {self.state[page]}"
            self.life[page], self.state[page] = life, "held"
            self.holders[page] = {holder: "write"}

    def _hold(self, pages: list[tuple[int, int]], holder: Holder, mode: Mode) -> None:
        for page, life in pages:
            assert life == self.life[page]
            self.holders[page][holder] = mode

    def _drop(self, pages: list[tuple[int, int]], holder: Holder, mode: Mode) -> None:
        for page, life in pages:
            assert life == self.life[page]
            assert self.holders[page].pop(holder) == mode

    def _retire(self, pages: list[tuple[int, int]], fence: int) -> None:
        for page, life in pages:
            assert (life, {}) == (self.life[page], self.holders[page])
            self.state[page] = "retired"

    def _free(self, pages: list[tuple[int, int]]) -> None:
        for page, life in pages:
            assert (life, {}) == (self.life[page], self.holders[page])
            self.state[page] = "free"

    def _row_acquire(self, row: int, generation: int, request: int) -> None:
        assert generation == self.tenant.get(row, (0, 0))[0] + 1
        self.tenant[row] = generation, request
        self.mapped[row] = []

    def _row_release(self, row: int, generation: int, request: int) -> None:
        assert self.tenant[row] == (generation, request)
        self.tenant[row] = generation, 0

    def _map(self, row: int, generation: int, index: int, pages: list[tuple[int, int]]) -> None:
        assert (generation, index) == (self.tenant[row][0], len(self.mapped[row]))
        self.mapped[row] += pages

    def _unmap(self, row: int, generation: int, index: int, pages: list[tuple[int, int]]) -> None:
        assert (generation, pages) == (self.tenant[row][0], self.mapped[row][index:])
        del self.mapped[row][index:]

    def _publish(self, row: int, epoch: int, entries: list[tuple[int, int, int]], **_: Any) -> None:
        assert epoch == self.epoch.get(row, 0) + 1
        self.epoch[row] = epoch
        for index, page, life in entries:
            self.device_row.setdefault(row, {})[index] = page, life

    def _offload(self, entries: list[tuple[int, int, int]], **_: Any) -> None:
        assert len(entries) == len({slot for slot, _, _ in entries})
        for slot, page, life in entries:
            assert (life, "held") == (self.life[page], self.state[page])
            self.slots[slot] = page, life

    def _load(self, entries: list[tuple[int, int, int]], **_: Any) -> None:
        for slot, page, life in entries:
            assert slot in self.slots, f"slot {slot} was loaded before anything was in it"
            assert (life, "held") == (self.life[page], self.state[page])

    def _insert(
        self,
        node: int,
        digest: bytes,
        parent: int,
        pages: list[tuple[int, int]],
        identity: int,
        positions: int = 0,
    ) -> None:
        if node not in self.nodes:
            assert node > self.newest_node, f"the number of node {node} is used again"
            assert pages, f"node {node} is new and has no page"
            self.newest_node = node
        assert parent == 0 or parent in self.nodes
        assert parent not in self.tails, f"node {node} hangs below a page that is not full"
        held = self.nodes.get(node, (b"", 0, [], 0))[2]
        for page in pages:
            self._move(page, node)
        self.nodes[node] = digest, parent, held + pages, identity
        if positions:
            assert len(held + pages) == 1, f"node {node} has more than the page that is filled in part"
            self.tails[node] = positions

    def _move(self, page: tuple[int, int], node: int) -> None:
        """A page that another node has is one that a split takes from the front of its edge."""
        former = self.cached.get(page)
        if former is not None:
            assert former != node, f"page {page} is cached twice"
            assert self.nodes[former][2].pop(0) == page
            assert self.nodes[former][2], f"node {former} was emptied by a split"
        self.cached[page] = node

    def _evict(self, node: int, pages: list[tuple[int, int]]) -> None:
        held = self.nodes[node][2]
        assert pages
        assert held[-len(pages) :] == pages, "not the end of the edge"
        assert all(parent != node for _, parent, _, _ in self.nodes.values()), "a parent went first"
        del held[-len(pages) :]
        for page in pages:
            del self.cached[page]
        if not held:
            del self.nodes[node]
            self.tails.pop(node, None)

    def _match(self, node: int, digest: bytes, pages: list[tuple[int, int]], identity: int, **_: Any) -> None:
        """Whole pages of the node's path, and perhaps a tail, the first page of a node just below."""
        last = node
        assert not node or self.nodes[node][0] == digest
        walked = []
        while node:
            told = self.nodes[node]
            assert told[3] == identity
            walked.append(told[2])
            node = told[1]
        whole = [page for held in reversed(walked) for page in held]
        assert pages[: len(whole)] == whole
        for page in pages[len(whole) :]:
            below = self.cached[page]
            assert len(pages) == len(whole) + 1
            assert self.nodes[below][1] == last
            assert self.nodes[below][2][0] == page
            assert self.nodes[below][3] == identity
