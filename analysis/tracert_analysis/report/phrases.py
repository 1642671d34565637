"""How a report words a launch, a hold, a write, a fence, an entry: what its sections share. Knows no SQL."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from tracert_analysis.report.facts import Act, FenceFact, Hold, Write
from tracert_analysis.report.stories.row import Leftover

LISTED = 8
"""Of long lists the first so many are printed; JSON has them all."""
UNKNOWN = "not in the recorded window: before it, or never"
"""What is told in the place of somebody or something, where the history is not whole."""


def place(act: Act) -> str:
    """A launch with its stream."""
    return str(act)


def places(acts: Sequence[Act]) -> str:
    """Launches of one kernel on one stream: one of them with its number, or how many, and from which on."""
    numbers = sorted({act.launch for act in acts})
    if len(numbers) == 1:
        return place(acts[0])
    one = acts[0]
    return f"{len(numbers)} launches of {one.kernel} on {one.stream_name}, {numbers[0]} to {numbers[-1]},"


def counted(count: int, plural: str) -> str:
    """How many of something, by the name of several."""
    if count != 1:
        return f"{count} {plural}"
    if plural == "lives":
        return "1 life"
    if plural.endswith("ies"):
        return f"1 {plural[:-3]}y"
    return f"1 {plural[:-2] if plural.endswith(('ches', 'shes', 'sses')) else plural[:-1]}"


def ordered(act: Act) -> str:
    """A launch with its place in its stream, where order is told."""
    if not act.launch:
        return act.name
    return f"{act.name} {act.kernel} (stream {act.stream} {act.stream_name}, number {act.ordinal})"


def when(act: Act) -> str:
    """Its place in the history, and whether it ran."""
    return f"seq {act.seq}, {act.state or 'state unknown'}"


def named(holders: Sequence[str], names: Mapping[str, str]) -> str:
    """Holders, requests with their public ids."""
    return ", ".join(f"{holder} ({names[holder]})" if holder in names else holder for holder in holders)


def hold(found: Hold | None, number: str, names: Mapping[str, str], *, whole: bool) -> str:
    """Who held something, and for how long; `whole` tells whether the history is."""
    if found is None:
        return "none in the history" if whole else UNKNOWN
    mode = f" for {found.mode}" if found.mode else ""
    whose = f"{named([found.holder], names)}{mode}, {number} {found.life}"
    if found.since_before:
        until = f" to {found.until_seq}" if found.until_seq is not None else ""
        return f"{whose}, since before the history (known from seq {found.from_seq}){until}"
    until = f"to {found.until_seq}" if found.until_seq is not None else "on"
    return f"{whose}, from seq {found.from_seq} {until}"


def write(found: Write | None, *, whole: bool) -> str:
    """Who wrote something; `whole` tells whether the history is."""
    if found is None:
        return "none in the history" if whole else UNKNOWN
    known = found.first is not None and found.end is not None
    what = f", {spelt(found.first or 0, found.end or 0)}" if known else ""
    life = f", life {found.life}" if found.life is not None else ""
    return f"{place(found.act)}{what}{life}, seq {found.act.seq}"


def fence(found: FenceFact | None, act: Act | None, streams: Mapping[int, str], *, whole: bool) -> str:
    """A fence behind `act`, and whether it covers that; `whole` tells whether the history is.

    `streams` are the names of streams by their numbers.
    """
    if found is None:
        return "none between the two streams before it" + ("" if whole else " in the recorded window")
    if found.wait_seq is not None:
        by = f"waited for by {stream(found.wait_stream, streams)} at seq {found.wait_seq}"
    elif found.passed_seq is not None:
        by = f"seen by the host at seq {found.passed_seq}"
    else:
        by = "waited for by nobody"
    where = stream(found.stream, streams)
    text = f"fence {found.fence} of {where}, recorded at seq {found.record_seq}, {by}"
    if act is None:
        return text
    if found.covers:
        return f"{text}; covers {act.name}"
    reach = f"{where} up to number {found.ordinal}" if found.ordinal else f"no launch of {where}"
    return f"{text}; is older than {act.name}: it covers {reach}, and that is number {act.ordinal}"


def stream(number: int | None, streams: Mapping[int, str]) -> str:
    """A stream by its name, where it has one."""
    return streams.get(number if number is not None else -1) or f"stream {number}"


def leftovers(entries: Sequence[Leftover], names: Mapping[str, str], *, whole: bool) -> Iterator[str]:
    """Entries of a row before and after its publish; neighbours of which the same is known on one line."""
    lines = []
    for same, group in groupby(entries, key=lambda entry: (entry.left_in_pool, entry.left_page)):
        found = list(group)
        first, last = found[0], found[-1]
        place = f"entry {first.index}" if first is last else f"entries {first.index} to {last.index}"
        meant = page_name(first.page, first.life) + (" ..." if first is not last else "")
        if same[0] is None:
            where = "history" if whole else "recorded window"
            lines.append(f"{place}: {meant} meant; no publish of the {where} put anything there before")
        elif not same[0]:
            lines.append(f"{place}: {meant} meant; there was {first.left_page}, which is no page of the pool")
        else:
            holders = (first.left_holder or "nobody").split(", ")
            owner = f"now held by {named(holders, names)}"
            if first.left_holder is None and not whole:
                owner = "held by nobody that the recorded window knows"
            left = page_name(first.left_page, first.left_life)
            lines.append(f"{place}: {meant} meant; there was {left}, {owner}")
    yield from lines[:LISTED]
    yield from more(lines)


def positions(first: int, end: int) -> str:
    """Positions `first` up to `end`, as people count: the last one is named."""
    return f"{first} to {end - 1}" if end > first + 1 else str(first)


def spelt(first: int, end: int) -> str:
    """Positions `first` up to `end` with the word for them."""
    return f"position{'s' if end > first + 1 else ''} {positions(first, end)}"


def page_name(page: int | None, life: int | None) -> str:
    """A page in a life."""
    return f"page {page}" + (f".{life}" if life is not None else "")


def more(items: Sequence[object]) -> list[str]:
    """How many of a long list were left out."""
    return [f"and {len(items) - LISTED} more"] if len(items) > LISTED else []
