"""A hand for acts that share one history: every request, row, page and prefix has a number of its own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.analysis.history import History, Launched, Page, Recorded, use

COMPUTE, TRANSFER = 1, 2
ROOT = 0


@dataclass
class Request:
    """A request and its row; `generation` counts on when it comes back to it."""

    number: int
    row: int
    generation: int = 1

    @property
    def holder(self) -> str:
        """As pages are held."""
        return f"request:{self.number}"

    def use(self, start: int, end: int, **fields: Any) -> dict[str, Any]:
        """Its row in a launch."""
        return use(self.row, self.generation, start, end, **fields)


class Engine(History):
    """A device that has just started, or, with `first_seq`, one whose history begins in the middle."""

    def __init__(self, *, first_seq: int = 1) -> None:
        super().__init__(kv_pages=256, first_seq=first_seq)
        self.acts: list[tuple[int, str]] = []
        self._numbers: dict[str, int] = {}
        if first_seq == 1:
            self.clear(COMPUTE)
            self.sync()
            self.alloc([0], "reserved:0")
        else:
            self._lives = dict.fromkeys(range(256), 2)

    def new(self, what: str) -> int:
        """A number that no other act has: of a page, a prefix, a slot, a step, ..."""
        self._numbers[what] = self._numbers.get(what, 0) + 1
        return self._numbers[what]

    def perform(self, *acts: "Act") -> None:
        """One after the other."""
        for act in acts:
            self.acts.append((self.seq + 1, act.__name__))
            act(self)

    def told(self, folder: Path) -> list[tuple[str, str, str, str]]:
        """What is found: in which act, the code, the confidence and the sentence."""
        found = self.read(folder, macros=False).connection.execute(
            "SELECT coalesce(seq, 0), code, confidence, coalesce(sentence, '') FROM finding ORDER BY finding"
        )
        return [(self._act(seq), *told) for seq, *told in found.fetchall()]

    def pages(self, count: int, holder: str) -> list[Page]:
        """Pages that nobody had before."""
        return self.alloc([self.new("page") for _ in range(count)], holder)

    def known(self) -> Page:
        """A page that is in one of its lives, granted before the history began."""
        page = self.new("page")
        return page, self._lives[page]

    def request(self) -> Request:
        """A request, without row or pages yet."""
        return Request(self.new("request"), self.new("row"))

    def seat(self, request: Request, pages: Sequence[Page], *, mapped: bool = True) -> None:
        """It is given its row, which is mapped and published."""
        self.acquire(request.row, request.generation, request.number)
        if mapped:
            self.map(request, 0, pages)
        self.publish(COMPUTE, request.row, request.generation, pages)

    def unseat(self, request: Request) -> None:
        """It gives its row back, and would have it in the next generation."""
        self.release(request.row, request.generation, request.number)
        request.generation += 1

    def admitted(self, count: int = 1) -> tuple[Request, list[Page]]:
        """A request on its row, over so many pages of its own."""
        request = self.request()
        pages = self.pages(count, request.holder)
        self.seat(request, pages)
        return request, pages

    def map(self, request: Request, first: int, pages: Sequence[Page]) -> int:
        """The host means these entries to name these pages."""
        told = [list(page) for page in pages]
        return self.event("map", row=request.row, generation=request.generation, index=first, pages=told)

    def show(self, request: Request, pages: Sequence[Page], *, first: int = 0) -> Launched:
        """The row on the device names these pages."""
        return self.publish(COMPUTE, request.row, request.generation, pages, first=first)

    def run(
        self, request: Request, start: int, end: int, *, stream: int = COMPUTE, **fields: Any
    ) -> Launched:
        """A launch computes its positions start..end."""
        return self.forward(stream, request.use(start, end), **fields)

    def prefill(self, length: int) -> tuple[Request, list[Page]]:
        """A request on pages of its own, of which so many positions are computed."""
        request, pages = self.admitted(-(-length // 4))
        self.run(request, 0, length, phase="prefill")
        return request, pages

    def insert(self, pages: Sequence[Page], *, positions: int | None = None) -> int:
        """The cache keeps these pages too, as a prefix of tokens that no other has; gives its node."""
        node = self.new("node")
        self.hold(pages, f"prefix:{node}", "read")
        told = [list(page) for page in pages]
        self.event(
            "insert",
            node=node,
            digest=f"{node:016x}",
            identity=1,
            parent=ROOT,
            pages=told,
            positions=positions,
        )
        return node

    def match(self, request: Request, node: int, pages: Sequence[Page], tokens: int) -> int:
        """The request hits these pages."""
        return self.event(
            "match", request=request.number, node=node, digest=f"{node:016x}", identity=1, hit_tokens=tokens,
            pages=[list(page) for page in pages], lookup_ns=1,
        )  # fmt: skip

    def hit(self) -> tuple[Request, list[Page], int]:
        """A request that has no row yet hits a page of four positions: it, the page, its node."""
        _, pages = self.prefill(4)
        node = self.insert(pages)
        request = self.request()
        self.match(request, node, pages, 4)
        return request, pages, node

    def hit_tail(self, tokens: int = 2) -> tuple[Request, list[Page]]:
        """The same of a page with three positions, of which so many are to be copied."""
        _, pages = self.prefill(3)
        self.insert(pages, positions=3)
        request = self.request()
        self.match(request, ROOT, pages, tokens)
        return request, pages

    def copied(self, source: Page, target: Page, end: int, *, stream: int = COMPUTE) -> Launched:
        """Positions 0..end of a page go to another."""
        return self.copy(stream, [extent(source, end)], [extent(target, end)])

    def brought(self, *targets: list[int], reads: Sequence[list[int]] = ()) -> None:
        """The network writes these extents, and the host learns that it has."""
        self.end("nic", self.begin("nic", reads=reads, writes=targets))

    def plan(self, *decoding: tuple[Request, int]) -> int:
        """The next step is to compute one position of each request, the one given; gives its number."""
        step = self.new("step")
        for request, position in decoding:
            self.event(
                "schedule", request=request.number, row=request.row, phase="decode", step=step,
                scheduled_tokens=1, computed_tokens=position,
            )  # fmt: skip
        return step

    def decode(self, step: int, *decoding: tuple[Request, int]) -> Launched:
        """The step is launched."""
        return self.forward(COMPUTE, *(request.use(at, at + 1) for request, at in decoding), step=step)

    def step(self, *decoding: tuple[Request, int]) -> Recorded:
        """A whole step, and a fence behind it."""
        self.decode(self.plan(*decoding), *decoding)
        return self.record(COMPUTE)

    def finish(self, request: Request, reason: str = "stop") -> int:
        """The host learned that it has ended."""
        return self.event("finish", request=request.number, row=request.row, reason=reason)

    def preempt(self, request: Request) -> int:
        """It has to wait: the step that is prepared goes without it."""
        step = self._numbers.get("step", 0) + 1
        return self.event("preempt", request=request.number, row=request.row, step=step, reason="room")

    def _act(self, seq: int) -> str:
        return max((at for at in self.acts if at[0] <= seq), default=(0, ""))[1]


Act = Callable[[Engine], None]


def extent(page: Page, end: int, first: int = 0) -> list[int]:
    """Positions first..end of a page."""
    return [*page, first, end]
