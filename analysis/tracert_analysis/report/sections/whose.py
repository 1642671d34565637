"""Whose some positions of a page are, in words: neighbouring runs that differ in the launch alone are one."""

from collections.abc import Iterator, Mapping, Sequence

from tracert_analysis.report.facts import Act
from tracert_analysis.report.phrases import named, page_name, places
from tracert_analysis.report.stories.content import ByteRun

CONTENTS = {"zero": "zeros", "rows": "state rows", "kv": "keys and values"}


def alike(runs: Sequence[ByteRun]) -> Iterator[list[ByteRun]]:
    """Runs side by side that one kernel wrote for one owner, such as a position in each decode step."""
    group: list[ByteRun] = []
    for run in runs:
        if group and (run.first != group[-1].end or _kind(run) != _kind(group[-1])):
            yield group
            group = []
        group.append(run)
    if group:
        yield group


def _kind(run: ByteRun) -> tuple[object, ...]:
    return (
        *(run.content, run.snapshot, run.request, run.life, run.stale, run.origin_page, run.origin_life),
        *(_sort(act) for act in (run.writer, run.origin)),
    )


def _sort(act: Act | None) -> tuple[object, ...]:
    """What launches have in common that are told together; others are told one by one."""
    if act is None or not act.launch:
        return (act,)
    return act.kind, act.kernel, act.stream


def whose(runs: Sequence[ByteRun], names: Mapping[str, str]) -> str:
    """Whose the positions of such runs are, and who wrote them."""
    found = runs[0]
    told = CONTENTS.get(found.content, "bytes of the host tier")
    if found.content == "rows" and found.snapshot is not None:
        told += f" of snapshot {found.snapshot}"
    elif found.content == "kv" and found.request is not None:
        told += f" of {named([f'request:{found.request}'], names)}"
    writers = [run.writer for run in runs if run.writer is not None]
    if writers:
        told += f", written by {places(writers)} {_in_life(found.life)}"
    origins = [run.origin for run in runs if run.origin is not None]
    if origins:
        where = page_name(found.origin_page, found.origin_life or None)
        before = "" if found.origin_life else " before its first life"
        told += f", from {where}, where {places(origins)} wrote them{before}"
    return f"{told}{' - STALE' if found.stale else ''}"


def _in_life(life: int) -> str:
    """What the device wrote at its start comes before the first life of any page."""
    return f"in life {life}" if life else "before its first life"
