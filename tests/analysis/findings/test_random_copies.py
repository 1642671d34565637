"""TR303's sources that are let go, against brute force: copies, fences, retirements and new owners at random.

What orders two launches is asked of graphs that are built the slow way: one with what the host came to know,
and one without, for that is luck.
"""

import random
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.analysis.findings.test_outside import told
from tests.analysis.happens_before.program import Program
from tests.analysis.history import History, Page, Recorded
from tests.some import a_few

WIDTH, COPIES, SIZE = 3, 6, 4


class Job(NamedTuple):
    """A launch, in the graph with the host's knowledge and in the one without."""

    known: int
    sure: int


class Copy:
    """A planned copy that was launched, and what became of its source."""

    def __init__(self, source: Page, holder: str, job: Job, users: set[int]) -> None:
        self.source, self.holder, self.job, self.users = source, holder, job, users
        self.released = 0
        """Event that let it go."""
        self.host = -1
        """A job of the host right then."""
        self.guard: int | None = None
        """A job that comes right behind the fence that guards it."""
        self.later: dict[int, int] = {}
        """By stream the first job that uses the page in its next life."""


class Copies:
    """A history, and the same calls as two programs."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.history = History(page_size=SIZE, kv_pages=32)
        self.history.blocking.clear()
        self.known = Program(width=WIDTH + 1)
        # A stream of its own for each retirement: what waits there for the guard.
        self.sure = Program(width=WIDTH + COPIES + 2)
        self.copies: list[Copy] = []
        self.ends: list[int] = []
        self._fences: list[tuple[int, int, Recorded]] = []

    def run(self, calls: int) -> None:
        """So many random calls."""
        for _ in range(calls):
            stream = self.draw.randrange(1, WIDTH + 1)
            match self.draw.choice("CCLLLRRWSGG"):
                case "C" if len(self.copies) < COPIES:
                    self._copy(stream)
                case "L" if self.copies:
                    self._use(self.draw.choice(self.copies), stream)
                case "R":
                    self._record(stream)
                case "W" if self._fences:
                    known, sure, fence = self.draw.choice(self._fences[-3:])
                    self.known.wait(stream, known)
                    self.sure.wait(stream, sure)
                    self.history.wait(stream, fence)
                case "S" if self._fences:
                    known, _, fence = self.draw.choice(self._fences)
                    self.known.sync(known)
                    self.history.passed(fence)
                case "G" if self.copies:
                    self._release(self.draw.choice(self.copies))
        self.ends = [self.sure.launch(stream) for stream in range(WIDTH + 1)]

    def expected(self) -> dict[int, int]:
        """By source the event that let it go too early."""
        known, sure = self.known.reaches(), self.sure.reaches()
        found = {}
        for copy in self.copies:
            if not copy.released or known[copy.host] >> copy.job.known & 1:
                continue
            if copy.guard is not None and sure[copy.guard] >> copy.job.sure & 1:
                continue
            asked = copy.later.values() or [self.ends[stream] for stream in copy.users]
            if not all(sure[job] >> copy.job.sure & 1 for job in asked):
                found[copy.source[0]] = copy.released
        return found

    def _did(self, stream: int) -> Job:
        return Job(self.known.launch(stream), self.sure.launch(stream))

    def _record(self, stream: int) -> tuple[int, int, Recorded]:
        fence = self.known.record(stream), self.sure.record(stream), self.history.record(stream)
        self._fences.append(fence)
        return fence

    def _copy(self, stream: int) -> None:
        """A page is written on some stream, and planned and copied on another, behind that."""
        number = len(self.copies) + 1
        holder = f"request:{number}"
        (source,) = self.history.alloc([number], holder)
        (target,) = self.history.alloc([16 + number], f"request:{number + 100}")
        writer = self.draw.randrange(1, WIDTH + 1)
        self.history.forward(writer, writes=[[*source, 0, SIZE]])
        self._did(writer)
        known, sure, fence = self._record(writer)
        self.known.wait(stream, known)
        self.sure.wait(stream, sure)
        self.history.wait(stream, fence)
        extents = [[*source, 0, SIZE]], [[*target, 0, SIZE]]
        self.history.event("copy_plan", transaction=number, source=extents[0], target=extents[1])
        self.history.copy(stream, *extents)
        self.copies.append(Copy(source, holder, self._did(stream), {stream, writer}))

    def _release(self, copy: Copy) -> None:
        """At once, or behind a fence that is there, or behind a new one."""
        if copy.released:
            return
        fence = None
        if self._fences and self.draw.random() < 0.5:
            fence = self.draw.choice(self._fences[-4:])
        elif self.draw.random() < 0.3:
            fence = self._record(self.draw.randrange(1, WIDTH + 1))
        copy.released = self.history.drop([copy.source], copy.holder)
        copy.host = self.known.host_write()
        self.sure.host_write()
        if fence is None:
            self.history.free([copy.source])
            return
        self.history.retire([copy.source], fence[2])
        stream = WIDTH + 1 + copy.source[0]
        self.sure.wait(stream, fence[1])
        copy.guard = self.sure.launch(stream)

    def _use(self, copy: Copy, stream: int) -> None:
        """By the next owner, who gets the page whatever guards it."""
        if not copy.released:
            return
        page, life = copy.source
        if not copy.later:
            self.history.alloc([page], f"request:{page + 200}")
        self.history.forward(stream, writes=[[page, life + 1, 0, SIZE]])
        job = self._did(stream)
        copy.later.setdefault(stream, job.sure)


def ran(seed: int) -> Copies:
    """Some seventy acts."""
    copies = Copies(seed)
    copies.run(70)
    return copies


@pytest.mark.parametrize("seed", a_few(1, range(40)))
def test_released_sources_agree_with_brute_force(tmp_path: Path, seed: int) -> None:
    """Every source with a finding, and the event at which it was let go."""
    copies = ran(seed)
    rows = told(copies.history.read(tmp_path))
    found = {row["resource_id"]: row["seq"] for row in rows if row["code"] == "TR303"}
    assert copies.expected() == found


def test_the_sources_are_let_go_in_every_way() -> None:
    """Too early and in time, behind a fence and without, with a next owner and without."""
    seen = set()
    for seed in range(12):
        copies = ran(seed)
        broken = copies.expected()
        seen |= {
            (copy.source[0] in broken, copy.guard is not None, bool(copy.later))
            for copy in copies.copies
            if copy.released
        }
    assert 8 == len(seen)
