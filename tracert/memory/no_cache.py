"""The prefix cache that is off: finds nothing, keeps nothing, records nothing."""

from collections.abc import Sequence

from tracert.memory.prefix import Identity, Match
from tracert.record.access import Holder


class NoCache:
    """A `PrefixCache` without pages."""

    def match(self, request: int, tokens: Sequence[int], identity: Identity) -> Match:
        """Nothing."""
        return Match([], [], 0, [])

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
        """Nothing is kept."""
        return 0

    def evict(self, count: int) -> int:
        """Nothing to give back."""
        return 0

    def pages(self) -> int:
        """None."""
        return 0

    def reset(self) -> None:
        """Nothing to forget."""

    def claims(self) -> dict[Holder, list[int]]:
        """Nothing."""
        return {}

    def check(self) -> None:
        """Nothing to contradict."""
