"""TR502 against brute force: requests fill pages through their rows, others hit them, at random.

What orders two launches is asked of the graph, which is built the slow way; which write must come before
which read, of a loop over all positions.
"""

import random
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.analysis.findings.test_outside import told
from tests.analysis.happens_before.program import Program
from tests.analysis.history import History, Launched, Page, Recorded, use
from tests.some import a_few

SIZE, OWNERS, WIDTH = 4, 3, 3


class Read(NamedTuple):
    """Positions of a page that a request hit, and reads."""

    seq: int
    job: int
    stream: int
    page: int
    first: int
    end: int


class Hits:
    """A history and the same calls as a program; who wrote each position of a page."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.history = History(page_size=SIZE, kv_pages=64)
        self.program = Program(width=WIDTH, blocking=frozenset())
        self.history.blocking.clear()
        self.reads: list[Read] = []
        self.written: dict[tuple[int, int], tuple[Launched, int]] = {}
        """By page and position: the launch and its job; nobody writes a position again."""
        self._fences: list[tuple[int, Recorded]] = []
        self._next = OWNERS * 2
        self._requests = OWNERS
        self._pages = {
            owner: self.history.alloc([2 * owner + 1, 2 * owner + 2], f"request:{owner + 1}")
            for owner in range(OWNERS)
        }
        self._frontier = dict.fromkeys(self._pages, 0)
        for owner, pages in self._pages.items():
            self._row(owner, owner + 1, pages, stream=1)
        self.history.sync()
        self.program.sync_all()

    def run(self, calls: int) -> None:
        """So many random calls."""
        for _ in range(calls):
            stream = self.draw.randrange(WIDTH)
            match self.draw.choice("FFFHHRRWWWSS"):
                case "F":
                    self._forward(stream)
                case "H":
                    self._hit(stream)
                case "R":
                    self._fences.append((self.program.record(stream), self.history.record(stream)))
                case "W" if self._fences:
                    name, fence = self.draw.choice(self._fences[-4:])
                    self.program.wait(stream, name)
                    self.history.wait(stream, fence)
                case "S" if self._fences:
                    name, fence = self.draw.choice(self._fences)
                    self.program.sync(name)
                    self.history.passed(fence)

    def expected(self) -> dict[int, tuple[int, int | None]]:
        """By page the first read that breaks the rule, and the last launch that it doesn't come after."""
        reaches = self.program.reaches()
        found: dict[int, tuple[int, int | None]] = {}
        for read in sorted(self.reads):
            before = [self.written.get((read.page, at)) for at in range(read.first, read.end)]
            loose = [
                writer.launch
                for one in before
                if one is not None
                for writer, job in [one]
                if writer.stream != read.stream and writer.seq < read.seq and not reaches[read.job] >> job & 1
            ]
            gap = any(one is None or one[0].seq > read.seq for one in before)
            if loose or gap:
                found.setdefault(read.page, (read.seq, max(loose, default=None)))
        return found

    def _launched(self, launched: Launched) -> Launched:
        self.program.launch(launched.stream)
        return launched

    def _row(self, row: int, request: int, pages: list[Page], stream: int) -> None:
        self.history.acquire(row, 1, request)
        self._launched(self.history.publish(stream, row, 1, pages))

    def _forward(self, stream: int) -> None:
        """An owner goes on in its pages."""
        owner = self.draw.randrange(OWNERS)
        start = self._frontier[owner]
        end = min(start + self.draw.randint(1, 3), 2 * SIZE)
        if start == end:
            return
        launched = self._launched(self.history.forward(stream, use(owner, 1, start, end)))
        for at in range(start, end):
            page = self._pages[owner][at // SIZE][0]
            self.written[page, at % SIZE] = launched, self.program.jobs - 1
        self._frontier[owner] = end

    def _hit(self, stream: int) -> None:
        """A new request hits an owner's pages, seldom more of them than is written; its tail is copied."""
        owner = self.draw.randrange(OWNERS)
        tokens = min(self._frontier[owner] + self.draw.choice((0, 0, 0, 1)), 2 * SIZE)
        tokens = self.draw.randint(0, tokens)
        if not tokens:
            return
        self._requests += 1
        request, row = self._requests, self._requests
        hit = self._pages[owner][: -(-tokens // SIZE)]
        self.history.event(
            "match", request=request, node=1, digest="a" * 16, identity=7, hit_tokens=tokens,
            pages=[list(page) for page in hit], lookup_ns=1,
        )  # fmt: skip
        self.history.hold(hit, f"request:{request}")
        whole, tail = divmod(tokens, SIZE)
        self._next += 1
        (own,) = self.history.alloc([self._next], f"request:{request}")
        # Others have a launch or two in between.
        self._forward(self.draw.randrange(WIDTH))
        if tail:
            copy = self.history.copy(stream, [[*hit[-1], 0, tail]], [[*own, 0, tail]])
            self._read(self._launched(copy), hit[-1], tail)
        if whole:
            self._row(row, request, [*hit[:whole], own], stream)
            launched = self._launched(self.history.forward(stream, use(row, 1, tokens, tokens + 1)))
            for page in hit[:whole]:
                self._read(launched, page, SIZE)

    def _read(self, launched: Launched, page: Page, end: int) -> None:
        self.reads.append(Read(launched.seq, self.program.jobs - 1, launched.stream, page[0], 0, end))


@pytest.mark.parametrize("seed", a_few(2, range(40)))
def test_hits_agree_with_brute_force(tmp_path: Path, seed: int) -> None:
    """Every page with a finding: its first such read, and the write that this doesn't come after."""
    hits = Hits(seed)
    hits.run(60)
    found = {
        row["resource_id"]: (row["seq"], row["other_launch"])
        for row in told(hits.history.read(tmp_path, macros=False))
        if row["code"] == "TR502"
    }
    assert {} != hits.expected() == found
