"""Everything that a recorder can be told, as hypothesis strategies with the event that a dump must show."""

from typing import Any, NamedTuple

from hypothesis import strategies as st

from tracert.record.access import (
    ByteRange,
    Clear,
    Compute,
    Copy,
    Extent,
    Holder,
    Load,
    Offload,
    Publish,
    RowUse,
)
from tracert.record.layout import Geometry

GEOMETRY = Geometry(slots=1024, pages=24, page_size=4, rows=4, row_width=6, streams=4)

number = st.integers(0, 2**31 - 1)
wide = st.integers(0, 2**63 - 1)
page = st.integers(0, 40)
life = st.integers(0, 5)
row = st.integers(0, 5)
stream = st.integers(0, 3)
mode = st.sampled_from(["read", "write"])
word = st.sampled_from(["prefill", "decode", "forward", "no free page", "stop", "длинный", ""])
holder = st.builds(
    Holder,
    st.sampled_from(["request", "prefix", "snapshot", "reserved", "inbound"]),
    st.integers(0, 2**31 - 1),
)
pairs = st.lists(st.tuples(page, life), min_size=1, max_size=12)
extent = st.builds(Extent, page, life, st.integers(0, 4), st.integers(0, 4))
extents = st.lists(extent, max_size=6)
use = st.builds(
    RowUse,
    row,
    number,
    st.integers(0, 30),
    st.integers(0, 30),
    st.integers(0, 9),
    st.sampled_from(["valid", "page"]),
)


class Telling(NamedTuple):
    """One call of a recorder's method, and the event without `seq`, `t` and `actor`."""

    method: str
    args: tuple[Any, ...]
    keywords: dict[str, Any]
    event: dict[str, Any]

    def tell(self, recorder: Any) -> int:
        """Make the call."""
        seq: int = getattr(recorder, self.method)(*self.args, **self.keywords)
        return seq


def some(found: list[tuple[int, int]], shape: Any) -> tuple[Any, Any]:
    """Pages and lives apart, as lists or tuples or arrays."""
    return shape([page for page, _ in found]), shape([life for _, life in found])


def one_or_many(found: list[tuple[int, int]]) -> dict[str, Any]:
    """How an event names pages: one in fields, several in a list."""
    if len(found) == 1:
        return {"page": found[0][0], "life": found[0][1]}
    return {"pages": [list(pair) for pair in found]}


@st.composite
def page_tellings(draw: st.DrawFn) -> Telling:
    """Grants, holds, drops, retirements, frees, and the host's mapping."""
    found = draw(pairs)
    pages, lives = some(found, draw(st.sampled_from([list, tuple])))
    who, how = draw(holder), draw(mode)
    said = one_or_many(found)
    kind = draw(st.sampled_from(["alloc", "hold", "drop", "retire", "free", "map", "unmap"]))
    if kind == "alloc":
        return Telling(
            kind,
            (pages, lives, who, 3),
            {},
            {"kind": kind, **said, "holder": f"{who.kind}:{who.id}", "pool": 3},
        )
    if kind in ("hold", "drop"):
        event = {"kind": kind, **said, "holder": f"{who.kind}:{who.id}", "mode": how}
        return Telling(kind, (pages, lives, who, how), {}, event)
    if kind == "retire":
        fence = draw(wide)
        return Telling(kind, (pages, lives, fence), {}, {"kind": kind, **said, "fence": fence})
    if kind == "free":
        return Telling(kind, (pages, lives), {}, {"kind": kind, **said})
    which, generation, index = draw(row), draw(number), draw(st.integers(0, 9))
    event = {"kind": kind, **said, "row": which, "generation": generation, "index": index}
    return Telling(kind, (which, generation, index, pages, lives), {}, event)


@st.composite
def launch_tellings(draw: st.DrawFn) -> Telling:
    """Launches of all kinds."""
    launch, on, ordinal = draw(wide), draw(stream), draw(wide)
    kernel = draw(st.sampled_from(["forward", "sample", "copy_row"]))
    event: dict[str, Any] = {"launch": launch, "stream": on, "ordinal": ordinal, "kernel": kernel}
    kind = draw(st.sampled_from(["launch", "publish", "copy", "clear", "clear all", "offload", "load"]))
    access: Any
    if kind == "launch":
        access = Compute(
            draw(word),
            draw(number),
            draw(st.lists(use, max_size=5)),
            draw(extents),
            draw(extents),
            draw(st.lists(st.sampled_from(["read:logits", "write:sampled"]), max_size=3)),
            draw(st.sampled_from(["", "rows"])),
        )
        event |= {
            "phase": access.phase,
            "step": access.step,
            "uses": [each._asdict() for each in access.uses],
            "reads": [list(each) for each in access.reads],
            "writes": [list(each) for each in access.writes],
            "resources": list(access.resources),
        }
        event |= {"class": access.content} if access.content else {}
    elif kind == "publish":
        found = draw(pairs)
        pages, lives = some(found, list)
        access = Publish(
            draw(row), draw(number), draw(number), draw(st.integers(0, 4)), pages, lives, draw(number)
        )
        event |= {"row": access.row, "generation": access.generation, "epoch": access.epoch}
        event |= {
            "staging": access.staging,
            "entries": [[access.first + at, *pair] for at, pair in enumerate(found)],
        }
    elif kind == "copy":
        access = Copy(draw(extents), draw(extents))
        event |= {
            "source": [list(each) for each in access.source],
            "target": [list(each) for each in access.target],
        }
    elif kind == "clear":
        access = Clear(draw(extents))
        event |= {"target": [list(each) for each in access.target]}
    elif kind in ("offload", "load"):
        moved = draw(st.lists(st.tuples(number, page, life), min_size=1, max_size=9))
        slots, pages, lives = (list(each) for each in zip(*moved, strict=True))
        access = (Offload if kind == "offload" else Load)(pages, lives, slots)
        event |= {"entries": [list(each) for each in moved]}
    else:
        access = Clear([Extent(each, 0, 0, GEOMETRY.page_size) for each in range(GEOMETRY.pages)])
        event |= {"all": True, "pages": GEOMETRY.pages}
    return Telling("launch", (launch, on, ordinal, kernel, access), {}, {"kind": kind.split()[0], **event})


@st.composite
def fence_tellings(draw: st.DrawFn) -> Telling:
    """Fences recorded, waited for and passed."""
    fence, on, other = draw(wide), draw(stream), draw(wide)
    kind = draw(st.sampled_from(["fence_record", "fence_wait", "fence", "stream", "device"]))
    if kind == "fence_record":
        return Telling(
            kind, (fence, on, other), {}, {"kind": kind, "fence": fence, "stream": on, "ordinal": other}
        )
    if kind == "fence_wait":
        event = {"kind": kind, "fence": fence, "stream": on, "record_seq": other}
        return Telling(kind, (fence, on, other), {}, event)
    what = {"fence": fence} if kind == "fence" else {"stream": on} if kind == "stream" else {"device": True}
    return Telling("fence_passed", (), what, {"kind": "fence_passed", **what})


@st.composite
def row_tellings(draw: st.DrawFn) -> Telling:
    """Rows, staging, schedules, transactions: single records."""
    which, generation, request, count = draw(row), draw(number), draw(wide), draw(number)
    kind = draw(st.sampled_from(["row_acquire", "row_release", "stage", "schedule", "transaction"]))
    if kind.startswith("row"):
        event = {"kind": kind, "row": which, "generation": generation, "request": request}
        return Telling(kind, (which, generation, request), {}, event)
    if kind == "stage":
        return Telling(kind, (count, request), {}, {"kind": kind, "staging": count, "bytes": request})
    if kind == "transaction":
        op = draw(st.sampled_from(["begin", "commit", "abort"]))
        event = {
            "kind": kind,
            "op": op,
            "transaction": 7,
            "row": which,
            "request": request,
            "frontier": count,
        }
        return Telling(kind, (op, 7, which, request, count), {}, event)
    phase = draw(word)
    event = {"kind": kind, "request": request, "row": which, "phase": phase, "step": count}
    event |= {"scheduled_tokens": 3, "computed_tokens": generation, "pages": 9}
    return Telling(kind, (request, which, phase, count, 3, generation, 9), {}, event)


@st.composite
def request_tellings(draw: st.DrawFn) -> Telling:
    """Arrivals and endings; a request that has no row has no field `row`."""
    request, which = draw(wide), draw(st.one_of(row, st.just(-1)))
    there = {} if which < 0 else {"row": which}
    kind = draw(st.sampled_from(["arrive", "preempt", "finish", "fail", "error"]))
    text = draw(st.text(max_size=90))
    if kind == "arrive":
        event = {"kind": kind, "request": request, "prompt_tokens": 5, "max_tokens": 6, "id": text}
        return Telling(kind, (request, text, 5, 6), {}, event)
    if kind == "fail":
        return Telling(
            kind, (request, which, text), {}, {"kind": kind, "request": request, **there, "reason": text}
        )
    if kind == "error":
        on = draw(st.one_of(st.none(), stream))
        event = {
            "kind": kind,
            "code": -1,
            "name": "E",
            "message": text,
            "observed_at": "sync",
            "detail": {"a": [1]},
        }
        event |= {} if on is None else {"stream": on}
        return Telling(kind, (-1, "E", text, on, "sync", {"a": [1]}), {}, event)
    reason = draw(word)
    event = {"kind": kind, "request": request, **there, "reason": reason}
    if kind == "preempt":
        return Telling(kind, (request, which, 4, reason), {}, {**event, "step": 4})
    return Telling(kind, (request, which, reason), {}, event)


@st.composite
def cache_tellings(draw: st.DrawFn) -> Telling:
    """Prefix nodes, lookups and non-finite outputs: pages are always a list."""
    found = draw(st.lists(st.tuples(page, life), max_size=20))
    pages, lives = some(found, list)
    listed = {"pages": [list(pair) for pair in found]}
    node, digest, identity = draw(number), draw(st.binary(min_size=8, max_size=32)), draw(wide)
    kind = draw(st.sampled_from(["insert", "evict", "match", "nonfinite", "guard"]))
    if kind == "insert":
        event = {
            "kind": kind,
            "node": node,
            "digest": digest[:8].hex(),
            "parent": 0,
            "identity": identity,
            **listed,
        }
        return Telling(kind, (node, digest, 0, pages, lives, identity), {}, event)
    if kind == "evict":
        return Telling(kind, (node, pages, lives), {}, {"kind": kind, "node": node, **listed})
    if kind == "match":
        event = {"kind": kind, "request": 4, "node": node, "digest": digest[:8].hex(), "identity": identity}
        event |= {"hit_tokens": 16, "lookup_ns": 900, **listed}
        return Telling(kind, (4, node, digest, identity, 16, pages, lives, 900), {}, event)
    if kind == "guard":
        event = {"kind": kind, "launch": identity, "row": 1, "generation": 3, "walked": node}
        event |= {"entries": listed["pages"]}
        if draw(st.booleans()):
            seen = {"page": draw(number), "position": draw(number)}
            return Telling(kind, (identity, 1, 3, node, found), seen, event | seen)
        # A page below 0 is none that could be told; as an entry it is what its 32 bits are.
        event["entries"] = [*listed["pages"], [7, 2**32 - 2]]
        return Telling(kind, (identity, 1, 3, node, [*found, (7, -2)], -2), {}, event)
    layer, stage = draw(st.integers(-1, 40)), draw(st.sampled_from(["", "keys", "attention"]))
    event = {"kind": kind, "launch": 8, "request": 4, "row": 1, "position": node, **listed}
    event |= {} if layer < 0 else {"layer": layer}
    event |= {"class": stage} if stage else {}
    return Telling(kind, (8, 4, 1, node, pages, lives, layer, stage), {}, event)


@st.composite
def state_tellings(draw: st.DrawFn) -> Telling:
    """Copies that span steps, snapshots, and blocks of the workspace."""
    kind = draw(st.sampled_from(["copy", "snapshot", "state", "workspace"]))
    if kind == "copy":
        method = draw(st.sampled_from(["copy_plan", "copy_done"]))
        source, target, transaction = draw(extents), draw(extents), draw(wide)
        source = [each for each in source if each.end >= each.first]
        event = {
            "kind": method,
            "transaction": transaction,
            "positions": sum(each.end - each.first for each in source),
            "source": [list(each) for each in source],
            "target": [list(each) for each in target],
        }
        return Telling(method, (transaction, source, target), {}, event)
    if kind == "workspace":
        method = draw(st.sampled_from(["workspace_plan", "workspace_alloc", "workspace_free"]))
        launch, capacity = draw(wide), draw(wide)
        on, offset, nbytes, room = draw(stream), draw(number), draw(number), draw(number)
        event = {"kind": method, "launch": launch, "stream": on, "bytes": nbytes}
        event |= {"capacity": capacity, "room": room}
        if method == "workspace_plan":
            return Telling(method, (launch, on, nbytes, capacity, room), {}, event)
        return Telling(method, (launch, on, offset, nbytes, capacity, room), {}, {**event, "offset": offset})
    found = draw(st.lists(st.tuples(page, life), max_size=9))
    pages, lives = some(found, list)
    borrowed = draw(st.lists(st.builds(ByteRange, page, number, number), max_size=5))
    snapshot = draw(wide)
    event = {"snapshot": snapshot, "ranges": [list(each) for each in borrowed]}
    event |= {"pages": [list(pair) for pair in found]}
    if kind == "snapshot":
        method = draw(st.sampled_from(["snapshot_alias", "snapshot_release"]))
        return Telling(method, (snapshot, borrowed, pages, lives), {}, {"kind": method, **event})
    method = draw(st.sampled_from(["snapshot_save", "snapshot_restore"]))
    request, launch, positions = draw(wide), draw(number), draw(number)
    event |= {"kind": method, "request": request, "launch": launch, "positions": positions}
    return Telling(method, (snapshot, request, launch, positions, borrowed, pages, lives), {}, event)


@st.composite
def outside_tellings(draw: st.DrawFn) -> Telling:
    """Writers without a stream: the host, and others who begin and are done."""
    reads, writes, transaction = draw(extents), draw(extents), draw(wide)
    name = draw(st.sampled_from(["nic", "прочий", ""]))
    kind = draw(st.sampled_from(["host_write", "external_begin", "external_done"]))
    event: dict[str, Any] = {"kind": kind, "writes": [list(each) for each in writes]}
    if kind == "host_write":
        return Telling(kind, (writes,), {}, event)
    who = {"kind": kind, "actor": f"external:{name}", "transaction": transaction}
    if kind == "external_done":
        return Telling(kind, (name, transaction), {}, who)
    event |= {**who, "reads": [list(each) for each in reads]}
    return Telling(kind, (name, transaction, reads, writes), {}, event)


tellings = st.one_of(
    outside_tellings(),
    state_tellings(),
    page_tellings(),
    launch_tellings(),
    fence_tellings(),
    row_tellings(),
    request_tellings(),
    cache_tellings(),
)
