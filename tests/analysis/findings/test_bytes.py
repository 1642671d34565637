"""What launches meet in pages, against an oracle of single positions, on histories that keep no rule."""

import random
from pathlib import Path

import pytest

from tests.analysis.findings.byte_oracle import ByteOracle
from tests.analysis.history import History, use
from tests.some import a_few

PAGES, SIZE, COMPUTE = 6, 4, 1


class Anything:
    """Acts at random on few pages: grants, writes, reads, copies, clears and moves to the host and back."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.history = History(page_size=SIZE, kv_pages=PAGES)
        self.lives = dict.fromkeys(range(1, PAGES), 0)
        self.ends = {0: 0, 1: 0}
        self.generations = {0: 1, 1: 1}
        if seed % 3:
            self.history.clear(COMPUTE)
        self.history.alloc([0], "reserved:0")
        for row in self.ends:
            self.history.acquire(row, 1, row + 1)
            self.publish(row)

    def page(self) -> tuple[int, int]:
        """A page in its life; now and then in an earlier one."""
        page = self.draw.randint(1, PAGES - 1)
        return page, max(1, self.lives[page] - (self.draw.random() < 0.1))

    def generation(self, row: int) -> int:
        """The row's tenant; now and then the one before, who still has a handle."""
        return max(1, self.generations[row] - (self.draw.random() < 0.1))

    def span(self) -> tuple[int, int]:
        """Some positions of a page."""
        if self.draw.random() < 0.4:
            return 0, SIZE
        first = self.draw.randint(0, SIZE - 1)
        return first, self.draw.randint(first + 1, SIZE)

    def publish(self, row: int) -> None:
        """New pages for all entries of a row, or for one of them."""
        if self.draw.random() < 0.7:
            self.history.publish(COMPUTE, row, self.generation(row), [self.page() for _ in range(3)])
        else:
            self.history.publish(
                COMPUTE, row, self.generation(row), [self.page()], first=self.draw.randint(0, 2)
            )

    def act(self) -> None:
        """One of them."""
        draw, history = self.draw, self.history
        what = draw.choices(
            ["grant", "tenancy", "use", "write", "read", "make", "copy", "clear", "offload", "load", "scan"],
            [3, 1, 10, 2, 1, 1, 2, 2, 1, 1, 1],
        )[0]
        page, life = self.page()
        first, end = self.span()
        if what == "grant":
            self.lives[page] = history.alloc([page], draw.choice(["request:1", "request:2", "state:1"]))[0][1]
            if draw.random() < 0.5:
                history.clear(COMPUTE, [[page, self.lives[page], first, SIZE]])
        elif what == "tenancy":
            row = draw.choice([0, 1])
            self.generations[row] += 1
            history.acquire(row, self.generations[row], 9)
            self.publish(row)
            self.ends[row] = draw.choice([0, 0, 3, 4])
        elif what == "use":
            self.use(draw.choice([0, 1]))
        elif what in ("write", "read", "make"):
            extents = {"writes" if what == "write" else "reads": [[page, life, first, end]]}
            if what == "make":
                extents["writes"] = [[*self.page(), *self.span()]]
            launch = history.forward(COMPUTE, **extents, **{"class": draw.choice(["rows", None])})
            if what == "read" and draw.random() < 0.2:
                history.event("snapshot_restore", snapshot=1, request=1, launch=launch.launch)
        elif what == "copy":
            target, target_life = self.page()
            if target != page:
                start = draw.choice([first, first, draw.randint(0, SIZE - (end - first))])
                extent = [target, target_life, start, start + end - first]
                history.copy(COMPUTE, [[page, life, first, end]], [extent])
        elif what == "clear":
            history.clear(COMPUTE, [[page, life, first, end]])
        elif what == "scan":
            self.scan()
        else:
            history.moved(what, COMPUTE, [(draw.randint(0, 1), page, life)])

    def scan(self) -> None:
        """State rows that go on from themselves, now and then from elsewhere; or a network adds in place."""
        reads = [[*self.page(), *self.span()] for _ in range(self.draw.choice([1, 1, 2]))]
        writes = [list(read) if self.draw.random() < 0.8 else [*self.page(), *self.span()] for read in reads]
        if self.draw.random() < 0.7:
            self.history.forward(COMPUTE, kernel="scan", reads=reads, writes=writes, **{"class": "rows"})
        else:
            self.history.end("nic", self.history.begin("nic", reads=reads, writes=writes))

    def use(self, row: int) -> None:
        """A step of a row, which goes on where it was; now and then it leaves a gap, or goes back."""
        start = max(0, self.ends[row] + self.draw.choice([0, 0, 0, 0, 0, 0, 1, -1]))
        end = min(start + self.draw.choice([1, 1, 1, 2, 5]), 3 * SIZE)
        if start >= end:
            return
        covers = self.draw.choice(["page", "valid", "valid"])
        walked = self.draw.choice([-(-end // SIZE), 3])
        self.history.forward(
            COMPUTE, use(row, self.generation(row), start, end, walked=walked, covers=covers)
        )
        self.ends[row] = end


def anything(seed: int) -> History:
    """A history of some eighty acts."""
    acts = Anything(seed)
    for _ in range(80):
        acts.act()
    return acts.history


@pytest.mark.parametrize("seed", a_few(5, range(40)))
def test_what_launches_meet_is_what_the_oracle_says(tmp_path: Path, seed: int) -> None:
    """The same lives, each at the same launch; and the run that is told is wrong as it says."""
    history = anything(seed)
    oracle = ByteOracle(history)
    expected = oracle.met
    connection = history.read(tmp_path).connection
    rows = connection.execute(
        'SELECT kind, page, life, seq, first, "end", origin_seq, origins FROM _blemish'
    ).fetchall()
    found = {
        (kind, page, life): (seq, first, end, origin, origins)
        for kind, page, life, seq, first, end, origin, origins in rows
    }
    assert {key: seq for key, (seq, _) in expected.items()} == {key: seq for key, (seq, *_) in found.items()}
    for key, (_, first, end, origin, origins) in found.items():
        positions = expected[key][1]
        assert set(range(first, end)) <= set(positions)
        assert max((positions[at] or 0 for at in range(first, end)), default=0) == (origin or 0)
        assert origins == len({positions[at] for at in range(first, end)} - {None, 0})
    wiped = connection.execute(
        'SELECT page, life, first, "end", clear_seq, clear_page, clear_life, clear_first FROM _blemish '
        "WHERE kind = 'wiped'"
    ).fetchall()
    for page, life, first, end, *clear in wiped:
        told = {at: (*clear[:3], clear[3] + at - first) for at in range(first, end)}
        assert told == {at: oracle.clears[page, life][at] for at in told}


def test_the_histories_meet_everything() -> None:
    """Each kind is met, and not by every history."""
    kinds = [{kind for kind, _, _ in ByteOracle(anything(seed)).met} for seed in range(40)]
    assert {"stale", "mixed", "unwritten", "wiped"} == set().union(*kinds)
    assert any("unwritten" not in found for found in kinds)
    carried = [
        (page, life) != clear[1:3]
        for seed in range(40)
        for (page, life), clears in ByteOracle(anything(seed)).clears.items()
        for clear in clears.values()
        if clear
    ]
    assert True in carried
    assert False in carried
