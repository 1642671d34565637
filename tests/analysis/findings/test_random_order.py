"""TR101 and TR202 against brute force: launches, the host and external writers on a few pages, at random.

What orders two accesses is asked of the graph, which is built the slow way; which of them clash, of a loop
over all pairs.
"""

import random
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.analysis.findings.test_outside import told
from tests.analysis.happens_before.program import Program
from tests.analysis.history import History, Recorded
from tests.some import a_few

WIDTH, PAGES, SIZE = 4, 5, 4
BLOCKING = frozenset({3})


class Touch(NamedTuple):
    """An access of positions of a life of a page."""

    seq: int
    job: int
    page: int
    life: int
    mode: str
    first: int
    end: int


class Accesses:
    """A history, the same calls as a program, and what they touch: no life once it is over."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.history = History(page_size=SIZE, kv_pages=PAGES + 1)
        self.history.names[3] = "blocking"
        self.history.blocking.add(3)
        self.program = Program(width=WIDTH, blocking=BLOCKING)
        self.touches: list[Touch] = []
        self._fences: list[tuple[int, Recorded]] = []
        self._open: list[tuple[int, int]] = []
        self._requests = 0
        self._held = {page: self._grant(page) for page in range(1, PAGES + 1)}
        self._launch(1, [(page, self._held[page][0][1], "write", 0, SIZE) for page in self._held])
        self._sync()

    def run(self, calls: int) -> None:
        """So many random calls."""
        for _ in range(calls):
            stream = self.draw.randrange(WIDTH)
            match self.draw.choice("LLLLHBBERRWWWSSGG"):
                case "L":
                    self._launch(stream, self._drawn())
                case "H":
                    drawn = [access for access in self._drawn() if access[2] == "write"]
                    if drawn:
                        self._told(self.history.host_write(_extents(drawn, "write")), drawn)
                        self.program.host_write()
                case "B":
                    self._begin()
                case "E" if self._open:
                    job, number = self._open.pop(self.draw.randrange(len(self._open)))
                    self.program.end(job)
                    self.history.end("nic", number)
                case "R":
                    self._fences.append((self.program.record(stream), self.history.record(stream)))
                case "W" if self._fences:
                    name, fence = self.draw.choice(self._fences)
                    self.program.wait(stream, name)
                    self.history.wait(stream, fence)
                case "S" if self._fences:
                    name, fence = self.draw.choice(self._fences)
                    self.program.sync(name)
                    self.history.passed(fence)
                case "G":
                    page = self.draw.choice(list(self._held))
                    self.history.give_back([self._held[page][0]], self._held[page][1])
                    self._held[page] = self._grant(page)

    def expected(self) -> dict[tuple[str, int, int], int]:
        """By code, page and life the first event that breaks the rule."""
        reaches = self.program.reaches()
        found: dict[tuple[str, int, int], int] = {}
        lives = {(touch.page, touch.life) for touch in self.touches}
        for late in self.touches:
            before = max(
                (life for page, life in lives if page == late.page and life < late.life), default=None
            )
            for early in self.touches:
                if early.seq >= late.seq or early.page != late.page or reaches[late.job] >> early.job & 1:
                    continue
                overlap = early.first < late.end and late.first < early.end
                if early.life == late.life and overlap and "write" in (early.mode, late.mode):
                    found.setdefault(("TR101", late.page, late.life), late.seq)
                if early.life == before:
                    found.setdefault(("TR202", late.page, late.life), late.seq)
        return found

    def _grant(self, page: int) -> tuple[tuple[int, int], str]:
        self._requests += 1
        holder = f"request:{self._requests}"
        return self.history.alloc([page], holder)[0], holder

    def _drawn(self) -> list[tuple[int, int, str, int, int]]:
        """One or two accesses, of pages as they are held."""
        drawn = []
        for page in self.draw.sample(list(self._held), self.draw.randint(1, 2)):
            first = self.draw.randrange(SIZE)
            end = self.draw.randint(first + 1, SIZE)
            drawn.append((page, self._held[page][0][1], self.draw.choice(["read", "write"]), first, end))
        return drawn

    def _told(self, seq: int, drawn: list[tuple[int, int, str, int, int]]) -> None:
        self.touches += [Touch(seq, self.program.jobs, *access) for access in drawn]

    def _launch(self, stream: int, drawn: list[tuple[int, int, str, int, int]]) -> None:
        reads, writes = _extents(drawn, "read"), _extents(drawn, "write")
        self._told(self.history.forward(stream, reads=reads, writes=writes).seq, drawn)
        self.program.launch(stream)

    def _begin(self) -> None:
        drawn = self._drawn()
        reads, writes = _extents(drawn, "read"), _extents(drawn, "write")
        number = self.history.begin("nic", reads=reads, writes=writes)
        self._told(self.history.seq, drawn)
        self._open.append((self.program.begin(), number))

    def _sync(self) -> None:
        self.history.sync()
        self.program.sync_all()


def _extents(drawn: list[tuple[int, int, str, int, int]], mode: str) -> list[list[int]]:
    return [[page, life, first, end] for page, life, how, first, end in drawn if how == mode]


@pytest.mark.parametrize("seed", a_few(3, range(40)))
def test_findings_of_order_agree_with_brute_force(tmp_path: Path, seed: int) -> None:
    """Every page and life with a finding, and the event at which it fires."""
    accesses = Accesses(seed)
    accesses.run(60)
    found = {
        (row["code"], row["resource_id"], row["life"]): row["seq"]
        for row in told(accesses.history.read(tmp_path, macros=False))
        if row["code"] in ("TR101", "TR202")
    }
    expected = accesses.expected()
    assert expected == found
    assert len(expected) > 2
