"""What visibly went wrong, and for whom: a launch carries many rows, and what is not finite is one row's."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.analysis.history import History, use

Read = Callable[[History], list[dict[str, Any]]]
COMPUTE, TRANSFER = 1, 2


def told_of(history: History, launch: int, row: int | None, pages: list[list[int]]) -> None:
    """The host saw numbers that are not finite."""
    request = None if row is None else row + 1
    history.event("nonfinite", launch=launch, request=request, row=row, position=0, pages=pages)


@pytest.mark.parametrize(
    ("row", "page", "observed"), [(3, 9, True), (None, 9, True), (0, 5, False), (0, 7, True)]
)
def test_numbers_of_another_row_are_no_sign(
    history: History, told: Read, row: int | None, page: int, observed: bool
) -> None:
    """Row 3 follows what nothing orders, and reads page 7, which it gave back; row 0 is as it should be."""
    pages = history.alloc([7, 9], "request:4")
    history.acquire(3, 1, 4)
    history.publish(TRANSFER, 3, 1, pages)
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, history.alloc([5], "request:1"))
    history.give_back(pages[:1], "request:4")
    launch = history.forward(COMPUTE, use(0, 1, 0, 1), use(3, 1, 4, 5))
    told_of(history, launch.launch, row, [[page, 1]])
    found = {one["code"]: one["confidence"] for one in told(history) if one["code"] != "TR902"}
    used = "observed" if observed else "proven"
    # Of the publish only the row speaks, of the page the page, too.
    assert {"TR102": "observed" if row != 0 else "proven", "TR201": used} == {
        code: found[code] for code in ("TR102", "TR201")
    }
