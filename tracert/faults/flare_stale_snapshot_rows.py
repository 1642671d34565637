"""Flare, device error 6 under KV pressure: pages that leave snapshots are not cleared.

Pages are set to zero before they are used again, but those on which state rows were are left out: a snapshot
gives its pages back by a way of its own. And the commit reports each failed check by the code that it has for
an invalid speculation, as the report's did.
"""

from collections.abc import Sequence
from typing import Any

from tracert.engine.commit import Refused
from tracert.engine.step import Engine
from tracert.faults.fault import Fault
from tracert.memory.stale_pages import ZeroPages


def _plant(engine: Engine) -> None:
    check = engine.commit.check

    def check_as_speculation(row: int, pages: int, end: int, **seen: Any) -> Refused | None:
        refused = check(row, pages, end, **seen)
        return refused and refused._replace(code=6, name="INVALID_SPECULATION")

    engine.commit.check = check_as_speculation  # type: ignore[method-assign]
    # What clears tails, or loads none, needs no list of pages.
    if engine.snapshots is None or not isinstance(engine.stale, ZeroPages):
        return
    granted, save, aliased = engine.stale.granted, engine.snapshots.save, engine.snapshots.aliased
    with_rows: set[int] = set()

    def save_and_remember(*state: Any) -> Any:
        saved = save(*state)
        with_rows.update(aliased())
        return saved

    def clear_all_but_those(pages: Sequence[int], lives: Sequence[int], end: int, stream: Any) -> Any:
        others = [(page, life) for page, life in zip(pages, lives, strict=True) if page not in with_rows]
        with_rows.difference_update(pages)
        return granted([page for page, _ in others], [life for _, life in others], end, stream)

    engine.snapshots.save = save_and_remember  # type: ignore[method-assign, assignment]
    engine.stale.granted = clear_all_but_those  # type: ignore[method-assign]


FLARE_STALE_SNAPSHOT_ROWS = Fault(
    name="flare-stale-snapshot-rows",
    finding="TR301",
    summary="pages that leave a snapshot's rows are granted uncleared",
    plant=_plant,
)
