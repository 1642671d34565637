"""The ownership check of seed 3's reporter, before every launch: `--audit`.

Each page is in exactly one of these roles, and whoever says that it is theirs is who the pool says holds it:

    free, retired             in the pool's queues; nobody names them
    reserved                  page 0, and what dedicated snapshots set aside
    snapshot alias            a snapshot's state rows are on it, and no keys and values
    request, retired request, checkpoint, prefix, inbound, snapshot
                              keys and values; who shares a page reads it, and at most one writes it

The claims come from the parts themselves, not from the pool: a page that a request still names after it gave
it back is found. `retired request` are pages of one that was preempted or ended while a step that uses
them is in flight, which this pool has in its retired queue; `inbound` are those of staged copies.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

from tracert.memory.errors import InvariantError
from tracert.memory.pool import RESERVED, PagePool
from tracert.memory.snapshot_store import DEDICATED
from tracert.record.access import Holder

Claims = Callable[[], Mapping[Holder, Iterable[int]]]
"""The pages that a part says are each holder's now."""


class Audit:
    """`claims` name every holder of keys and values, `aliased` the pages with snapshots' rows."""

    def __init__(
        self,
        pool: PagePool,
        claims: Iterable[Claims],
        aliased: Callable[[], Iterable[int]] = tuple,
    ) -> None:
        self._pool = pool
        self._claims = list(claims)
        self._aliased = aliased

    def __call__(self) -> None:
        """InvariantError that names each page which is in no role, or in more than one, and those roles."""
        claimed: dict[int, set[Holder]] = {}
        for claims in self._claims:
            for holder, pages in claims().items():
                for page in pages:
                    claimed.setdefault(page, set()).add(holder)
        rows = set(self._aliased())
        wrong = [
            f"page {page} {what}"
            for page in range(self._pool.pages)
            for what in self._wrong(page, claimed.get(page, set()), page in rows)
        ]
        if wrong:
            raise InvariantError("the audit of pages failed: " + "; ".join(wrong))

    def _wrong(self, page: int, claimed: set[Holder], has_rows: bool) -> Iterator[str]:
        state, holders = self._pool.state(page), self._pool.holders(page)
        roles: list[str] = [state] if state != "held" else []
        if has_rows:
            roles.append("snapshot alias")
        if claimed:
            roles.append(_named(claimed))
        if any(_reserves(holder) for holder in holders):
            roles.append("reserved")
        if len(roles) != 1:
            yield (
                f"is {' and '.join(roles)}"
                if roles
                else f"is held by {_named(holders)}, who does not name it"
            )
            return
        if state == "held" and not claimed <= holders.keys():
            yield f"is named by {_named(claimed - holders.keys())}, who does not hold it"
        silent = {holder for holder in holders if not has_rows and not _reserves(holder)} - claimed
        if silent:
            yield f"is held by {_named(silent)}, who does not name it"
        if sum(mode == "write" for mode in holders.values()) > 1:
            yield "is held for writing by more than one"


def _named(holders: Iterable[Holder]) -> str:
    return ", ".join(map(str, sorted(holders)))


def _reserves(holder: Holder) -> bool:
    return holder in (RESERVED, DEDICATED)
