"""Retained conversations: the pages of a finished turn, kept so that the next turn appends where it ended.

    keep(tokens, pages, identity, computed) -> id      when a turn ends, before its request lets go
    find(tokens, identity) -> id                       the longest entry that the next turn begins with
    take(id) -> Retained, or None                      once; the page filled in part goes with it

A prefix cache shares whole pages and copies a tail. An entry is for one: whoever takes it goes on in the
very page in which the turn ended, behind the last computed position, and nothing is copied. Two lanes may
find the same entry; ids have a generation, so the second to take it gets None.

An entry holds its pages as `checkpoint:<n>` for reading. Whoever takes it holds them first, the last one for
writing when it is filled in part: nobody else holds that for writing. It may be cached as a tail as well:
those who copy it need its computed positions, which are not written again.

Entries go least recently kept first, by number and for want of pages. Knows nothing of streams or bytes.
"""

from collections.abc import Sequence
from typing import NamedTuple

from tracert.memory.errors import InvariantError, LayoutError
from tracert.memory.pool import PagePool
from tracert.memory.prefix import Identity
from tracert.memory.prefix_digest import token_bytes
from tracert.record.access import Holder


class EntryId(NamedTuple):
    """Names one entry: its slot is used again, in a later generation."""

    slot: int
    generation: int


class Retained(NamedTuple):
    """A turn's pages, in order, and how many of its tokens are computed in them; `tokens` as int32."""

    number: int
    identity: Identity
    tokens: bytes
    pages: list[int]
    lives: list[int]
    computed: int


class RetainedStore:
    """Up to `limit` entries over the pages of `pool`. LayoutError for a limit below 1."""

    def __init__(self, pool: PagePool, limit: int) -> None:
        if limit < 1:
            raise LayoutError(f"{limit} retained conversations are none; give at least 1")
        # Each has a page at least: more entries than pages would never be filled.
        limit = min(limit, pool.pages)
        self._pool = pool
        self._generation = [0] * limit
        self._free = list(range(limit - 1, -1, -1))
        self._entries: dict[EntryId, Retained] = {}
        self._numbers = 0

    def __len__(self) -> int:
        """How many entries there are."""
        return len(self._entries)

    def keep(
        self, tokens: Sequence[int], pages: Sequence[int], identity: Identity, computed: int
    ) -> EntryId | None:
        """Retain the pages of the first `computed` tokens; None, and nothing, when there are none.

        The pages are held by the request that ends. The oldest entry gives way when there are too many.
        """
        kept = list(pages[: -(-computed // self._pool.page_size)])
        if not kept:
            return None
        lives = self._pool.lives(kept)
        return self._put(Retained(0, identity, token_bytes(tokens[:computed]), kept, lives, computed))

    def find(self, tokens: Sequence[int], identity: Identity) -> EntryId | None:
        """The entry with the longest front of `tokens`, short of the last; of equal ones the youngest."""
        wanted = token_bytes(tokens)
        found: EntryId | None = None
        longest = 0
        for entry_id, entry in self._entries.items():
            length = len(entry.tokens)
            fits = longest <= length < len(wanted) and entry.identity == identity
            if fits and wanted.startswith(entry.tokens):
                found, longest = entry_id, length
        return found

    def look(self, entry_id: EntryId) -> Retained | None:
        """The entry, which stays; None when it is gone."""
        return self._entries.get(entry_id)

    def take(self, entry_id: EntryId) -> Retained | None:
        """The entry, which is gone from now on; None when it was gone before. The caller holds its pages."""
        entry = self._entries.get(entry_id)
        if entry is not None:
            self._drop(entry_id)
        return entry

    def give_back(self, entry: Retained) -> EntryId:
        """Who took the entry holds its pages and could not go on: it is kept again, as the youngest."""
        return self._put(entry)

    def evict(self, count: int) -> int:
        """Let entries go until nobody but prefixes holds `count` of their pages; returns how many."""
        released = 0
        while released < count and self._entries:
            entry_id, entry = next(iter(self._entries.items()))
            self._drop(entry_id)
            released += sum(self._unused(page) for page in entry.pages)
        return released

    def reset(self) -> None:
        """Let all go."""
        for entry_id in list(self._entries):
            self._drop(entry_id)

    def claims(self) -> dict[Holder, list[int]]:
        """The pages that each entry says are its."""
        return {Holder("checkpoint", entry.number): entry.pages for entry in self._entries.values()}

    def check(self) -> None:
        """InvariantError when an entry does not hold its pages, or a slot is free and taken."""
        wrong: list[str] = []
        for entry_id, entry in self._entries.items():
            if self._generation[entry_id.slot] != entry_id.generation or entry_id.slot in self._free:
                wrong.append(f"entry {entry.number} is in slot {entry_id.slot}, which is free or another's")
            if -(-entry.computed // self._pool.page_size) != len(entry.pages):
                wrong.append(f"entry {entry.number} has {len(entry.pages)} pages of {entry.computed} tokens")
            for page, life in zip(entry.pages, entry.lives, strict=True):
                if self._pool.holders(page).get(Holder("checkpoint", entry.number)) != "read":
                    wrong.append(f"entry {entry.number} does not hold page {page}")
                if self._pool.lives([page]) != [life]:
                    wrong.append(f"entry {entry.number} has page {page} in life {life}, which has ended")
        if len(self._free) + len(self._entries) != len(self._generation):
            wrong.append(f"{len(self._entries)} entries and {len(self._free)} free slots")
        if wrong:
            raise InvariantError("retained conversations contradict the pool: " + "; ".join(wrong))

    def _put(self, entry: Retained) -> EntryId:
        if not self._free:
            self._drop(next(iter(self._entries)))
        slot = self._free.pop()
        self._generation[slot] += 1
        self._numbers += 1
        entry_id = EntryId(slot, self._generation[slot])
        self._entries[entry_id] = entry._replace(number=self._numbers)
        self._pool.hold(entry.pages, Holder("checkpoint", self._numbers), "read")
        return entry_id

    def _drop(self, entry_id: EntryId) -> None:
        entry = self._entries.pop(entry_id)
        self._free.append(entry_id.slot)
        self._pool.drop(entry.pages, Holder("checkpoint", entry.number), "read")

    def _unused(self, page: int) -> bool:
        return all(holder.kind == "prefix" for holder in self._pool.holders(page))
