"""A served history that breaks no rule: requests arrive, share prefixes, grow page by page, end, give back.

Publishes run on the transfer stream and a fence orders compute behind them; the host learns each step's
end before it settles it. `poison` overwrites rows at release. The one way to plant a fault is to subclass
and do one act otherwise.
"""

import random
from dataclasses import dataclass, field

from tests.analysis.history import History, Launched, Page, use

COMPUTE, TRANSFER = 1, 2
OUTSIDE = 0x7FFFFFFF
DIGEST = "0" * 16
POISON_BUFFER = 1000


@dataclass
class Request:
    """A running request: its row, its pages (the first `shared` are the prefix cache's), where it stands."""

    number: int
    row: int
    generation: int
    pages: list[Page]
    shared: int
    computed: int
    length: int
    fresh: bool = True


@dataclass
class Prefix:
    """A cached prefix: full pages that the cache holds."""

    node: int
    pages: list[Page] = field(default_factory=list)


class Serving:
    """Drives a `History` step by step. `rows` lanes, at most `prompt` positions of prompt each."""

    def __init__(
        self,
        history: History,
        seed: int,
        *,
        rows: int = 3,
        prompt: int = 20,
        answer: int = 12,
        poison: bool = True,
        keyframe_steps: int = 0,
    ) -> None:
        self.history = history
        self.size: int = history.header["config"]["page_size"]
        self.draw = random.Random(seed)
        self.prompt, self.answer, self.poison = prompt, answer, poison
        self.keyframe_steps = keyframe_steps
        self.running: list[Request] = []
        self.free_rows = list(range(rows))
        self.generations = [0] * rows
        self.row_entries: list[list[Page]] = [[] for _ in range(rows)]
        self.free = list(range(1, history.header["config"]["kv_pages"]))
        self.lives: dict[int, int] = {0: 1}
        self.holders: dict[int, list[str]] = {0: ["reserved:0/write"]}
        self.prefix: Prefix | None = None
        self.steps = self.requests = self.nodes = 0

    def start(self) -> None:
        """The arena is cleared, and the host waits for that."""
        self.history.clear(COMPUTE)
        self.history.sync()
        self.history.alloc([0], "reserved:0")
        self.history.event("stage", staging=POISON_BUFFER, bytes=4)

    def step(self) -> None:
        """Admit, grow, launch, learn, settle."""
        self.steps += 1
        published = False
        while self.free_rows and self.draw.random() < 0.6 and self.admit():
            published = True
        for request in self.running:
            published |= self.grow(request)
        if published:
            self.order_publishes()
        if self.running:
            self.launch()
            self.learn()
        for request in list(self.running):
            request.computed = self.end(request)
            request.fresh = False
            if request.computed >= request.length:
                self.finish(request)
        if self.keyframe_steps and self.steps % self.keyframe_steps == 0:
            self.keyframe()

    def end(self, request: Request) -> int:
        """Positions computed once this step is over: the prompt at first, then one by one."""
        return request.length - self.answer if request.fresh else request.computed + 1

    def admit(self) -> bool:
        """A request gets a row and pages for its prompt."""
        history, holder = self.history, f"request:{self.requests + 1}"
        length = self.draw.randint(1, self.prompt) + self.answer
        prompt = length - self.answer
        shared: list[Page] = []
        if (
            self.prefix is not None
            and self.draw.random() < 0.5
            and prompt > len(self.prefix.pages) * self.size
        ):
            shared = self.prefix.pages
        count = -(-prompt // self.size) - len(shared)
        if not self.room(count):
            return False
        self.requests += 1
        history.event(
            "arrive", request=self.requests, id=f"r{self.requests}", prompt_tokens=prompt, max_tokens=9
        )
        history.event(
            "match", request=self.requests, node=self.nodes if shared else 0, digest=DIGEST, identity=1,
            hit_tokens=len(shared) * self.size, pages=[list(page) for page in shared], lookup_ns=1,
        )  # fmt: skip
        if shared:
            self.hold(shared, holder, "read")
        pages = shared + self.alloc(count, holder)
        row = self.free_rows.pop(0)
        self.generations[row] += 1
        request = Request(
            self.requests, row, self.generations[row], pages, len(shared), len(shared) * self.size, length
        )
        history.acquire(row, request.generation, request.number)
        self.map(row, request.generation, pages, 0)
        self.publish(request, pages, 0)
        self.running.append(request)
        return True

    def grow(self, request: Request) -> bool:
        """A page for the position of this step, where it needs one."""
        count = -(-self.end(request) // self.size) - len(request.pages)
        if count <= 0 or not self.room(count):
            return False
        pages = self.alloc(count, f"request:{request.number}")
        self.map(request.row, request.generation, pages, len(request.pages))
        self.publish(request, pages, len(request.pages))
        request.pages = request.pages + pages
        return True

    def room(self, count: int) -> bool:
        """Are there pages? The prefix is given up for them."""
        if count > len(self.free) and self.prefix is not None:
            pages, self.prefix = self.prefix.pages, None
            self.history.event("evict", node=self.nodes, pages=[list(page) for page in pages])
            self.drop(pages, f"prefix:{self.nodes}", "read")
        return count <= len(self.free)

    def map(self, row: int, generation: int, pages: list[Page], first: int) -> None:
        """What the host means the row to name."""
        named = [list(page) for page in pages]
        self.history.event("map", row=row, generation=generation, index=first, pages=named)

    def publish(self, request: Request, pages: list[Page], first: int) -> None:
        """Copy entries to the device's row."""
        self.copy_row(request.row, request.generation, pages, first)

    def copy_row(self, row: int, generation: int, pages: list[Page], first: int) -> Launched:
        """One publish, on the transfer stream."""
        entries = self.row_entries[row]
        entries += [(0, 0)] * (first + len(pages) - len(entries))
        entries[first : first + len(pages)] = pages
        poisoned = pages[0][0] == OUTSIDE
        if not poisoned:
            self.history.event("stage", staging=row, bytes=4 * len(pages))
        staging = POISON_BUFFER if poisoned else row
        return self.history.publish(TRANSFER, row, generation, pages, first=first, staging=staging)

    def order_publishes(self) -> None:
        """Compute waits for what was published."""
        self.history.order(TRANSFER, COMPUTE)

    def launch(self) -> None:
        """One forward over all requests, one draw."""
        uses = []
        for request in self.running:
            end = min(self.end(request), len(request.pages) * self.size)
            self.history.event(
                "schedule", request=request.number, row=request.row, phase="decode", step=self.steps,
                scheduled_tokens=max(0, end - request.computed), computed_tokens=request.computed,
                pages=len(request.pages),
            )  # fmt: skip
            self.history.event(
                "transaction",
                op="begin",
                transaction=self.steps,
                row=request.row,
                request=request.number,
                frontier=end,
            )
            uses.append(use(request.row, request.generation, request.computed, end, page_size=self.size))
        self.history.forward(COMPUTE, *uses, step=self.steps)
        self.history.forward(
            COMPUTE, step=self.steps, kernel="sample", phase="sample", resources=["read:logits"]
        )

    def learn(self) -> None:
        """The host waits for the step's end."""
        self.history.passed(self.history.record(COMPUTE))
        for request in self.running:
            self.history.event(
                "transaction", op="commit", transaction=self.steps, row=request.row, request=request.number,
                frontier=self.end(request),
            )  # fmt: skip

    def finish(self, request: Request) -> None:
        """Offer the first full pages to the cache, give row and pages back."""
        self.running.remove(request)
        full = request.pages[: min(2, request.computed // self.size)]
        if self.prefix is None and full:
            self.nodes += 1
            self.prefix = Prefix(self.nodes, full)
            self.history.event(
                "insert", node=self.nodes, digest=DIGEST, parent=0, identity=1,
                pages=[list(page) for page in full],
            )  # fmt: skip
            self.hold(full, f"prefix:{self.nodes}", "read")
        named = [list(page) for page in request.pages]
        self.history.event("unmap", row=request.row, generation=request.generation, index=0, pages=named)
        self.history.release(request.row, request.generation, request.number)
        self.free_rows.append(request.row)
        if self.poison:
            self.copy_row(request.row, request.generation, [(OUTSIDE, 0)] * len(request.pages), 0)
        holder = f"request:{request.number}"
        if request.shared:
            self.drop(request.pages[: request.shared], holder, "read")
        if request.pages[request.shared :]:
            self.drop(request.pages[request.shared :], holder, "write")
        self.history.event("finish", request=request.number, row=request.row, reason="length")

    def alloc(self, count: int, holder: str) -> list[Page]:
        """Pages from the free list."""
        if not count:
            return []
        pages, self.free = self.free[:count], self.free[count:]
        granted = self.history.alloc(pages, holder)
        for page, life in granted:
            self.lives[page], self.holders[page] = life, [f"{holder}/write"]
        return granted

    def hold(self, pages: list[Page], holder: str, mode: str) -> None:
        """One more holder."""
        self.history.hold(pages, holder, mode)
        for page, _ in pages:
            self.holders[page].append(f"{holder}/{mode}")

    def drop(self, pages: list[Page], holder: str, mode: str) -> None:
        """A holder gives pages back; what nobody holds any more is free."""
        self.history.drop(pages, holder, mode)
        for page, _ in pages:
            self.holders[page].remove(f"{holder}/{mode}")
        left = [page for page in pages if not self.holders[page[0]]]
        if left:
            self.history.free(left)
            self.free += [page for page, _ in left]

    def keyframe(self) -> None:
        """The whole state, as the recorder writes it from time to time."""
        owners = {request.row: request.number for request in self.running}
        self.history.keyframe(
            [
                {"page": page, "life": life, "state": "held" if self.holders[page] else "free",
                 "holders": list(self.holders[page])}
                for page, life in self.lives.items()
            ],
            [
                {"row": row, "generation": generation, "request": owners.get(row, 0), "epoch": 1,
                 "entries": [[index, *page] for index, page in enumerate(self.row_entries[row])]}
                for row, generation in enumerate(self.generations) if generation
            ],
        )  # fmt: skip
