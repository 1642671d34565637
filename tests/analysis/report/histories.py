"""One history for each finding, as small as it gets, and one in which nothing is wrong."""

from collections.abc import Callable

from tests.analysis.history import History, Page, use

COMPUTE, TRANSFER, LEGACY = 1, 2, 0


def begun() -> History:
    """The arena is cleared, ordered before everything."""
    history = History()
    history.clear(COMPUTE)
    history.order(COMPUTE, TRANSFER)
    history.order(COMPUTE, LEGACY)
    return history


def turn(
    history: History,
    request: int,
    row: int,
    generation: int,
    pages: list[Page],
    *,
    publish_on: int = TRANSFER,
    ordered: bool = True,
    step: int = 1,
) -> None:
    """A request gets a row over pages that it holds, and is computed once: 6 positions."""
    history.acquire(row, generation, request)
    history.publish(publish_on, row, generation, pages)
    if ordered:
        history.order(publish_on, COMPUTE)
    history.forward(COMPUTE, use(row, generation, 0, 6), phase="prefill", step=step)


def arrive(history: History, request: int, pages: list[int]) -> list[Page]:
    """A request arrives and is granted pages."""
    history.event("arrive", request=request, id=f"cmpl-{request}", prompt_tokens=6, max_tokens=4)
    return history.alloc(pages, f"request:{request}")


def leave(history: History, request: int, row: int, generation: int, pages: list[Page]) -> None:
    """A request ends: the host has seen everything, and everything is given back."""
    history.sync(COMPUTE)
    history.event("finish", request=request, row=row, reason="stop")
    history.give_back(pages, f"request:{request}")
    history.release(row, generation, request)


def sound() -> History:
    """Two requests have row 3 one after the other; a third has row 4. Everything is ordered."""
    return two_turns(TRANSFER, ordered=True)


def unordered_publish(name: str = "legacy") -> History:
    """TR102: the second publish of row 3 goes to the legacy stream; nothing orders it before the launch."""
    history = two_turns(LEGACY, ordered=False)
    history.names[LEGACY] = name
    return history


def two_turns(publish_on: int, *, ordered: bool) -> History:
    """Request 10 had row 3 with pages 5 and 6; page 5 is request 11's by the time request 12 gets the row."""
    history = begun()
    first = arrive(history, 10, [5, 6])
    turn(history, 10, 3, 1, first)
    leave(history, 10, 3, 1, first)
    second = arrive(history, 11, [5, 7])
    turn(history, 11, 4, 1, second, step=2)
    third = arrive(history, 12, [8, 6])
    turn(history, 12, 3, 2, third, publish_on=publish_on, ordered=ordered, step=3)
    return history


def unordered_access() -> History:
    """TR101: a copy on the transfer stream reads a page that the compute stream has just written."""
    history = begun()
    turn(history, 10, 3, 1, arrive(history, 10, [5, 6]))
    target = arrive(history, 11, [9])
    history.copy(TRANSFER, [[5, 1, 0, 4]], [[9, target[0][1], 0, 4]])
    return history


def use_after_free() -> History:
    """TR201: request 10 is computed once more after its pages went back."""
    history = begun()
    pages = arrive(history, 10, [5, 6])
    turn(history, 10, 3, 1, pages)
    history.sync(COMPUTE)
    history.give_back(pages, "request:10")
    history.forward(COMPUTE, use(3, 1, 6, 7), step=2)
    return history


def unordered_reuse() -> History:
    """TR202: page 5 goes to request 11, written on the transfer stream while the compute stream reads it."""
    history = begun()
    pages = arrive(history, 10, [5, 6])
    turn(history, 10, 3, 1, pages)
    history.event("finish", request=10, row=3, reason="stop")
    history.give_back(pages, "request:10")
    history.release(3, 1, 10)
    source = arrive(history, 12, [9])
    history.clear(COMPUTE, [[9, source[0][1], 0, 4]])
    taken = arrive(history, 11, [5])
    history.forward(TRANSFER, writes=[[5, taken[0][1], 0, 4]])
    return history


def double_free() -> History:
    """TR203: request 10 gives page 5 back twice."""
    history = begun()
    pages = arrive(history, 10, [5, 6])
    turn(history, 10, 3, 1, pages)
    history.sync(COMPUTE)
    history.give_back(pages, "request:10")
    history.drop(pages[:1], "request:10")
    return history


def leaked_page() -> History:
    """TR204: request 10 finishes and keeps page 6."""
    history = begun()
    pages = arrive(history, 10, [5, 6])
    turn(history, 10, 3, 1, pages)
    history.sync(COMPUTE)
    history.event("finish", request=10, row=3, reason="stop")
    history.give_back(pages[:1], "request:10")
    history.release(3, 1, 10)
    for step in (2, 3):
        turn(history, 10 + step, 4, step, arrive(history, 10 + step, [6 + 2 * step, 7 + 2 * step]), step=step)
        history.sync(COMPUTE)
    return history


def index_out_of_range() -> History:
    """TR401: the row names page 99 of a pool of 32."""
    history = begun()
    turn(history, 10, 3, 1, [*arrive(history, 10, [5]), (99, 1)])
    return history


def stale_mapping() -> History:
    """TR402: the row of request 11 names page 5, which request 10 holds; another gave its page back."""
    history = begun()
    history.give_back(arrive(history, 9, [8]), "request:9")
    theirs = arrive(history, 10, [5, 6])
    turn(history, 10, 3, 1, theirs)
    turn(history, 11, 4, 1, [theirs[0], *arrive(history, 11, [7])], step=2)
    return history


def non_finite() -> History:
    """TR902: a launch gave NaN, and nothing else is wrong."""
    history = begun()
    turn(history, 10, 3, 1, arrive(history, 10, [5, 6]))
    launch = history.events[-1]["launch"]
    history.event("nonfinite", launch=launch, request=10, row=3, position=5, pages=[[5, 1], [6, 1]], layer=-1)
    return history


BROKEN: dict[str, Callable[[], History]] = {
    "TR101": unordered_access,
    "TR102": unordered_publish,
    "TR201": use_after_free,
    "TR202": unordered_reuse,
    "TR203": double_free,
    "TR204": leaked_page,
    "TR401": index_out_of_range,
    "TR402": stale_mapping,
    "TR902": non_finite,
}
