"""Are these dumps those of the ranks of one engine? What their headers say of it.

A header tells which process and which ring of it a dump is of, when that ring began, with what options the
engine ran, and, where its recorder knows of ranks, which one it is (`config.rank`). Ranks of one engine are
different ones, of one model, with the same options, and ran at the same time. What contradicts that is
evidence; what is not told is none.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

RANKS_MAX = 1024
OFFSET_MAX = 1 << 62
"""No clock is further from another, in nanoseconds: what is, is damage."""

TOGETHER_NS = 10**9
"""On one clock, ranks of one engine are no further apart than this."""
SKEW_NS = 600 * 10**9
"""Nor, where each has its own, than this: clocks of hosts may be off, by no more."""

OF_A_RANK = ("rank", "device", "record_dir", "command", "layout")
"""Options that each rank has for itself, or that follow from others."""
SIZES = ("kv_pages", "kv_memory", "host_kv", "host_slots", "workspace")
"""Options that a rank may have by its own memory: where they differ, ranks may part."""
NAMED = 3
"""So many options are named."""


class Relation(NamedTuple):
    """What some dumps are to each other."""

    numbers: tuple[int, ...]
    """Of each dump its rank, as its header says; else its place among those given."""
    apart: str | None
    """Why they are not the ranks of one engine; None where nothing speaks against it."""
    doubt: str | None
    """Why it is not certain that they are."""


def relation(
    names: Sequence[str], headers: Sequence[dict[str, Any]], ends: Sequence[int | None] | None = None
) -> Relation:
    """What the dumps with these names and headers are to each other.

    `ends`: when the last event of each was, in nanoseconds of Unix time; without, when each was written.
    """
    told = [rank_of(header) for header in headers]
    numbered = None not in told and len(set(told)) == len(told)
    other = _other_options(headers)
    reasons = [
        *_rings(names, headers),
        *_ranks(names, told),
        *_model(headers),
        *([] if numbered or not other else [f"they ran with other options: {_listed(other)}"]),
        *_apart_in_time(headers, ends),
    ]
    doubt = None
    if not numbered:
        doubt = "no header says of which rank it is (config.rank)"
    elif unlike := {name: values for name, values in other.items() if name not in SIZES}:
        doubt = f"they ran with other options: {_listed(unlike)}"
    numbers = tuple(number for number in told if number is not None) if numbered else tuple(range(len(told)))
    return Relation(numbers, "; ".join(reasons) or None, doubt)


def rank_of(header: dict[str, Any]) -> int | None:
    """The rank that a dump says it is of."""
    rank = _config(header).get("rank")
    known = isinstance(rank, int) and not isinstance(rank, bool) and 0 <= rank < RANKS_MAX
    return rank if known else None


def clock_offset(header: dict[str, Any]) -> int:
    """What to add to its monotonic time for nanoseconds of Unix time; 0 when the header doesn't say."""
    unix, monotonic = _clock(header)
    offset = unix - monotonic if unix is not None and monotonic is not None else 0
    return offset if abs(offset) < OFFSET_MAX else 0


def boot_of(header: dict[str, Any]) -> str | None:
    """The boot of the host that it ran in."""
    boot = _ring(header).get("boot_id")
    return boot if isinstance(boot, str) and boot else None


def ring_of(header: dict[str, Any]) -> tuple[Any, ...] | None:
    """What tells a ring from any other: boot, process, and when it began. None where that is not told."""
    boot, pid, (_, began) = boot_of(header), _ring(header).get("pid"), _clock(header)
    return (boot, pid, began) if boot is not None and isinstance(pid, int) and began is not None else None


def _rings(names: Sequence[str], headers: Sequence[dict[str, Any]]) -> list[str]:
    first: dict[tuple[Any, ...], str] = {}
    told = []
    for name, header in zip(names, headers, strict=True):
        ring = ring_of(header)
        if ring is not None and ring in first:
            told.append(f"{name} and {first[ring]} are of one process ({ring[1]})")
        elif ring is not None:
            first[ring] = name
    return told[:1]


def _ranks(names: Sequence[str], told: Sequence[int | None]) -> list[str]:
    if all(number is None for number in told):
        return []
    first: dict[int, str] = {}
    for name, number in zip(names, told, strict=True):
        if number is None:
            return [f"{name} does not say its rank (config.rank), and others do"]
        if number in first:
            return [f"{name} is of rank {number}, and so is {first[number]}"]
        first[number] = name
    return []


def _model(headers: Sequence[dict[str, Any]]) -> list[str]:
    models = [header.get("model") for header in headers]
    names = [str(model["name"]) for model in models if isinstance(model, dict) and model.get("name")]
    return [f"they are of other models: {', '.join(dict.fromkeys(names))}"] if len(set(names)) > 1 else []


def _other_options(headers: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    """Options that are told of two dumps and differ, with their values."""
    configs = [_config(header) for header in headers]
    found: dict[str, list[Any]] = {}
    for name in dict.fromkeys(name for config in configs for name in config):
        values = [config[name] for config in configs if name in config]
        if name not in OF_A_RANK and any(value != values[0] for value in values):
            found[name] = values
    return found


def _listed(options: dict[str, list[Any]]) -> str:
    told = [
        f"{name} ({', '.join(dict.fromkeys(str(value)[:40] for value in values))})"
        for name, values in list(options.items())[:NAMED]
    ]
    more = len(options) - NAMED
    return ", ".join(told) + (f" and {more} more" if more > 0 else "")


def _apart_in_time(headers: Sequence[dict[str, Any]], ends: Sequence[int | None] | None) -> list[str]:
    """The widest gap between the end of one dump and the beginning of another, if it is one."""
    boots = {boot_of(header) for header in headers}
    bound = TOGETHER_NS if len(boots) == 1 and None not in boots else SKEW_NS
    spans = [
        span
        for header, end in zip(headers, ends or [None] * len(headers), strict=True)
        if (span := _span(header, end)) is not None
    ]
    gap = max((max(a[0], b[0]) - min(a[1], b[1]) for a, b in combinations(spans, 2)), default=0)
    return [f"they ran {gap / 1e9:.0f} s apart"] if gap > bound else []


def _span(header: dict[str, Any], end: int | None) -> tuple[int, int] | None:
    """From when to when it ran, in nanoseconds of Unix time; None where that is not told."""
    began, _ = _clock(header)
    written = header.get("written_ns")
    end = end if end is not None else written if isinstance(written, int) else None
    if began is None or end is None or abs(began) > OFFSET_MAX or abs(end) > OFFSET_MAX:
        return None
    return min(began, end), end


def _clock(header: dict[str, Any]) -> tuple[int | None, int | None]:
    """Unix time and monotonic time at one moment, when the ring began."""
    clock = header.get("clock")
    told = clock if isinstance(clock, dict) else {}
    unix, monotonic = told.get("unix_ns"), told.get("monotonic_ns")
    return unix if isinstance(unix, int) else None, monotonic if isinstance(monotonic, int) else None


def _config(header: dict[str, Any]) -> dict[str, Any]:
    config = header.get("config")
    return config if isinstance(config, dict) else {}


def _ring(header: dict[str, Any]) -> dict[str, Any]:
    ring = header.get("ring")
    return ring if isinstance(ring, dict) else {}
