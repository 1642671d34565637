"""What follows a place in a prefix tree: nodes by the tokens of their first page, whole or in part.

No key begins another: of two pages with one front the longer serves both. So in sorted order a key that is
a front of some tokens comes just before them, and the key with the longest common front just before or
just behind. Keys are bytes; knows nothing of tokens or pages.
"""

from bisect import bisect_left, insort
from collections.abc import Iterator
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Nearest(NamedTuple, Generic[T]):
    """The child whose key has the longest common front with what was asked, and its length in bytes."""

    child: T | None
    common: int


class Children(Generic[T]):
    """A map with bytes for keys that also finds by fronts of keys."""

    __slots__ = ("_by_key", "_keys")

    def __init__(self) -> None:
        self._by_key: dict[bytes, T] = {}
        self._keys: list[bytes] = []

    def __len__(self) -> int:
        """How many there are."""
        return len(self._keys)

    def __iter__(self) -> Iterator[T]:
        """The children, in order of their keys."""
        return (self._by_key[key] for key in self._keys)

    def get(self, key: bytes) -> T | None:
        """The child of just this key."""
        return self._by_key.get(key)

    def put(self, key: bytes, child: T) -> None:
        """Add a child, or put it in the place of the one with its key."""
        if key not in self._by_key:
            insort(self._keys, key)
        self._by_key[key] = child

    def take(self, key: bytes) -> T:
        """Remove a child; KeyError when there is none of this key."""
        child = self._by_key.pop(key)
        del self._keys[bisect_left(self._keys, key)]
        return child

    def nearest(self, wanted: bytes) -> Nearest[T]:
        """The child that has the longest front of `wanted`; none when no byte agrees."""
        at = bisect_left(self._keys, wanted)
        near = [(common_front(key, wanted), key) for key in self._keys[max(at - 1, 0) : at + 1]]
        common, key = max(near, default=(0, b""))
        return Nearest(self._by_key[key], common) if common else Nearest(None, 0)

    def begun_by(self, block: bytes) -> T | None:
        """A child whose key begins with `block`, or is it."""
        found = self.nearest(block)
        return found.child if found.common == len(block) else None

    def front_of(self, block: bytes) -> T | None:
        """The child whose key is a front of `block`, or is it."""
        at = bisect_left(self._keys, block)
        for key in self._keys[max(at - 1, 0) : at + 1]:
            if block.startswith(key):
                return self._by_key[key]
        return None


def common_front(one: bytes, other: bytes) -> int:
    """How many bytes both begin with."""
    most = min(len(one), len(other))
    differs = int.from_bytes(one[:most], "big") ^ int.from_bytes(other[:most], "big")
    return most - (differs.bit_length() + 7) // 8
