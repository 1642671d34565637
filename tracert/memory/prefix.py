"""What a prefix cache is asked and what it answers."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from tracert.device.device import Fence


class Identity(NamedTuple):
    """What besides its tokens makes two prefixes the same: they share pages only when all of it is equal.

    `salt` keeps tenants apart, `weights_epoch` grows when the weights are replaced.
    """

    model: str
    adapter: str = ""
    salt: str = ""
    weights_epoch: int = 0


class Tail(NamedTuple):
    """A cached page whose first `tokens` positions are a request's next ones: to be copied, not shared.

    The page is filled in part, or it is the front of a full one that goes on otherwise.
    """

    page: int
    life: int
    tokens: int
    node: int


class Match(NamedTuple):
    """What is cached of a prompt's front: whole pages, in order, with their lives and nodes, and a tail.

    `hit_tokens` counts those of the pages and of the tail behind them.
    """

    pages: list[int]
    lives: list[int]
    hit_tokens: int
    nodes: list[int]
    tail: Tail | None = None


class Spill(Protocol):
    """Takes the bytes of full pages that a prefix cache is about to give back."""

    def __call__(
        self,
        digests: Sequence[bytes],
        blocks: Sequence[bytes],
        pages: Sequence[int],
        lives: Sequence[int],
    ) -> Fence | None:
        """Called before the pages are dropped; digests as of `page_digests`, tokens of each page as int32.

        Ends come first: no page comes before one that goes on from it.

        The fence is one that must pass before the pages may be granted again; None when nothing reads them.
        """
