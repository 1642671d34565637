"""A history of launches over rows, right and wrong in every way, as guarded kernels saw them."""

from tests.analysis.history import History, Launched, use

LEGACY, COMPUTE = 0, 1
POISON = 2**31 - 1


def guarded_history() -> tuple[History, dict[str, Launched]]:
    """Rows 0 to 5, each of two pages, of requests 10 to 15; one launch each, told of by a guard."""
    history, launches = History(), dict[str, Launched]()
    history.clear(COMPUTE)
    history.sync()
    history.alloc([0], "reserved:0")

    def row(
        number: int, name: str, entries: list[list[int]], *, stream: int = COMPUTE, walked: int = 2
    ) -> None:
        pages = history.alloc([4 + 2 * number, 5 + 2 * number], f"request:{10 + number}")
        history.acquire(number, 1, 10 + number)
        history.event("map", row=number, generation=1, index=0, pages=[list(page) for page in pages])
        history.fill(COMPUTE, pages)
        launches[f"{name} published"] = history.publish(stream, number, 1, pages)
        launch = launches[name] = history.forward(COMPUTE, use(number, 1, 7, 8, walked=walked))
        history.event("guard", launch=launch.launch, row=number, generation=1, walked=walked, entries=entries)

    row(0, "right", [])
    row(1, "another page", [[1, 9]])
    row(2, "no page", [[0, POISON], [1, 2**32 - 3]])
    row(3, "meant otherwise", [[1, 11]])
    row(4, "unordered", [[0, 0], [1, 0]], stream=LEGACY)
    row(5, "too far", [[2, 0]], walked=3)
    history.event("guard", launch=9999, row=0, generation=1, walked=1, entries=[[0, 3]])
    return history, launches
