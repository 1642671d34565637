"""The tree that prefix caches keep: nodes with pages, found by the tokens of a prompt, evicted leaves first.

    root(identity) -- [p1 p2 p3] -- [p7 p8]
                              \\---- [p9] -- [p4: filled in part]

Each identity has a root of its own. How a prompt is followed down the tree, and how pages are added to it, is
the subclass's; matches, ends of requests, eviction and what the history is told are here, for all kinds.

A *tail* is what a match has of the page behind its whole pages: the longest front of a cached page with the
prompt's next tokens. The page is the first of a node below, or one that a request which ended left filled in
part. Such a page is a leaf of its own. It goes when a page is cached in its place that begins with its
tokens: no page is cached beside one that has all of its positions.

Eviction takes pages from the ends of edges without children, least recently used first. An edge is used
as a whole; a use of a node is a use of its path, of which a parent learns when it becomes a leaf, the
first time that it matters. A copy of the front of a full page is no use of that page, and an insert that
adds nothing is none. A page that anyone beside its node holds is in use, the last one of a hit included:
the pool's holders are the lock, and what comes before a page in use lies in its edge or above it, so it
can't go either.

**In the history** a node's pages and place change, its number is never given to another node:

* `insert` puts `pages` at the end of `node`, which from now on ends in `digest`, below `parent`. Pages of
  another node are moved, not cached twice: a split is the insert of a new node with the front of an old
  one, and an insert of the old one with no pages, below the new one. Holds move accordingly. `positions`
  says how many of a page count that is filled in part.
* `evict` takes `pages` off the end of `node`; a node without pages is gone. If some are left, an insert
  without pages follows, with the digest in which the node ends now.

So a node is what its last insert says, and a page of a life is cached when the last of these events that
names it is an insert.
"""

import time
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from tracert.memory.errors import InvariantError
from tracert.memory.leaves import Leaves
from tracert.memory.pool import PagePool
from tracert.memory.prefix import Identity, Match, Spill, Tail
from tracert.memory.prefix_digest import (
    Digest,
    chained,
    identity_key,
    page_digests,
    root_digest,
    token_bytes,
)
from tracert.memory.prefix_node import Node
from tracert.record.access import Holder
from tracert.record.recorder import Recorder

CURSORS = 1024
"""Requests whose place in the tree is remembered; one forgotten is found again from the root."""


class Cut(NamedTuple):
    """Pages that left a node, and are held for it still."""

    holder: Holder
    pages: list[int]
    lives: list[int]
    digests: list[bytes]
    blocks: list[bytes]


class PrefixTree:
    """A tree over the pages of `pool`; `secret` keys the digests and identities that the history has."""

    def __init__(
        self,
        recorder: Recorder,
        pool: PagePool,
        secret: bytes,
        *,
        spill: Spill | None = None,
        digest: Digest = chained,
    ) -> None:
        self._recorder = recorder
        self._pool = pool
        self._secret = secret
        self._spill = spill
        self._digest = digest
        self._page_size = pool.page_size
        self._token_bytes = len(token_bytes([0]))
        self._width = self._token_bytes * pool.page_size
        self._roots: dict[Identity, Node] = {}
        self._nodes: dict[int, Node] = {}
        self._leaves: Leaves[Node] = Leaves()
        self._cursors: dict[int, tuple[Node, int, int]] = {}
        self._numbers = 0
        self._cached = 0

    def match(self, request: int, tokens: Sequence[int], identity: Identity) -> Match:
        """The longest cached front, short of the last token; the pages are not held yet.

        The history has the digest of the whole pages, made of these tokens, and the tail's page as the last.
        """
        began = time.perf_counter_ns()
        most = max(len(tokens) - 1, 0)
        wanted = token_bytes(tokens[: most // self._page_size * self._page_size])
        node, reached = self._descend(self._root(identity), 0, wanted)
        if reached < node.end:
            node = self._split(node, reached)
        if node.number:
            self._leaves.use(node)
            self._remember(request, node, reached)
        whole = reached * self._page_size
        tail = self._find_tail(node, token_bytes(tokens[whole : min(whole + self._page_size, most)]))
        path = node.path()
        match = Match(
            [page for step in path for page in step.pages],
            [life for step in path for life in step.lives],
            whole + (tail.tokens if tail else 0),
            [step.number for step in path for _ in step.pages],
            tail,
        )
        names = page_digests(self._secret, identity, tokens[:whole], self._page_size, self._digest)
        self._recorder.match(
            request,
            node.number,
            names[-1] if names else root_digest(self._secret, identity, self._digest),
            identity_key(self._secret, identity),
            match.hit_tokens,
            [*match.pages, tail.page] if tail else match.pages,
            [*match.lives, tail.life] if tail else match.lives,
            time.perf_counter_ns() - began,
        )
        return match

    def insert(
        self,
        request: int,
        tokens: Sequence[int],
        pages: Sequence[int],
        identity: Identity,
        computed_tokens: int,
        *,
        ended: bool = False,
    ) -> int:
        """Cache the pages that are full by now and hold a front that is not cached yet; how many are new.

        Call it after the launch that writes them; see the ordering rule in `prefix_cache`. `tokens` may be
        longer than what is computed. Goes on where the request's last call ended, so a call is cheap.
        With `ended` the last page is cached too, filled in part: nobody writes its computed positions again.
        """
        size = self._page_size
        full = min(computed_tokens // size, len(pages))
        part = computed_tokens - full * size if ended and full < len(pages) else 0
        node, index = self._resume(request)
        if index > full or (index == full and not part):
            return 0
        wanted = token_bytes(tokens[index * size : full * size])
        node, reached = self._descend(node or self._root(identity), index, wanted)
        added = 0
        if reached < full:
            behind = wanted[(reached - index) * self._width :]
            node, added = self._attach(node, reached, behind, list(pages[reached:full]))
            reached += added
        if node.number:
            self._remember(request, node, reached)
        if part and reached == full:
            added += self._attach_tail(node, full, token_bytes(tokens[full * size :][:part]), pages[full])
        return added

    def evict(self, count: int) -> int:
        """Evict up to `count` pages that nobody else holds, least recently used edges first, ends first.

        They are free then, or retired while a fence guards them, given to an earlier drop or by the spill.
        """
        freed = 0
        in_use: list[Node] = []
        cuts: list[Cut] = []
        while freed < count and (node := self._leaves.pop()) is not None:
            unused = self._unused(node, count - freed)
            if unused < len(node.pages):
                in_use.append(node)
            if unused:
                cuts.append(self._cut(node, unused))
                freed += unused
        for node in in_use:
            self._leaves.push(node)
        self._drop(cuts)
        return freed

    def pages(self) -> int:
        """How many pages are cached, in use or not."""
        return self._cached

    def reset(self) -> None:
        """Forget every node, deepest first; pages that requests hold stay theirs."""
        for node in sorted(self._nodes.values(), key=lambda node: node.start, reverse=True):
            cut = self._cut(node, len(node.pages))
            self._pool.drop(cut.pages, cut.holder, "read")
        self._cursors.clear()

    def claims(self) -> dict[Holder, list[int]]:
        """The pages that each node says are its."""
        return {Holder("prefix", number): node.pages for number, node in self._nodes.items()}

    def check(self) -> None:
        """InvariantError when a place, a key, a count, a holder or a life is not what the nodes say."""
        wrong: list[str] = []
        owner: dict[int, int] = {}
        below = dict.fromkeys(self._nodes, 0)
        for number, node in self._nodes.items():
            count, parent = len(node.pages), node.parent
            filled = len(node.tokens) / self._width
            if not count or {len(node.lives), len(node.digests)} != {count}:
                wrong.append(f"node {number} has {count} pages, and lives or digests of others")
            if filled != count and not (node.tail and count == 1 and not node.children):
                wrong.append(f"node {number} has {count} pages, and tokens of {filled}")
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
            if not node.children and number not in self._leaves:
                wrong.append(f"node {number} can't be evicted")
        for place in (*self._roots.values(), *self._nodes.values()):
            keys = [child.key for child in place.children]
            if any(after.startswith(key) for key, after in pairwise(keys)):
                wrong.append(f"below node {place.number} a page is cached beside one that begins with it")
        if not all(root.children for root in self._roots.values()):
            wrong.append("a root has nothing below it")
        if self._cached != len(owner):
            wrong.append(f"{self._cached} pages are counted, {len(owner)} are cached")
        wrong += self._contradictions()
        if wrong:
            raise InvariantError("the prefix cache contradicts itself: " + "; ".join(wrong))

    def _descend(self, node: Node, index: int, wanted: bytes) -> tuple[Node, int]:
        """Follow `wanted`, the tokens from page `index` on, which is in or behind `node`'s edge.

        Returns the node in whose edge the common front ends, and the position where it does.
        """
        raise NotImplementedError

    def _attach(self, node: Node, position: int, tokens: bytes, pages: list[int]) -> tuple[Node, int]:
        """Cache pages from `position` on, where `node`'s edge parts from them or ends.

        Returns the node that has the last of them, and how many were cached.
        """
        raise NotImplementedError

    def _contradictions(self) -> list[str]:
        """What else is wrong in a tree of this kind."""
        return []

    def _root(self, identity: Identity) -> Node:
        """The identity's root, or a new one, which is kept only once something hangs below it."""
        found = self._roots.get(identity)
        if found is not None:
            return found
        return Node(0, None, identity, self._width, 0, [root_digest(self._secret, identity, self._digest)])

    def _find_tail(self, node: Node, wanted: bytes) -> Tail | None:
        child, common = node.children.nearest(wanted)
        tokens = common // self._token_bytes
        if child is None or not tokens:
            return None
        if child.tail:
            self._leaves.use(child)
        return Tail(child.pages[0], child.lives[0], tokens, child.number)

    def _attach_tail(self, node: Node, position: int, block: bytes, page: int) -> int:
        """Cache a page filled in part at `position`, unless a page is there that has its positions."""
        if position < node.end:
            if node.block(position - node.start).startswith(block):
                return 0
            node = self._split(node, position)
        elif node.children.begun_by(block) is not None:
            return 0
        self._add(node, block, [page])
        return 1

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

    def _add(self, parent: Node, tokens: bytes, pages: list[int]) -> Node:
        """A new node below `parent`, in the place of a tail that its first page has all positions of."""
        self._numbers += 1
        node = Node(self._numbers, parent, parent.identity, self._width, parent.end, [])
        self._pool.hold(pages, Holder("prefix", node.number), "read")
        self._displace(parent, tokens[: self._width])
        self._nodes[node.number] = node
        parent.children.put(tokens[: self._width], node)
        if not parent.number:
            self._roots[parent.identity] = parent
        self._fill(node, tokens, pages)
        self._leaves.push(node)
        return node

    def _fill(self, node: Node, tokens: bytes, pages: list[int]) -> None:
        """Pages, held already, at the end of a node."""
        digests = [node.digests[-1] if node.digests else node.parent.digest if node.parent else b""]
        for first in range(0, len(tokens), self._width):
            digests.append(self._digest(self._secret, digests[-1], tokens[first : first + self._width]))
        lives = self._pool.lives(pages)
        node.append(tokens, pages, lives, digests[1:])
        self._cached += len(pages)
        self._leaves.use(node)
        self._tell(node, pages, lives)

    def _displace(self, parent: Node, block: bytes) -> None:
        front = parent.children.front_of(block)
        if front is not None:
            cut = self._cut(front, 1)
            self._pool.drop(cut.pages, cut.holder, "read")

    def _cut(self, node: Node, count: int) -> Cut:
        """Take the last `count` pages off a leaf, and the leaf itself when none is left."""
        keep, key = len(node.pages) - count, node.key
        full = not node.tail and self._spill is not None
        cut = Cut(
            Holder("prefix", node.number),
            node.pages[keep:],
            node.lives[keep:],
            node.digests[keep:] if full else [],
            [node.block(index) for index in range(keep, len(node.pages))] if full else [],
        )
        self._recorder.evict(node.number, cut.pages, cut.lives)
        self._cached -= count
        if keep:
            node.cut_end(count)
            self._tell(node, [], [])
        else:
            self._remove(node, key)
        return cut

    def _remove(self, node: Node, key: bytes) -> None:
        del self._nodes[node.number]
        self._leaves.forget(node)
        parent = node.parent
        assert parent is not None
        parent.children.take(key)
        parent.used = max(parent.used, node.used)
        if parent.children:
            return
        if parent.number:
            self._leaves.push(parent)
        else:
            del self._roots[parent.identity]

    def _drop(self, cuts: list[Cut]) -> None:
        """Give back what was cut; full pages are spilled before that."""
        fence = None
        full = [cut for cut in cuts if cut.blocks]
        if self._spill is not None and full:
            fence = self._spill(
                [digest for cut in full for digest in reversed(cut.digests)],
                [block for cut in full for block in reversed(cut.blocks)],
                [page for cut in full for page in reversed(cut.pages)],
                [life for cut in full for life in reversed(cut.lives)],
            )
        for cut in cuts:
            self._pool.drop(cut.pages, cut.holder, "read", fence=fence if cut.blocks else None)

    def _tell(self, node: Node, pages: Sequence[int], lives: Sequence[int]) -> None:
        above = node.parent.number if node.parent else 0
        key = identity_key(self._secret, node.identity)
        positions = len(node.tokens) // self._token_bytes if node.tail else 0
        self._recorder.insert(node.number, node.digest, above, pages, lives, key, positions)

    def _unused(self, node: Node, most: int) -> int:
        """How many pages at the end of the edge, up to `most`, only the node holds."""
        unused = 0
        for page in reversed(node.pages):
            if unused == most or self._pool.count(page) > 1:
                break
            unused += 1
        return unused

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
