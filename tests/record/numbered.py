"""Events that follow from their number alone, so that what a ring says can be checked word by word."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tracert.record.access import Holder, Publish
from tracert.record.ring_recorder import RingRecorder
from tracert.record.schema import BYTES_A_SLOT, WORDS_A_SLOT

CYCLE = 7


def tell(recorder: RingRecorder, number: int) -> int:
    """Tell event `number`; returns its seq."""
    match number % CYCLE:
        case 0:
            return recorder.row_acquire(number % 4, number, 3 * number)
        case 1:
            pages = _pages(number)
            return recorder.alloc(pages, [number] * len(pages), Holder("request", 5 * number))
        case 2:
            return recorder.fail(number, 1, _text(number))
        case 3:
            pages = _pages(number)
            access = Publish(number % 4, number, number, 0, pages, [number] * len(pages), 1)
            return recorder.launch(number, 2, number, "copy_row", access)
        case 4:
            return recorder.fence_record(number, 1, 2 * number)
        case 5:
            pages = _pages(number)
            return recorder.free(pages, [number] * len(pages))
        case _:
            return recorder.transaction("commit", number, number % 4, 3 * number, number)


def expected(number: int) -> dict[str, Any]:
    """Event `number` as it must come back, without seq, time and actor."""
    pages = _pages(number)
    match number % CYCLE:
        case 0:
            return {
                "kind": "row_acquire",
                "row": number % 4,
                "generation": number,
                "request": 3 * number,
            }
        case 1:
            return {
                "kind": "alloc",
                "pages": [[page, number] for page in pages],
                "holder": f"request:{5 * number}",
                "pool": 0,
            }
        case 2:
            return {"kind": "fail", "request": number, "row": 1, "reason": _text(number)}
        case 3:
            return {
                "kind": "publish",
                "launch": number,
                "stream": 2,
                "ordinal": number,
                "kernel": "copy_row",
                "row": number % 4,
                "generation": number,
                "epoch": number,
                "staging": 1,
                "entries": [[index, page, number] for index, page in enumerate(pages)],
            }
        case 4:
            return {"kind": "fence_record", "fence": number, "stream": 1, "ordinal": 2 * number}
        case 5:
            return {"kind": "free", "pages": [[page, number] for page in pages]}
        case _:
            return {
                "kind": "transaction",
                "op": "commit",
                "transaction": number,
                "row": number % 4,
                "request": 3 * number,
                "frontier": number,
            }


def slots(number: int) -> int:
    """How many slots event `number` takes."""
    pages = len(_pages(number))
    words = {1: 2 * pages, 3: 1 + 3 * pages, 5: 2 * pages}.get(number % CYCLE, 0)
    text = len(b'{"reason":""}') + len(_text(number)) if number % CYCLE == 2 else 0
    return 1 + -(-words // WORDS_A_SLOT) + -(-text // BYTES_A_SLOT)


def check(events: list[dict[str, Any]]) -> list[int]:
    """The events must be right; returns their numbers. The events carry seq, and no time."""
    numbers = []
    for event in events:
        number = number_of(event)
        said = {name: value for name, value in event.items() if name not in ("seq", "actor", "t")}
        assert expected(number) == said
        numbers.append(number)
    return numbers


def number_of(event: dict[str, Any]) -> int:
    """The number that an event was told with."""
    match event["kind"]:
        case "row_acquire":
            number = event["generation"]
        case "alloc" | "free":
            number = event["pages"][0][1]
        case "fail":
            number = event["request"]
        case "publish":
            number = event["launch"]
        case "fence_record":
            number = event["fence"]
        case _:
            number = event["frontier"]
    return int(number)


def child(work: Callable[[], None]) -> int:
    """The pid of a forked process that does `work` and ends."""
    pid = os.fork()
    if pid:
        return pid
    try:
        work()
    finally:
        os._exit(0)


def wait_for(path: Path) -> None:
    """Until the file appears; the child creates it."""
    import time

    deadline = time.monotonic() + 20
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} did not appear"
        time.sleep(0.002)


def _pages(number: int) -> list[int]:
    return [(number + index) % 24 for index in range(2 + number % 19)]


def _text(number: int) -> str:
    return f"because {number} " + "x" * (number % 130)
