"""A node of a prefix tree: an edge of one or more pages, and what hangs below its end.

Positions are in pages from the front of the prompt: the edge is `[start, end)`. All its pages are full, or
it is one page that is filled in part, a *tail*, below which nothing hangs. Nothing in a node is a view of
a caller's list: lists are copied, and tokens are kept as bytes. Knows nothing of pool or history.
"""

from dataclasses import dataclass, field

from tracert.memory.children import Children
from tracert.memory.prefix import Identity


@dataclass(slots=True, eq=False)
class Node:
    """`pages`, `lives` and `digests` are parallel, `tokens` has `width` bytes of each page.

    A root has number 0, no pages, and one digest, made of the identity. `children` are found by the
    tokens of their first page. `cuts` counts how often pages left the end of the edge: who remembers a
    position in it knows by that whether it is still the same.
    """

    number: int
    parent: "Node | None"
    identity: Identity
    width: int
    start: int
    digests: list[bytes]
    tokens: bytearray = field(default_factory=bytearray)
    pages: list[int] = field(default_factory=list)
    lives: list[int] = field(default_factory=list)
    used: int = 0
    cuts: int = 0
    children: Children["Node"] = field(default_factory=Children)

    @property
    def end(self) -> int:
        """The position behind the edge."""
        return self.start + len(self.pages)

    @property
    def digest(self) -> bytes:
        """Of the whole prefix that ends with the edge."""
        return self.digests[-1]

    @property
    def key(self) -> bytes:
        """The tokens of the first page, by which the parent knows the node."""
        return bytes(self.tokens[: self.width])

    @property
    def tail(self) -> bool:
        """Is its page filled in part?"""
        return 0 < len(self.tokens) < self.width

    def path(self) -> list["Node"]:
        """The nodes from below the root to this one."""
        nodes: list[Node] = []
        node: Node | None = self
        while node is not None and node.number:
            nodes.append(node)
            node = node.parent
        nodes.reverse()
        return nodes

    def block(self, index: int) -> bytes:
        """The tokens of page `index` of the edge."""
        return bytes(self.tokens[index * self.width : (index + 1) * self.width])

    def common(self, start: int, wanted: bytes) -> int:
        """How many full pages of `wanted` the edge has from position `start` on."""
        have = self.tokens[(start - self.start) * self.width :]
        most = min(len(have), len(wanted))
        if have[:most] == wanted[:most]:
            return most // self.width
        first = 0
        while have[first : first + self.width] == wanted[first : first + self.width]:
            first += self.width
        return first // self.width

    def append(self, tokens: bytes, pages: list[int], lives: list[int], digests: list[bytes]) -> None:
        """More pages at the end of the edge."""
        self.tokens += tokens
        self.pages += pages
        self.lives += lives
        self.digests += digests

    def cut_front(self, count: int, number: int) -> "Node":
        """Give the first `count` pages to a new node above this one; it takes this one's place.

        Both are as young as the edge was, for a use of its end was one of its front.
        """
        assert self.parent is not None
        front = Node(number, self.parent, self.identity, self.width, self.start, self.digests[:count])
        front.tokens = self.tokens[: count * self.width]
        front.pages, front.lives, front.used = self.pages[:count], self.lives[:count], self.used
        self.parent.children.put(front.key, front)
        del self.tokens[: count * self.width]
        del self.pages[:count], self.lives[:count], self.digests[:count]
        self.parent, self.start = front, front.end
        front.children.put(self.key, self)
        return front

    def cut_end(self, count: int) -> None:
        """Forget the last `count` pages."""
        keep = len(self.pages) - count
        del self.tokens[keep * self.width :]
        del self.pages[keep:], self.lives[keep:], self.digests[keep:]
        self.cuts += 1
