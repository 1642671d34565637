"""The radix prefix cache: a tree of token sequences, whose edges are runs of full pages.

What decides is the tokens themselves, compared page by page; a digest is only a name in the history. Edges
part at page borders: a match that ends inside an edge splits it, so that a hit is always a node's whole
path; an insert splits where tokens part, and lengthens the edge of a leaf in place. Where two requests
compute the same front, the first insert wins.

Tails that end inside a page, eviction and the history: see `prefix_tree`.
"""

from tracert.memory.prefix_node import Node
from tracert.memory.prefix_tree import PrefixTree
from tracert.record.access import Holder


class RadixCache(PrefixTree):
    """A prompt of any length is one node and one event, and so is its answer when no one shares it."""

    def _descend(self, node: Node, index: int, wanted: bytes) -> tuple[Node, int]:
        at, reached = 0, index
        while True:
            same = node.common(reached, wanted[at:])
            reached += same
            at += same * self._width
            child = node.children.get(wanted[at : at + self._width]) if reached == node.end else None
            if child is None:
                return node, reached
            node = child

    def _attach(self, node: Node, position: int, tokens: bytes, pages: list[int]) -> tuple[Node, int]:
        """In the node's own edge when it is a leaf, a tail that they go on from left out; or a new child."""
        if position < node.end:
            node = self._split(node, position)
        block = tokens[: self._width]
        if node.number and len(node.children) == (node.children.front_of(block) is not None):
            self._pool.hold(pages, Holder("prefix", node.number), "read")
            self._displace(node, block)
            self._fill(node, tokens, pages)
        else:
            node = self._add(node, tokens, pages)
        return node, len(pages)
