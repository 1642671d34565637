"""The hash prefix cache: one node a full page, found by a digest chained on its parent's.

    digest(node) = blake2b(secret, digest(parent) + tokens)      the root's is made of the identity

A digest only finds; what decides is the comparison of tokens and parent (and, below the root, of the
identity) at every step, so that a collision is a miss and never another's page (openvino.genai #3722).
When two requests compute the same page the first insert wins, and the second goes on below that node
with pages of its own: the bytes are equal, and leaves go first, so no node loses its parent.

A page that is filled in part has a digest, too, but is never found by it: see `prefix_tree`.
"""

from tracert.memory.pool import PagePool
from tracert.memory.prefix import Spill
from tracert.memory.prefix_digest import Digest as Digest
from tracert.memory.prefix_digest import chained as chained
from tracert.memory.prefix_node import Node
from tracert.memory.prefix_tree import PrefixTree
from tracert.record.recorder import Recorder


class HashCache(PrefixTree):
    """Nodes over the pages of `pool`; `digest` is given another function only to test collisions."""

    def __init__(
        self,
        recorder: Recorder,
        pool: PagePool,
        secret: bytes,
        *,
        spill: Spill | None = None,
        digest: Digest = chained,
    ) -> None:
        super().__init__(recorder, pool, secret, spill=spill, digest=digest)
        self._by_digest: dict[bytes, Node] = {}

    def _descend(self, node: Node, index: int, wanted: bytes) -> tuple[Node, int]:
        for first in range(0, len(wanted), self._width):
            block = wanted[first : first + self._width]
            found = self._by_digest.get(self._digest(self._secret, node.digest, block))
            if found is None or found.parent is not node or found.tokens != block:
                break
            node = found
        return node, node.end

    def _attach(self, node: Node, position: int, tokens: bytes, pages: list[int]) -> tuple[Node, int]:
        """A chain of nodes; it ends early at a digest that another page has."""
        for count, page in enumerate(pages):
            block = tokens[count * self._width : (count + 1) * self._width]
            name = self._digest(self._secret, node.digest, block)
            if name in self._by_digest:
                return node, count
            node = self._by_digest[name] = self._add(node, block, [page])
        return node, len(pages)

    def _remove(self, node: Node, key: bytes) -> None:
        super()._remove(node, key)
        if self._by_digest.get(node.digest) is node:
            del self._by_digest[node.digest]

    def _contradictions(self) -> list[str]:
        full = [node for node in self._nodes.values() if not node.tail]
        wrong = [
            f"node {node.number} is not found by its digest"
            for node in full
            if self._by_digest.get(node.digest) is not node
        ]
        if len(self._by_digest) != len(full):
            wrong.append(f"{len(self._by_digest)} digests for {len(full)} nodes")
        return wrong
