"""Two histories as one: the second after the first, on the same streams, with pages and rows of its own."""

from typing import Any

from tests.analysis.history import History

PAGES, ROWS, REQUESTS, STEPS = 48, 16, 1000, 1000
"""By so much the second's numbers are moved."""
BEGUN = 5
"""The second's clear of the arena and its fences, which the first has already."""


def joined(first: History, second: History) -> History:
    """`second` is changed and appended to `first`; both begin as `histories.begun` does."""
    first.header["config"]["kv_pages"] = 2 * PAGES
    launches = max(event.get("launch", 0) for event in first.events)
    ordinals = dict(first._ordinals)
    dropped = [event for event in second.events[:BEGUN] if "launch" in event]
    for event in second.events[BEGUN:]:
        moved = _moved(event)
        if "launch" in event:
            moved["launch"] = event["launch"] + launches
        if "ordinal" in event:
            stream = event["stream"]
            begun = sum(gone["stream"] == stream for gone in dropped)
            moved["ordinal"] = max(event["ordinal"] - begun, 0) + ordinals.get(stream, 0)
        if "record_seq" in event:
            moved["record_seq"] = event["record_seq"] + first.seq - BEGUN
        moved["seq"] = event["seq"] + first.seq - BEGUN
        first.events.append(moved)
    for stream, ordinal in second._ordinals.items():
        first._ordinals[stream] = (
            ordinals.get(stream, 0) + ordinal - sum(g["stream"] == stream for g in dropped)
        )
    first.seq = first.events[-1]["seq"]
    return first


def _moved(event: dict[str, Any]) -> dict[str, Any]:
    moved = dict(event)
    for name, by in (
        ("page", PAGES),
        ("row", ROWS),
        ("staging", ROWS),
        ("request", REQUESTS),
        ("fence", STEPS),
        ("step", STEPS),
    ):
        if name in moved:
            moved[name] += by
    if "holder" in moved:
        kind, number = moved["holder"].split(":")
        moved["holder"] = f"{kind}:{int(number) + REQUESTS}"
    if "pages" in moved:
        moved["pages"] = [[page + PAGES, life] for page, life in moved["pages"]]
    if "entries" in moved:
        moved["entries"] = [[index, page + PAGES, life] for index, page, life in moved["entries"]]
    for name in ("reads", "writes", "source", "target"):
        if name in moved:
            moved[name] = [[page + PAGES, *rest] for page, *rest in moved[name]]
    if "uses" in moved:
        moved["uses"] = [{**one, "row": one["row"] + ROWS} for one in moved["uses"]]
    return moved
