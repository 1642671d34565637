"""The radix prefix cache: a tree of token sequences, whose edges are runs of full pages.

    root(identity) -- [p1 p2 p3] -- [p7 p8]
                              \\---- [p9]

Each identity has a root of its own, and what decides is the tokens themselves, compared page by page; a
digest is only a name in the history. Edges part at page borders: a match that ends inside an edge splits
it, so that a hit is always a node's whole path; an insert splits where tokens part, and lengthens the
edge of a leaf in place. Where two requests compute the same front, the first insert wins.

Eviction takes pages from the ends of edges without children, least recently used first. An edge is used
as a whole; a use of a node is a use of its path, of which a parent learns when it becomes a leaf, the
first time that it matters. An insert that adds nothing is no use. The heap has every leaf once, perhaps
under a `used` of the past: a leaf gets no child, for it grows instead, or a split puts another above it.
A page that anyone beside its node holds is in use, the last one of a hit included: the pool's holders are
the lock, and what comes before a page in use lies in its edge or above it, so it can't go either.

**In the history** a node's pages and place change, its number is never given to another node:

* `insert` puts `pages` at the end of `node`, which from now on ends in `digest`, below `parent`. Pages of
  another node are moved, not cached twice: a split is the insert of a new node with the front of an old
  one, and an insert of the old one with no pages, below the new one. Holds move accordingly.
* `evict` takes `pages` off the end of `node`; a node without pages is gone. If some are left, an insert
  without pages follows, with the digest in which the node ends now.

So a node is what its last insert says, and a page of a life is cached when the last of these events that
names it is an insert.

Knows nothing of partial pages: a tail that ends inside a page is not cached.
"""

import heapq
import time
from collections.abc import Sequence

from tracert.memory.errors import InvariantError
from tracert.memory.pool import PagePool
from tracert.memory.prefix import Identity, Match
from tracert.memory.prefix_digest import chained, identity_key, root_digest, token_bytes
from tracert.memory.radix_node import Node
from tracert.record.access import Holder
from tracert.record.recorder import Recorder

CURSORS = 1024
"""Requests whose place in the tree is remembered; one forgotten is found again from the root."""


class RadixCache:
    """A tree over the pages of `pool`; `secret` keys the digests and identities that the history has."""

    def __init__(self, recorder: Recorder, pool: PagePool, secret: bytes) -> None:
        self._recorder = recorder
        self._pool = pool
        self._secret = secret
        self._page_size = pool.page_size
        self._width = len(token_bytes([0])) * pool.page_size
        self._roots: dict[Identity, Node] = {}
        self._nodes: dict[int, Node] = {}
        self._heap: list[tuple[int, int]] = []
        self._cursors: dict[int, tuple[Node, int, int]] = {}
        self._numbers = 0
        self._clock = 0
        self._cached = 0

    def match(self, request: int, tokens: Sequence[int], identity: Identity) -> Match:
        """The longest cached front, in full pages, short of the last token; the pages are not held yet."""
        began = time.perf_counter_ns()
        full = max(len(tokens) - 1, 0) // self._page_size
        wanted = token_bytes(tokens[: full * self._page_size])
        node, reached = self._walk(self._roots.get(identity) or self._new_root(identity), 0, wanted)
        if reached < node.end:
            node = self._split(node, reached)
        if node.number:
            self._use(node)
            self._remember(request, node, reached)
        path = node.path()
        pages = [page for step in path for page in step.pages]
        lives = [life for step in path for life in step.lives]
        nodes = [step.number for step in path for _ in step.pages]
        hit = reached * self._page_size
        took = time.perf_counter_ns() - began
        key = identity_key(self._secret, identity)
        self._recorder.match(request, node.number, node.digest, key, hit, pages, lives, took)
        return Match(pages, lives, hit, nodes)

    def insert(
        self,
        request: int,
        tokens: Sequence[int],
        pages: Sequence[int],
        identity: Identity,
        computed_tokens: int,
    ) -> int:
        """Cache the pages that are full by now and hold a front that is not cached yet.

        Call it after the launch that writes them; see the ordering rule in `prefix_cache`. `tokens` may be
        longer than what is computed. Goes on where the request's last call ended, so a call is cheap.
        """
        full = min(computed_tokens // self._page_size, len(pages))
        node, index = self._resume(request)
        if index >= full:
            return 0
        wanted = token_bytes(tokens[index * self._page_size : full * self._page_size])
        if node is None:
            node = self._roots.setdefault(identity, self._new_root(identity))
        node, reached = self._walk(node, index, wanted)
        added = full - reached
        if added:
            if reached < node.end:
                node = self._split(node, reached)
            node = self._add(node, wanted[(reached - index) * self._width :], list(pages[reached:full]))
            self._use(node)
        self._remember(request, node, full)
        return added

    def evict(self, count: int) -> int:
        """Evict up to `count` pages that nobody else holds, least recently used edges first, ends first.

        They are free then, or retired when a fence given to an earlier drop still guards them.
        """
        freed = 0
        left: list[tuple[int, int]] = []
        while freed < count and self._heap:
            used, number = heapq.heappop(self._heap)
            node = self._nodes[number]
            if node.used != used:
                heapq.heappush(self._heap, (node.used, number))
                continue
            unused = self._unused(node, count - freed)
            if unused < len(node.pages):
                left.append((used, number))
            if unused:
                self._cut(node, unused)
                freed += unused
        for entry in left:
            heapq.heappush(self._heap, entry)
        return freed

    def pages(self) -> int:
        """How many pages are cached, in use or not."""
        return self._cached

    def reset(self) -> None:
        """Forget every node, deepest first; pages that requests hold stay theirs."""
        for node in sorted(self._nodes.values(), key=lambda node: node.start, reverse=True):
            self._cut(node, len(node.pages))
        self._heap.clear()
        self._cursors.clear()

    def check(self) -> None:
        """InvariantError when the tree, an index, a holder or a life is not what the nodes say."""
        wrong: list[str] = []
        owner: dict[int, int] = {}
        below: dict[int, int] = dict.fromkeys(self._nodes, 0)
        for number, node in self._nodes.items():
            count, parent = len(node.pages), node.parent
            if not count or {len(node.lives), len(node.digests), len(node.tokens) / self._width} != {count}:
                wrong.append(f"node {number} has {count} pages, and lives, digests or tokens of others")
            if parent is None or parent.children.get(node.key) is not node or parent.end != node.start:
                wrong.append(f"node {number} does not hang where its parent ends")
            elif parent.number and self._nodes.get(parent.number) is not parent:
                wrong.append(f"node {number} has lost its parent {parent.number}")
            elif not parent.number and self._roots.get(node.identity) is not parent:
                wrong.append(f"node {number} hangs below a root that is not its identity's")
            elif parent.number:
                below[parent.number] += 1
            for page, life in zip(node.pages, node.lives, strict=False):
                if self._pool.holders(page).get(Holder("prefix", number)) != "read":
                    wrong.append(f"node {number} does not hold page {page}")
                if self._pool.lives([page]) != [life]:
                    wrong.append(f"node {number} has page {page} in life {life}, which has ended")
                if page in owner:
                    wrong.append(f"nodes {owner[page]} and {number} share page {page}")
                owner[page] = number
        for number, node in self._nodes.items():
            if len(node.children) != below[number]:
                wrong.append(f"node {number} has {below[number]} children and names {len(node.children)}")
        leaves = sorted(number for number, node in self._nodes.items() if not node.children)
        if sorted(number for _, number in self._heap) != leaves:
            wrong.append(f"other nodes are queued for eviction than the leaves {leaves}")
        if not all(root.children for root in self._roots.values()):
            wrong.append("a root has nothing below it")
        if self._cached != len(owner):
            wrong.append(f"{self._cached} pages are counted, {len(owner)} are cached")
        if wrong:
            raise InvariantError("the prefix cache contradicts itself: " + "; ".join(wrong))

    def _new_root(self, identity: Identity) -> Node:
        """A root that is kept only once something hangs below it."""
        return Node(0, None, identity, self._width, 0, [root_digest(self._secret, identity)])

    def _walk(self, node: Node, index: int, wanted: bytes) -> tuple[Node, int]:
        """Follow `wanted`, the tokens from page `index` on, which is in or behind `node`'s edge.

        Returns the node in whose edge the common front ends, and the position where it does.
        """
        at, reached = 0, index
        while True:
            same = node.common(reached, wanted[at:])
            reached += same
            at += same * self._width
            child = node.children.get(wanted[at : at + self._width]) if reached == node.end else None
            if child is None:
                return node, reached
            node = child

    def _split(self, node: Node, position: int) -> Node:
        """Part the edge at a position inside it; returns the new node, which has the front."""
        self._numbers += 1
        front = node.cut_front(position - node.start, self._numbers)
        self._nodes[front.number] = front
        self._pool.hold(front.pages, Holder("prefix", front.number), "read")
        self._tell(front, front.pages, front.lives)
        self._tell(node, [], [])
        self._pool.drop(front.pages, Holder("prefix", node.number), "read")
        return front

    def _add(self, node: Node, tokens: bytes, pages: list[int]) -> Node:
        """Pages behind `node`: in its own edge when it is a leaf, or else in a new child."""
        digests = [node.digest]
        for first in range(0, len(tokens), self._width):
            digests.append(chained(self._secret, digests[-1], tokens[first : first + self._width]))
        if node.children or not node.number:
            parent, self._numbers = node, self._numbers + 1
            node = Node(self._numbers, parent, parent.identity, self._width, parent.end, [])
            self._nodes[node.number] = parent.children[tokens[: self._width]] = node
            heapq.heappush(self._heap, (node.used, node.number))
        lives = self._pool.lives(pages)
        node.append(tokens, pages, lives, digests[1:])
        self._cached += len(pages)
        self._pool.hold(pages, Holder("prefix", node.number), "read")
        self._tell(node, pages, lives)
        return node

    def _cut(self, node: Node, count: int) -> None:
        """Evict the last `count` pages of a leaf, and the leaf itself when none is left."""
        key = node.key
        pages, lives = node.cut_end(count)
        self._cached -= count
        self._recorder.evict(node.number, pages, lives)
        if node.pages:
            self._tell(node, [], [])
        else:
            self._remove(node, key)
        self._pool.drop(pages, Holder("prefix", node.number), "read")

    def _remove(self, node: Node, key: bytes) -> None:
        del self._nodes[node.number]
        parent = node.parent
        assert parent is not None
        del parent.children[key]
        parent.used = max(parent.used, node.used)
        if parent.children:
            return
        if parent.number:
            heapq.heappush(self._heap, (parent.used, parent.number))
        else:
            del self._roots[parent.identity]

    def _tell(self, node: Node, pages: Sequence[int], lives: Sequence[int]) -> None:
        above = node.parent.number if node.parent else 0
        key = identity_key(self._secret, node.identity)
        self._recorder.insert(node.number, node.digest, above, pages, lives, key)

    def _unused(self, node: Node, most: int) -> int:
        """How many pages at the end of the edge, up to `most`, only the node holds."""
        unused = 0
        for page in reversed(node.pages):
            if unused == most or self._pool.count(page) > 1:
                break
            unused += 1
        return unused

    def _use(self, node: Node) -> None:
        self._clock += 1
        node.used = self._clock

    def _remember(self, request: int, node: Node, index: int) -> None:
        self._cursors.pop(request, None)
        self._cursors[request] = node, index, node.cuts
        if len(self._cursors) > CURSORS:
            del self._cursors[next(iter(self._cursors))]

    def _resume(self, request: int) -> tuple[Node | None, int]:
        """Where the request's front ended, if those pages are still cached; splits move it up the path."""
        node, index, cuts = self._cursors.get(request, (None, 0, 0))
        if node is None or self._nodes.get(node.number) is not node or node.cuts != cuts:
            return None, 0
        while index <= node.start:
            assert node.parent is not None
            node = node.parent
        return node, index
