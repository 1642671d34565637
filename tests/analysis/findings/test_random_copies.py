"""TR303's sources that are let go, against brute force: copies, fences, retirements and new owners at random.

What orders two launches is asked of a graph that is built the slow way, with what the host came to know.
"""

import random
from pathlib import Path

import pytest

from tests.analysis.findings.test_outside import told
from tests.analysis.happens_before.program import Program
from tests.analysis.history import History, Page, Recorded
from tests.some import a_few

WIDTH, COPIES, SIZE, COPIED = 3, 6, 4, 3


class Copy:
    """A planned copy that was launched, and what became of its source."""

    def __init__(self, source: Page, holder: str, job: int) -> None:
        self.source, self.holder, self.job = source, holder, job
        self.released = 0
        """Event that let it go."""
        self.guarded = False
        """A fence guards it then, whichever."""
        self.granted = False
        self.writers: list[int] = []
        """The jobs that write what was copied, in its next life."""


class Copies:
    """A history, and the same calls as a program."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.history = History(page_size=SIZE, kv_pages=32)
        self.history.blocking.clear()
        self.program = Program(width=WIDTH + 1)
        self.copies: list[Copy] = []
        self._fences: list[tuple[int, Recorded]] = []

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
                    self._wait(stream, self.draw.choice(self._fences[-3:]))
                case "S" if self._fences:
                    number, fence = self.draw.choice(self._fences)
                    self.program.sync(number)
                    self.history.passed(fence)
                case "G" if self.copies:
                    self._release(self.draw.choice(self.copies))

    def expected(self) -> dict[int, int]:
        """By source the event that let it go too early."""
        reaches = self.program.reaches()
        return {
            copy.source[0]: copy.released
            for copy in self.copies
            if not all(reaches[job] >> copy.job & 1 for job in copy.writers)
        }

    def _record(self, stream: int) -> tuple[int, Recorded]:
        fence = self.program.record(stream), self.history.record(stream)
        self._fences.append(fence)
        return fence

    def _wait(self, stream: int, fence: tuple[int, Recorded]) -> None:
        self.program.wait(stream, fence[0])
        self.history.wait(stream, fence[1])

    def _copy(self, stream: int) -> None:
        """A page is written on some stream, and planned and copied on another, behind that."""
        number = len(self.copies) + 1
        holder = f"request:{number}"
        (source,) = self.history.alloc([number], holder)
        (target,) = self.history.alloc([16 + number], f"request:{number + 100}")
        writer = self.draw.randrange(1, WIDTH + 1)
        self.history.forward(writer, writes=[[*source, 0, SIZE]])
        self.program.launch(writer)
        self._wait(stream, self._record(writer))
        extents = [[*source, 0, COPIED]], [[*target, 0, COPIED]]
        self.history.event("copy_plan", transaction=number, source=extents[0], target=extents[1])
        self.history.copy(stream, *extents)
        self.copies.append(Copy(source, holder, self.program.launch(stream)))

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
        copy.guarded = fence is not None
        if fence is None:
            self.history.free([copy.source])
        else:
            self.history.retire([copy.source], fence[1])

    def _use(self, copy: Copy, stream: int) -> None:
        """By the next owner, who gets the page whatever guards it: reads it, or writes some of it."""
        if not copy.released:
            return
        page, life = copy.source
        if not copy.granted:
            self.history.alloc([page], f"request:{page + 200}")
            copy.granted = True
        first = self.draw.choice((0, COPIED - 1, COPIED))
        extents = [[page, life + 1, first, SIZE]]
        writes = self.draw.random() < 0.8
        self.history.forward(stream, **{"writes" if writes else "reads": extents})
        job = self.program.launch(stream)
        if writes and first < COPIED:
            copy.writers.append(job)


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
            (copy.source[0] in broken, copy.guarded, copy.granted, bool(copy.writers))
            for copy in copies.copies
            if copy.released
        }
    # Nobody tears what nobody is granted, or writes.
    granted = {(False, True, False), (False, True, True), (True, True, True)}
    assert seen == {
        (broken, guarded, *rest)
        for guarded in (False, True)
        for broken, *rest in granted | {(False, False, False)}
    }
