"""For every finding a history in which it fires, as small as it gets; `report.histories` has some of them."""

from collections.abc import Callable

from tests.analysis.findings import (
    test_tr103,
    test_tr104,
    test_tr301,
    test_tr302,
    test_tr303,
    test_tr403,
    test_tr501,
    test_tr502,
    test_tr503,
    test_tr601,
    test_tr901,
)
from tests.analysis.history import History, use
from tests.analysis.report.histories import BROKEN

LEGACY, COMPUTE, TRANSFER = 0, 1, 2


def started() -> History:
    """A device that has just started: the arena is cleared, page 0 is reserved."""
    history = History()
    history.clear(COMPUTE)
    history.sync()
    history.alloc([0], "reserved:0")
    return history


def staging_reuse(history: History) -> None:
    """TR103."""
    test_tr103.published(history)
    test_tr103.stage(history)


def unordered_clear(history: History) -> None:
    """TR104."""
    test_tr104.former(history)
    history.alloc([5], "request:2")
    history.clear(LEGACY, [[5, 2, 0, 4]])
    test_tr104.tail(history)


def two_owners(history: History) -> None:
    """TR205."""
    history.alloc([5], "request:1")
    history.alloc([5], "request:2")


def reserved_write(history: History) -> None:
    """TR206."""
    history.forward(COMPUTE, writes=[[0, 1, 0, 4]])
    history.forward(COMPUTE, reads=[[0, 1, 0, 4]])


def stale_bytes(history: History) -> None:
    """TR301."""
    test_tr301.stored(history)
    test_tr301.reused(history)


def uninitialised_read(history: History) -> None:
    """TR302: no more than five pages were cleared."""
    history.events[0]["pages"] = 5
    test_tr302.tail(history, 9)


def torn_copy(history: History) -> None:
    """TR303."""
    tail = test_tr303.Tail(history)
    tail.copy()
    history.drop(tail.source, "transfer:7", "read")
    tail.evict()
    test_tr303.granted_again(history)


def walked_past_row(history: History) -> None:
    """TR403."""
    test_tr403.ended(history, test_tr403.begun(history))
    history.alloc([6], "request:3")
    new = history.alloc([7], "request:2")
    history.acquire(0, 2, 2)
    test_tr403.mapped(history, new, generation=2)
    history.forward(COMPUTE, use(0, 2, 0, 3, walked=2, covers="page"))


def prefix_identity(history: History) -> None:
    """TR501."""
    test_tr501.match(history, test_tr501.cached(history), digest=test_tr501.OTHER)


def hit_before_write(history: History) -> None:
    """TR502."""
    test_tr502.row(history, 0, 1, history.alloc([5], "request:1"))
    test_tr502.hit(history)
    history.forward(TRANSFER, use(0, 1, 0, 4))
    history.forward(COMPUTE, use(1, 1, 4, 5))


def evicted_hit(history: History) -> None:
    """TR503."""
    pages = history.alloc([5, 6], "prefix:1")
    test_tr503.told_of(history, "insert", pages)
    test_tr503.told_of(history, "evict", pages[1:])
    test_tr503.match(history, pages)


def ghost_position(history: History) -> None:
    """TR601."""
    test_tr601.speculating(history)
    test_tr601.verified(history, 4, 3, 1, step=2)
    history.forward(COMPUTE, use(0, 1, 8, 9), step=3)


def workspace_exhausted(history: History) -> None:
    """TR701: a plan finds no room, for the block of the launch before."""
    history.event("workspace_alloc", launch=2, stream=COMPUTE, offset=400, bytes=200, capacity=1000, room=400)
    history.forward(COMPUTE, phase="prefill", step=1)
    history.event("workspace_plan", launch=3, stream=COMPUTE, bytes=700, capacity=1000, room=400)
    history.forward(COMPUTE, phase="prefill", step=2)
    history.progress[COMPUTE] = (3, 2)


def no_progress(history: History) -> None:
    """TR901."""
    test_tr901.stuck(history)
    test_tr901.gave_up(history)


ACTS: dict[str, Callable[[History], None]] = {
    "TR103": staging_reuse,
    "TR104": unordered_clear,
    "TR205": two_owners,
    "TR206": reserved_write,
    "TR301": stale_bytes,
    "TR302": uninitialised_read,
    "TR303": torn_copy,
    "TR403": walked_past_row,
    "TR501": prefix_identity,
    "TR502": hit_before_write,
    "TR503": evicted_hit,
    "TR601": ghost_position,
    "TR701": workspace_exhausted,
    "TR901": no_progress,
}


def firing(code: str) -> History:
    """The history of a finding."""
    if code in BROKEN:
        return BROKEN[code]()
    history = started()
    ACTS[code](history)
    return history
