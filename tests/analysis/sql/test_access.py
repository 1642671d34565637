"""Accesses are rebuilt from publishes and uses: by hand, and against a table simulated entry by entry."""

import random
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tracert_analysis.load import Dump

from tests.analysis.history import History, use
from tests.some import a_few

SIZE = 4
SEEDS = a_few(4, range(12))


def accesses(dump: Dump, *, certain: bool = True) -> set[tuple[int, str, int, int, int, int]]:
    """(launch, mode, page, life, first, end) of all accesses through rows."""
    return set(
        dump.connection.execute(
            f"""
            SELECT launch, mode, page, life, first, "end" FROM access
            WHERE source = 'row' AND certain = {certain}
            """
        ).fetchall()
    )


def test_a_row_gives_its_pages(tmp_path: Path) -> None:
    """Positions 5 to 9 lie in entries 1 and 2; all three entries are read."""
    history = History()
    history.publish(1, 0, 1, [(5, 1), (6, 1), (7, 2)])
    launch = history.forward(1, use(0, 1, 5, 9)).launch
    expected = {
        (launch, "read", 5, 1, 0, 4),
        (launch, "read", 6, 1, 0, 4),
        (launch, "read", 7, 2, 0, 1),
        (launch, "write", 6, 1, 1, 4),
        (launch, "write", 7, 2, 0, 1),
    }
    assert expected == accesses(history.read(tmp_path, macros=False))


def test_a_kernel_that_covers_pages_reads_them_whole(tmp_path: Path) -> None:
    """And those that it follows beyond the last position, too; it writes its positions only."""
    history = History()
    history.publish(1, 0, 1, [(5, 1), (6, 1)])
    launch = history.forward(1, use(0, 1, 2, 3, walked=2, covers="page")).launch
    expected = {(launch, "read", 5, 1, 0, 4), (launch, "read", 6, 1, 0, 4), (launch, "write", 5, 1, 2, 3)}
    assert expected == accesses(history.read(tmp_path, macros=False))


def test_a_publish_counts_for_launches_behind_it(tmp_path: Path) -> None:
    """Each launch finds what was published last before it."""
    history = History()
    history.publish(1, 0, 1, [(5, 1)])
    first = history.forward(1, use(0, 1, 0, 1)).launch
    history.publish(1, 0, 2, [(6, 1)])
    second = history.forward(1, use(0, 2, 0, 1)).launch
    expected = {
        (first, "read", 5, 1, 0, 1),
        (first, "write", 5, 1, 0, 1),
        (second, "read", 6, 1, 0, 1),
        (second, "write", 6, 1, 0, 1),
    }
    assert expected == accesses(history.read(tmp_path, macros=False))


def test_what_an_earlier_tenant_left_is_followed(tmp_path: Path) -> None:
    """Generation 2 publishes one entry and follows two: the second is generation 1's."""
    history = History()
    history.publish(1, 0, 1, [(5, 1), (6, 1)])
    history.publish(1, 0, 2, [(7, 1)])
    launch = history.forward(1, use(0, 2, 4, 5)).launch
    assert {
        (launch, "read", 7, 1, 0, 4),
        (launch, "read", 6, 1, 0, 1),
        (launch, "write", 6, 1, 0, 1),
    } == accesses(history.read(tmp_path, macros=False))


def test_a_publish_without_order_leaves_doubt(tmp_path: Path) -> None:
    """The launch may find the former tenant's page where nothing orders it after the publish."""
    history = History()
    history.publish(2, 0, 1, [(5, 1)])
    history.sync()
    history.publish(0, 0, 2, [(6, 1)])
    launch = history.forward(1, use(0, 2, 0, 1)).launch
    dump = history.read(tmp_path, macros=False)
    assert {(launch, "read", 6, 1, 0, 1), (launch, "write", 6, 1, 0, 1)} == accesses(dump)
    assert {(launch, "read", 5, 1, 0, 1), (launch, "write", 5, 1, 0, 1)} == accesses(dump, certain=False)


def test_doubt_ends_where_order_begins(tmp_path: Path) -> None:
    """A later launch that is ordered after the publish finds what was published."""
    history = History()
    history.publish(2, 0, 1, [(5, 1)])
    history.sync()
    history.publish(0, 0, 2, [(6, 1)])
    doubtful = history.forward(1, use(0, 2, 0, 1)).launch
    history.order(0, 1)
    history.forward(1, use(0, 2, 1, 2))
    assert {doubtful} == {
        launch for launch, *_ in accesses(history.read(tmp_path, macros=False), certain=False)
    }


def test_extents_copies_and_clears(tmp_path: Path) -> None:
    """What a launch names itself; a clear of the arena writes every page, in life 0."""
    history = History(kv_pages=3)
    history.clear(1)
    history.forward(1, reads=[[1, 1, 0, 2]], writes=[[2, 1, 1, 3]])
    history.copy(2, [[1, 1, 0, 4]], [[2, 1, 0, 4]])
    history.clear(1, [[2, 1, 3, 4]])
    found = history.read(tmp_path, macros=False).connection.execute(
        """SELECT launch, mode, page, life, first, "end", source FROM access ORDER BY ALL"""
    )
    assert [
        (1, "write", 0, 0, 0, 4, "clear"),
        (1, "write", 1, 0, 0, 4, "clear"),
        (1, "write", 2, 0, 0, 4, "clear"),
        (2, "read", 1, 1, 0, 2, "extent"),
        (2, "write", 2, 1, 1, 3, "extent"),
        (3, "read", 1, 1, 0, 4, "copy"),
        (3, "write", 2, 1, 0, 4, "copy"),
        (4, "write", 2, 1, 3, 4, "clear"),
    ] == found.fetchall()


def test_the_request_stands_beside_its_accesses(tmp_path: Path) -> None:
    """Row, generation, entry and the request that had the row."""
    history = History()
    history.acquire(3, 9, 17)
    history.publish(1, 3, 9, [(5, 1)])
    history.forward(1, use(3, 9, 0, 1))
    assert [(3, 9, 0, 17, "valid")] == history.read(tmp_path, macros=False).connection.execute(
        "SELECT DISTINCT row, generation, index, request, covers FROM access"
    ).fetchall()


def simulated(history: History) -> set[tuple[int, str, int, int, int, int]]:
    """What every use touches, with the device's rows kept entry by entry."""
    rows: dict[tuple[int, int], tuple[int, int]] = {}
    found = set()
    for event in history.events:
        if event["kind"] == "publish":
            for index, page, life in event["entries"]:
                rows[event["row"], index] = (page, life)
        elif event["kind"] == "launch":
            for one in event["uses"]:
                depth = (
                    one["walked"] if one["covers"] == "page" else min(one["walked"], -(-one["end"] // SIZE))
                )
                for index in range(64):
                    name = rows.get((one["row"], index))
                    if name is None:
                        continue
                    low, high = index * SIZE, (index + 1) * SIZE
                    if index < depth:
                        end = SIZE if one["covers"] == "page" else min(one["end"], high) - low
                        found.add((event["launch"], "read", *name, 0, end))
                    first, end = max(one["start"], low), min(one["end"], high)
                    if first < end:
                        found.add((event["launch"], "write", *name, first - low, end - low))
    return found


def random_history(draw: random.Random) -> History:
    """Rows published, used and re-used on two streams, with uses that grow, jump back and reach too far.

    Now and then a former tenant publishes or uses the row once more, behind the present one's publish.
    """
    history = History(page_size=SIZE, kv_pages=64)
    generations = dict.fromkeys(range(3), 1)
    reach = dict.fromkeys(range(3), 0)
    position = dict.fromkeys(range(3), 0)

    def generation(row: int) -> int:
        return generations[row] - (generations[row] > 1 and draw.random() < 0.15)

    for _ in range(draw.randint(5, 60)):
        row = draw.randrange(3)
        match draw.choice("PPUUUUUG"):
            case "P":
                count = draw.randint(1, 3)
                first = draw.randint(0, reach[row]) if draw.random() < 0.3 else reach[row]
                pages = [(draw.randrange(40), draw.randint(1, 3)) for _ in range(count)]
                history.publish(draw.choice([1, 1, 2]), row, generation(row), pages, first=first)
                reach[row] = max(reach[row], first + count)
            case "U":
                uses = []
                for used in draw.sample(range(3), draw.randint(1, 2)):
                    grown = draw.random() < 0.8
                    start = position[used] if grown else draw.randint(0, 12)
                    end = start + draw.choice([0, 1, 1, 1, 5])
                    position[used] = end if grown else position[used]
                    walked = -(-end // SIZE) + draw.choice([0, 0, 0, 1])
                    covers = draw.choice(["valid", "valid", "page"])
                    uses.append(use(used, generation(used), start, end, walked=walked, covers=covers))
                history.forward(draw.choice([1, 1, 1, 2]), *uses)
            case "G":
                generations[row] += 1
                reach[row] = position[row] = 0
    return history


@cache
def random_dump(seed: int) -> tuple[History, Dump]:
    """One of them, and what is read of it; several tests look at the same one."""
    history = random_history(random.Random(seed))
    with TemporaryDirectory() as folder:
        return history, history.read(Path(folder), macros=False)


@pytest.mark.parametrize("seed", SEEDS)
def test_accesses_agree_with_a_simulated_table(seed: int) -> None:
    """Spans and intervals give, use by use, what following the device's rows gives."""
    history, dump = random_dump(seed)
    assert simulated(history) == accesses(dump)


def spans(history: History) -> set[tuple[int, int, int, int, str, int, int]]:
    """(publish, entry, generation of the uses, stream, mode, first, last), use by use."""
    published: dict[tuple[int, int], int] = {}
    found: dict[tuple[int, int, int, int, str], list[int]] = {}
    for event in history.events:
        if event["kind"] == "publish":
            published |= {(event["row"], index): event["seq"] for index, _, _ in event["entries"]}
            continue
        for one in event["uses"]:
            depth = one["walked"] if one["covers"] == "page" else min(one["walked"], -(-one["end"] // SIZE))
            for (row, index), publish in published.items():
                low, high = index * SIZE, (index + 1) * SIZE
                for mode, touched in (
                    ("walk", index < one["walked"]),
                    ("read", index < depth),
                    ("write", max(one["start"], low) < min(one["end"], high)),
                ):
                    if row == one["row"] and touched:
                        key = (publish, index, one["generation"], event["stream"], mode)
                        found.setdefault(key, []).append(event["seq"])
    return {(*key, min(seqs), max(seqs)) for key, seqs in found.items()}


@pytest.mark.parametrize("seed", SEEDS)
def test_spans_are_the_first_and_the_last_use(seed: int) -> None:
    """Also for uses that jump back, and for entries of an earlier tenant."""
    history, dump = random_dump(seed)
    assert spans(history) == set(
        dump.connection.execute(
            """
            SELECT c.seq, t.index, t.generation, t.stream, t.mode, t.first_seq, t.last_seq
            FROM _touch AS t JOIN row_content AS c USING (content)
            """
        ).fetchall()
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_entries_without_any_publish_are_told(seed: int) -> None:
    """Followed although nothing was ever published there; the first such use of each tenancy and stream."""
    history, dump = random_dump(seed)
    published: set[tuple[int, int]] = set()
    expected: dict[tuple[int, int, int, int], int] = {}
    highest = max((x[0] for event in history.events for x in event.get("entries", [])), default=0)
    for event in history.events:
        if event["kind"] == "publish":
            published |= {(event["row"], index) for index, _, _ in event["entries"]}
            continue
        for one in event["uses"]:
            for index in range(min(one["walked"], highest + 2)):
                if (one["row"], index) not in published:
                    key = (one["row"], one["generation"], index, event["stream"])
                    expected.setdefault(key, event["seq"])
    found = dump.connection.execute("SELECT row, generation, index, stream, seq FROM _unpublished")
    assert {(*key, seq) for key, seq in expected.items()} == set(found.fetchall())
