"""`what_was_new`: traits of a launch against the launches of its kernel before it, alone and together."""

from collections import defaultdict
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.history import History, Page, use
from tests.analysis.serving import COMPUTE, TRANSFER, Serving

LEGACY = 0
Told = dict[tuple[str, str], tuple[int, int]]


def rows(history: History, folder: Path, launch: int) -> list[tuple[Any, ...]]:
    """What the macro says of a launch."""
    return history.read(folder).connection.execute(f"FROM what_was_new({launch})").fetchall()


def told(found: list[tuple[Any, ...]]) -> Told:
    """Support of each trait."""
    return {(trait, value): (support, earlier) for trait, value, support, earlier, _ in found}


def turn(history: History, request: int, pages: list[Page], end: int, *, on: int = TRANSFER) -> None:
    """A request gets row 0 and is computed at once."""
    history.acquire(0, request, request)
    history.publish(on, 0, request, pages)
    history.order(on, COMPUTE)
    history.forward(COMPUTE, use(0, request, 0, end), phase="prefill", step=request)
    history.sync(COMPUTE)
    history.event("finish", request=request, row=0, reason="stop")
    history.give_back(pages, f"request:{request}")
    history.release(0, request, request)


@pytest.fixture
def cold_hit_miss() -> History:
    """Two cold requests that find no room in the workspace tight, a hit, and a larger one that finds none."""
    history = History()
    for request, room, hit, pages in ((1, 900, 0, [5, 6]), (2, 500, 4, [5, 6]), (3, 500, 0, [5, 7, 9])):
        history.event("match", request=request, node=0, hit_tokens=hit, pages=[])
        granted = history.alloc(pages, f"request:{request}")
        history.event(
            "workspace_plan", launch=2 * request, stream=COMPUTE, bytes=400, capacity=900, room=room
        )
        turn(history, request, granted, 4 * len(pages) - 1, on=LEGACY if request == 3 else TRANSFER)
    return history


def test_what_a_kernel_author_would_ask(cold_hit_miss: History, tmp_path: Path) -> None:
    """Of the third of three launches: what none had, what one had, what both had."""
    found = told(rows(cold_hit_miss, tmp_path, 6))
    assert {
        ("row published on", "legacy"): (0, 2),
        ("entries followed in a row, at least", "3"): (0, 2),
        ("positions computed in a row, at least", "11"): (0, 2),
        ("positions of the sequence, at least", "11"): (0, 2),
        ("runs of neighbouring pages, at least", "3"): (0, 2),
        ("last page", "9"): (0, 2),
        ("tenancy", "row 0 generation 3"): (0, 2),
        ("tenants that its row has had, at least", "3"): (0, 2),
        ("highest life of its pages, at least", "3"): (0, 2),
        ("work that the host has not seen end, on", "legacy"): (0, 2),
        ("pages that its request found cached", "0"): (1, 2),
        ("room in one piece of the workspace, at most", "500"): (1, 2),
        ("the last page in its life before held", "nothing"): (1, 2),
        ("staging buffer of its row", "used before"): (1, 2),
        ("since the launch before", "a request finished"): (1, 2),
        ("there had been", "a cache hit"): (1, 2),
        ("first page", "5"): (2, 2),
        ("lowest life of its pages, at least", "1"): (2, 2),
        ("positions in the last page", "3"): (2, 2),
        ("chunk of several positions starts at", "0"): (2, 2),
        ("first position computed, modulo page", "0"): (2, 2),
        ("workspace bytes planned, at least", "400"): (2, 2),
        ("launch of its tenancy", "the first"): (2, 2),
        ("phase", "prefill"): (2, 2),
        ("rows used", "1"): (2, 2),
        ("rows that requests have, at least", "1"): (2, 2),
        ("stream of forward", "compute"): (2, 2),
        ("kernel", "forward"): (2, 2),
    }.items() <= found.items()


def test_together_stands_what_none_had_at_once(cold_hit_miss: History, tmp_path: Path) -> None:
    """A miss behind a hit: each half had been there."""
    found = rows(cold_hit_miss, tmp_path, 6)
    sets = [row for row in found if row[0] == "together"]
    assert 1 <= len(sets) <= 3
    assert all((support, earlier, alone) == (0, 2, [1, 1]) for _, _, support, earlier, alone in sets)
    assert all(value.startswith("pages that its request found cached 0 and ") for _, value, *_ in sets)


def test_the_rarest_come_first_and_sets_behind_what_none_had(cold_hit_miss: History, tmp_path: Path) -> None:
    """Sorted by support; a set stands at the end of the zeros."""
    found = rows(cold_hit_miss, tmp_path, 6)
    assert [row[2] for row in found] == sorted(row[2] for row in found)
    zeros = [row[0] == "together" for row in found if row[2] == 0]
    assert zeros == sorted(zeros)


def test_three_traits_where_no_two_are_enough(tmp_path: Path) -> None:
    """Phase, cached pages and room of the workspace: each two of them had met, all three never."""
    history = History()
    kinds = [
        ("mixed", 8, 900),
        ("decode", 4, 900),
        ("decode", 8, 500),
        ("prefill", 4, 500),
        ("decode", 4, 500),
    ]
    for request, (phase, hit, room) in enumerate(kinds, 1):
        history.event("match", request=request, node=0, hit_tokens=hit, pages=[])
        history.acquire(request, 1, request)
        history.publish(COMPUTE, request, 1, [(5, 1)])
        history.event(
            "workspace_plan", launch=2 * request, stream=COMPUTE, bytes=400, capacity=900, room=room
        )
        history.forward(COMPUTE, use(request, 1, 0, 2), phase=phase, step=request)
    sets = [row[1:] for row in rows(history, tmp_path, 2 * len(kinds)) if row[0] == "together"]
    together = (
        "phase decode and room in one piece of the workspace, at most 500 "
        "and pages that its request found cached 1"
    )
    assert sets == [(together, 0, 4, [2, 2, 2])]


def traits(history: History) -> list[tuple[int, dict[tuple[int, int], dict[str, Any]]]]:
    """Of each forward, by hand: its launch, and of each row that it uses what was true then."""
    size = history.header["config"]["page_size"]
    entries: dict[tuple[int, int], dict[int, Page]] = defaultdict(dict)
    begun: set[tuple[int, int]] = set()
    hits: dict[int, int] = {}
    tenants: dict[tuple[int, int], int] = {}
    open_rows = granted = 0
    found = []
    for event in history.events:
        kind = event["kind"]
        if kind == "match":
            hits[event["request"]] = event["hit_tokens"]
        elif kind == "row_acquire":
            tenants[event["row"], event["generation"]] = event["request"]
            open_rows += 1
        elif kind == "row_release":
            open_rows -= 1
        elif kind in ("alloc", "free"):
            granted += len(event.get("pages", [0])) * (1 if kind == "alloc" else -1)
        elif kind == "publish":
            row = event["row"], event["generation"]
            for index, page, life in event["entries"]:
                entries[row].setdefault(index, (page, life))
        elif kind == "launch" and event["kernel"] == "forward":
            seen = {}
            for one in event["uses"]:
                row = one["row"], one["generation"]
                pages = [entries[row][index] for index in range(one["walked"])]
                numbers = [page for page, _ in pages]
                seen[row] = {
                    "rows used": len(event["uses"]),
                    "rows that requests have, at least": open_rows,
                    "pages of the pool in use, at least": granted,
                    "positions computed in all, at least": sum(u["end"] - u["start"] for u in event["uses"]),
                    "entries followed in a row, at least": one["walked"],
                    "positions computed in a row, at least": one["end"] - one["start"],
                    "first position computed, modulo page": one["start"] % size,
                    "first position computed, modulo 128": one["start"] % 128,
                    "positions in the last page": (one["end"] - 1) % size + 1,
                    "positions of the sequence, at least": one["end"],
                    "runs of neighbouring pages, at least": 1 + sum(b != a + 1 for a, b in pairwise(numbers)),
                    "first page": numbers[0],
                    "last page": numbers[-1],
                    "highest life of its pages, at least": max(life for _, life in pages),
                    "lowest life of its pages, at least": min(life for _, life in pages),
                    "pages that its request found cached": hits[tenants[row]] // size,
                    "tenants that its row has had, at least": row[1],
                }
                seen[row] |= {"launch of its tenancy": "the first"} if row not in begun else {}
                begun.add(row)
            found.append((event["launch"], seen))
    return found


def shares(trait: str, mine: Any, theirs: dict[str, Any]) -> bool:
    """Has another row's use the trait?"""
    if trait not in theirs:
        return False
    return bool(theirs[trait] >= mine if trait.endswith("at least") else theirs[trait] == mine)


@pytest.mark.parametrize("seed", [3, 4])
def test_the_counts_are_those_of_plain_python(tmp_path: Path, seed: int) -> None:
    """Served requests that share prefixes: every support, and no two traits of a set met before."""
    history = History(kv_pages=24)
    serving = Serving(history, seed)
    serving.start()
    for _ in range(40):
        serving.step()
    counted = traits(history)
    connection = history.read(tmp_path).connection
    for place in (len(counted) // 2, len(counted) - 1):
        launch, mine = counted[place]
        rows = connection.execute(f"FROM what_was_new({launch})").fetchall()
        (tenancy,) = (value.split()[1::2] for trait, value, *_ in rows if trait == "tenancy")
        own = mine[int(tenancy[0]), int(tenancy[1])]
        most = max(seen["positions computed in a row, at least"] for seen in mine.values())
        assert own["positions computed in a row, at least"] == most
        before = [seen.values() for _, seen in counted[:place]]
        expected = {
            (trait, str(value)): (
                sum(any(shares(trait, value, row) for row in seen) for seen in before),
                place,
            )
            for trait, value in own.items()
            if (trait, value) != ("tenants that its row has had, at least", 1)
        }
        assert expected.items() <= told(rows).items()
        for trait, value, *_ in rows:
            named = value.split(" and ") if trait == "together" else []
            parts = [name for name in own if f"{name} {own[name]}" in named]
            for pair in combinations(parts, len(named)) if named else ():
                met = [row for seen in before for row in seen if all(shares(p, own[p], row) for p in pair)]
                assert met == []


def test_numbers_that_no_engine_has(tmp_path: Path) -> None:
    """A launch that follows no entry; seqs of a very long run; an extent that ends before it begins."""
    history = History()
    history.seq = 1 << 50
    pages = history.alloc([5], "request:1")
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, pages)
    history.forward(COMPUTE, use(0, 1, 0, 0, walked=0))
    history.forward(COMPUTE, use(0, 1, 0, 3), writes=[[5, 1, 3, 1]])
    history.copy(COMPUTE, [[5, 1, 3, 1]], [[5, 1, 3, 1]])
    connection = history.read(tmp_path).connection
    found = told(connection.execute("FROM what_was_new(3)").fetchall())
    assert found["entries followed in a row, at least", "1"] == (0, 1)
    assert ("kernel", "copy_pages") in told(connection.execute("FROM what_was_new(4)").fetchall())


def test_a_launch_that_is_not_there_has_no_traits(cold_hit_miss: History, tmp_path: Path) -> None:
    """No rows, no error."""
    assert [] == rows(cold_hit_miss, tmp_path, 99)
