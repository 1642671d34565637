"""What a prefix cache is asked and what it answers."""

from typing import NamedTuple


class Identity(NamedTuple):
    """What besides its tokens makes two prefixes the same: they share pages only when all of it is equal.

    `salt` keeps tenants apart, `weights_epoch` grows when the weights are replaced.
    """

    model: str
    adapter: str = ""
    salt: str = ""
    weights_epoch: int = 0


class Match(NamedTuple):
    """Cached pages of a prompt's front, in order, with the lives and nodes under which they are cached."""

    pages: list[int]
    lives: list[int]
    hit_tokens: int
    nodes: list[int]
