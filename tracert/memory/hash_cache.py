"""The hash prefix cache: one node a full page, found by a digest chained on its parent's.

    digest(node) = blake2b(secret, digest(parent) + tokens)      the root's is made of the identity

A digest only finds; what decides is the comparison of tokens and parent (and, below the root, of the
identity) at every step, so that a collision is a miss and never another's page (openvino.genai #3722).
When two requests compute the same page the first insert wins, and the second goes on below that node
with pages of its own: the bytes are equal, and leaves go first, so no node loses its parent.

Eviction is least recently used, leaves first. A use of a node is a use of its whole path; a parent learns
of it when the child is evicted, which is the first time that it matters. A page that anyone beside the
node holds is in use: the pool's holders are the lock. The heap has every leaf, perhaps under a `used` of
the past; an entry of a node that has children since is older than theirs, so it is met, and thrown
away, before them: no node is in the heap twice.
"""

import heapq
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tracert.memory.errors import InvariantError
from tracert.memory.pool import PagePool
from tracert.memory.prefix import Identity, Match
from tracert.memory.prefix_digest import chained as chained
from tracert.memory.prefix_digest import identity_bytes, identity_key, token_bytes
from tracert.record.access import Holder
from tracert.record.recorder import Recorder

Digest = Callable[[bytes, bytes, bytes], bytes]
"""(secret, parent digest, tokens as int32) -> digest."""

CURSORS = 1024
"""Requests whose place in the chain is remembered; one forgotten is found again from the root."""


@dataclass(slots=True, eq=False)
class Node:
    """A cached page: `parent` None at the top, where `identity` tells prefixes apart."""

    number: int
    digest: bytes
    parent: "Node | None"
    identity: Identity
    block: bytes
    page: int
    life: int
    used: int
    children: int = 0


class HashCache:
    """Nodes over the pages of `pool`; `digest` is given another function only to test collisions."""

    def __init__(
        self, recorder: Recorder, pool: PagePool, secret: bytes, *, digest: Digest = chained
    ) -> None:
        self._recorder = recorder
        self._pool = pool
        self._secret = secret
        self._digest = digest
        self._page_size = pool.page_size
        self._nodes: dict[int, Node] = {}
        self._by_digest: dict[bytes, Node] = {}
        self._heap: list[tuple[int, int]] = []
        self._cursors: dict[int, tuple[Node, int]] = {}
        self._numbers = 0
        self._clock = 0

    def match(self, request: int, tokens: Sequence[int], identity: Identity) -> Match:
        """The longest cached front, in full pages, short of the last token; the pages are not held yet."""
        began = time.perf_counter_ns()
        digest = self._root(identity)
        node: Node | None = None
        path: list[Node] = []
        for index in range((len(tokens) - 1) // self._page_size):
            block = self._block(tokens, index)
            wanted = self._digest(self._secret, digest, block)
            found = self._by_digest.get(wanted)
            if found is None or not _same(found, node, identity, block):
                break
            node, digest = found, wanted
            path.append(found)
        if node is not None:
            self._use(node)
            self._remember(request, node, len(path))
        pages = [found.page for found in path]
        lives = [found.life for found in path]
        hit_tokens = len(path) * self._page_size
        took = time.perf_counter_ns() - began
        number = node.number if node else 0
        key = identity_key(self._secret, identity)
        self._recorder.match(request, number, digest, key, hit_tokens, pages, lives, took)
        return Match(pages, lives, hit_tokens, [found.number for found in path])

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
        digest = node.digest if node else self._root(identity)
        added = 0
        while index < full:
            block = self._block(tokens, index)
            digest = self._digest(self._secret, digest, block)
            found = self._by_digest.get(digest)
            if found is None:
                found = self._add(digest, node, identity, block, pages[index])
                added += 1
            elif not _same(found, node, identity, block):
                break
            node = found
            index += 1
        if node is not None:
            self._use(node)
            self._remember(request, node, index)
        return added

    def evict(self, count: int) -> int:
        """Evict up to `count` nodes whose page nobody else holds, least recently used leaves first.

        Their pages are free, or retired when a fence given to an earlier drop still guards them.
        """
        freed = 0
        in_use: list[tuple[int, int]] = []
        while freed < count and self._heap:
            used, number = heapq.heappop(self._heap)
            node = self._nodes[number]
            if node.children:
                continue
            if node.used != used:
                heapq.heappush(self._heap, (node.used, number))
            elif self._pool.count(node.page) > 1:
                in_use.append((used, number))
            else:
                self._remove(node)
                freed += 1
        for entry in in_use:
            heapq.heappush(self._heap, entry)
        return freed

    def pages(self) -> int:
        """How many pages are cached, in use or not."""
        return len(self._nodes)

    def reset(self) -> None:
        """Forget every node, deepest first; pages that requests hold stay theirs."""
        for node in reversed(list(self._nodes.values())):
            self._remove(node)
        self._heap.clear()
        self._cursors.clear()

    def check(self) -> None:
        """InvariantError when an index, a count, a holder or a life is not what the nodes say."""
        wrong: list[str] = []
        children = dict.fromkeys(self._nodes, 0)
        owner: dict[int, int] = {}
        queued = {number for _, number in self._heap}
        for number, node in self._nodes.items():
            if node.parent is not None:
                if self._nodes.get(node.parent.number) is not node.parent:
                    wrong.append(f"node {number} has lost its parent {node.parent.number}")
                else:
                    children[node.parent.number] += 1
            if self._by_digest.get(node.digest) is not node:
                wrong.append(f"node {number} is not found by its digest")
            if self._pool.holders(node.page).get(Holder("prefix", number)) != "read":
                wrong.append(f"node {number} does not hold page {node.page}")
            if self._pool.lives([node.page]) != [node.life]:
                wrong.append(f"node {number} has page {node.page} in life {node.life}, which has ended")
            if owner.setdefault(node.page, number) != number:
                wrong.append(f"nodes {owner[node.page]} and {number} share page {node.page}")
        for number, node in self._nodes.items():
            if node.children != children[number]:
                wrong.append(f"node {number} counts {node.children} children and has {children[number]}")
            if not node.children and number not in queued:
                wrong.append(f"node {number} can't be evicted")
        if len(self._by_digest) != len(self._nodes):
            wrong.append(f"{len(self._by_digest)} digests for {len(self._nodes)} nodes")
        if wrong:
            raise InvariantError("the prefix cache contradicts itself: " + "; ".join(wrong))

    def _add(self, digest: bytes, parent: Node | None, identity: Identity, block: bytes, page: int) -> Node:
        self._numbers += 1
        self._clock += 1
        (life,) = self._pool.lives([page])
        node = Node(self._numbers, digest, parent, identity, block, page, life, self._clock)
        if parent is not None:
            parent.children += 1
        self._nodes[node.number] = self._by_digest[digest] = node
        heapq.heappush(self._heap, (node.used, node.number))
        self._pool.hold([page], Holder("prefix", node.number), "read")
        above = parent.number if parent else 0
        self._recorder.insert(
            node.number, digest, above, [page], [life], identity_key(self._secret, identity)
        )
        return node

    def _remove(self, node: Node) -> None:
        del self._nodes[node.number]
        del self._by_digest[node.digest]
        self._recorder.evict(node.number, [node.page], [node.life])
        self._pool.drop([node.page], Holder("prefix", node.number), "read")
        parent = node.parent
        if parent is None:
            return
        parent.children -= 1
        parent.used = max(parent.used, node.used)
        if not parent.children:
            heapq.heappush(self._heap, (parent.used, parent.number))

    def _use(self, node: Node) -> None:
        self._clock += 1
        node.used = self._clock

    def _remember(self, request: int, node: Node, index: int) -> None:
        self._cursors.pop(request, None)
        self._cursors[request] = node, index
        if len(self._cursors) > CURSORS:
            del self._cursors[next(iter(self._cursors))]

    def _resume(self, request: int) -> tuple[Node | None, int]:
        """Where the request's chain ended, if that node is still cached."""
        node, index = self._cursors.get(request, (None, 0))
        if node is None or self._nodes.get(node.number) is not node:
            return None, 0
        return node, index

    def _block(self, tokens: Sequence[int], index: int) -> bytes:
        first = index * self._page_size
        return token_bytes(tokens[first : first + self._page_size])

    def _root(self, identity: Identity) -> bytes:
        return self._digest(self._secret, b"", identity_bytes(identity))


def _same(found: Node, parent: Node | None, identity: Identity, block: bytes) -> bool:
    """Is the node found by digest the one that was looked for?"""
    if found.parent is not parent or found.block != block:
        return False
    return parent is not None or found.identity == identity
