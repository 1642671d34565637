"""Who holds which page, in which life.

    free --alloc--> held --hold--> shared --drop--> ... --last drop--> free
                                                              \\--> retired --fence passed--> free

A page leaves the free queue in a new life. The last drop of a page frees it, or retires it while a
fence guards it: a fence handed to *any* drop of the life, the last one or an earlier one, is
remembered, for a prefix that outlives its request must not free what the request's launches still
read. Plain re-use on one stream needs no fence, and then the caller gives none.

The mutators behave as a production allocator that counts references does, and never assert:

* dropping what one does not hold lowers the count all the same, so another holder's page is freed;
* releasing a page that is free or retired puts it in the queue once more, so it is granted twice;
* holding a page that is free or retired does not take it out of its queue.

`check()` tells such states from sound ones. Knows nothing of bytes, rows, requests or the device.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

from tracert.device.device import Fence
from tracert.memory.errors import InvariantError, LayoutError, NoRoom
from tracert.record.access import Holder, Mode
from tracert.record.recorder import Keyframe, Recorder

State = Literal["free", "held", "retired"]

RESERVED = Holder("reserved", 0)
"""The holder of page 0, which padding reads and writes and nobody else."""


class Counts(NamedTuple):
    """Pages by state; with the reserved page they add up to the pool."""

    free: int
    held: int
    retired: int


class PagePool:
    """The free queue (first in, first out), the holders and the lives of `pages` pages.

    `page_size` is in token positions. LayoutError when there is no page beside the reserved one.
    """

    def __init__(self, recorder: Recorder, pages: int, page_size: int) -> None:
        if pages < 2:
            raise LayoutError(
                f"no room for one page: the pool has {pages}, and page 0 is reserved; give it 2"
            )
        self.pages = pages
        self.page_size = page_size
        self._recorder = recorder
        self._life = [0] * pages
        self._count = [0] * pages
        self._holders: list[dict[Holder, Mode]] = [{} for _ in range(pages)]
        self._state: list[State] = ["free"] * pages
        self._guard: list[Fence | None] = [None] * pages
        self._free = deque(range(1, pages))
        self._retired: deque[tuple[Fence, list[int]]] = deque()
        self._passed: dict[int, int] = {}
        self.given_back = 0
        """Times that holders gave pages back; while it stays, there is no more room than there was."""
        self._tally: dict[State, int] = {"free": pages - 1, "held": 0, "retired": 0}
        self._reserve()

    def _reserve(self) -> None:
        self._life[0] = self._count[0] = 1
        self._holders[0] = {RESERVED: "write"}
        self._state[0] = "held"
        self._recorder.alloc([0], [1], RESERVED)

    def available(self) -> int:
        """Pages that `alloc` can grant now."""
        return len(self._free)

    def alloc(self, count: int, holder: Holder) -> list[int]:
        """Grant `count` pages in new lives, held by `holder` for writing; NoRoom, and none, when short."""
        if count > len(self._free):
            raise NoRoom(
                f"no room for {count} pages: {len(self._free)} free, {self._tally['held']} held, "
                f"{self._tally['retired']} retired of {self.pages}; ask available first"
            )
        if count <= 0:
            return []
        granted = [self._free.popleft() for _ in range(count)]
        self._grant(granted, holder)
        return granted

    def take(self, pages: Sequence[int], holder: Holder) -> None:
        """Grant just these pages, as `alloc` does; NoRoom, and none, when one of them is not free."""
        taken = [page for page in pages if self._state[page] != "free"]
        if taken:
            raise NoRoom(
                f"no room on pages {', '.join(map(str, taken))}: not free; ask state of each page first"
            )
        if not pages:
            return
        wanted = set(pages)
        self._free = deque(page for page in self._free if page not in wanted)
        self._grant(pages, holder)

    def hold(self, pages: Sequence[int], holder: Holder, mode: Mode) -> None:
        """One more holder of each page; a holder holds a page once, in one mode."""
        if not pages:
            return
        for page in pages:
            self._count[page] += 1
            self._holders[page][holder] = mode
        self._recorder.hold(pages, self.lives(pages), holder, mode)

    def drop(
        self, pages: Sequence[int], holder: Holder, mode: Mode | None = None, *, fence: Fence | None = None
    ) -> None:
        """`holder` gives pages back, in the mode it holds each unless one is named.

        `fence` is one that launches which touch the pages must pass before they may be granted; None
        when re-use is ordered anyway. Pages that nobody holds any more are released.
        """
        self.given_back += bool(pages)
        left: dict[Mode, list[int]] = {"write": [], "read": []}
        last: list[int] = []
        for page in pages:
            held = self._holders[page].pop(holder, "write")
            left[mode or held].append(page)
            self._count[page] -= 1
            if fence is not None:
                self._guard[page] = fence
            if self._count[page] <= 0:
                last.append(page)
        for given, dropped in left.items():
            if dropped:
                self._recorder.drop(dropped, self.lives(dropped), holder, given)
        for guard, released in self._by_guard(last):
            self.release(released, guard)

    def release(self, pages: Sequence[int], fence: Fence | None = None) -> None:
        """Nobody holds the pages: retire them behind `fence`, or free them when there is none."""
        if not pages:
            return
        for page in pages:
            self._guard[page] = None
        if fence is None:
            self._to_free(pages)
            return
        if self._retired and self._retired[-1][0] == fence:
            self._retired[-1][1].extend(pages)
        else:
            self._retired.append((fence, list(pages)))
        self._move(pages, "retired")
        self._recorder.retire(pages, self.lives(pages), fence.id)

    def reclaim(self, passed: Callable[[Fence], bool]) -> int:
        """Free the retired pages whose fence `passed` (usually `device.query`); returns how many.

        A yes may also mean that whoever is granted a page from now on comes behind the fence on the device.

        Oldest first; a stream is asked once more only after it answered yes, since a later fence of
        the same stream cannot have passed before an earlier one.
        """
        waiting: deque[tuple[Fence, list[int]]] = deque()
        blocked: set[int] = set()
        freed = 0
        while self._retired:
            fence, pages = self._retired.popleft()
            if fence.stream in blocked or not (self._has_passed(fence) or passed(fence)):
                blocked.add(fence.stream)
                waiting.append((fence, pages))
                continue
            self._passed[fence.stream] = max(fence.ordinal, self._passed.get(fence.stream, 0))
            self._to_free(pages)
            freed += len(pages)
        self._retired = waiting
        return freed

    def lives(self, pages: Iterable[int]) -> list[int]:
        """The life each page is in, 0 for one never granted."""
        life = self._life
        return [life[page] for page in pages]

    def holders(self, page: int) -> dict[Holder, Mode]:
        """Who holds the page, and how."""
        return dict(self._holders[page])

    def count(self, page: int) -> int:
        """How many hold the page, as the allocator counts."""
        return self._count[page]

    def state(self, page: int) -> State:
        """Where the page is."""
        return self._state[page]

    def counts(self) -> Counts:
        """Pages by state, the reserved one left out."""
        return Counts(self._tally["free"], self._tally["held"], self._tally["retired"])

    def keyframe(self, frame: Keyframe) -> None:
        """Add every page that was ever granted to the frame."""
        for page, life in enumerate(self._life):
            if life:
                holders = list(self._holders[page].items())
                frame.pages.append((page, life, self._state[page], holders))

    def check(self) -> None:
        """InvariantError when a page is not in exactly one state, or counts and holders disagree."""
        free = Counter(self._free)
        retired = Counter(page for _, pages in self._retired for page in pages)
        wrong: dict[str, list[int]] = {}

        def blame(what: str, page: int) -> None:
            wrong.setdefault(what, []).append(page)

        for page in range(self.pages):
            holders, state = self._holders[page], self._state[page]
            if free[page] + retired[page] > 1:
                blame("queued more than once", page)
            if free[page] != (state == "free") or retired[page] != (state == "retired"):
                blame("in a queue that is not its state's", page)
            if (self._count[page] > 0) != (state == "held"):
                blame("held and queued at once, or neither", page)
            if self._count[page] != len(holders):
                blame("counted otherwise than held", page)
            if sum(mode == "write" for mode in holders.values()) > 1:
                blame("held for writing by more than one", page)
            if state == "held" and not self._life[page]:
                blame("held without a life", page)
        if self._holders[0] != {RESERVED: "write"}:
            blame("reserved, and held by another", 0)
        if sum(self._tally.values()) + 1 != self.pages:
            blame("lost from the count of states", 0)
        if wrong:
            parts = [f"pages {', '.join(map(str, pages))} {what}" for what, pages in wrong.items()]
            raise InvariantError("the page pool contradicts itself: " + "; ".join(parts))

    def _grant(self, pages: Sequence[int], holder: Holder) -> None:
        """Pages that left the free queue start a life."""
        for page in pages:
            self._life[page] += 1
            self._count[page] = 1
            self._holders[page][holder] = "write"
        self._move(pages, "held")
        self._recorder.alloc(pages, self.lives(pages), holder)

    def _to_free(self, pages: Sequence[int]) -> None:
        self._free.extend(pages)
        self._move(pages, "free")
        self._recorder.free(pages, self.lives(pages))

    def _move(self, pages: Sequence[int], state: State) -> None:
        for page in pages:
            self._tally[self._state[page]] -= 1
            self._state[page] = state
        self._tally[state] += len(pages)

    def _has_passed(self, fence: Fence) -> bool:
        return fence.ordinal <= self._passed.get(fence.stream, -1)

    def _by_guard(self, pages: Sequence[int]) -> list[tuple[Fence | None, list[int]]]:
        """Pages in runs that one fence guards; a guard known to have passed guards no more."""
        runs: list[tuple[Fence | None, list[int]]] = []
        for page in pages:
            guard = self._guard[page]
            if guard is not None and self._has_passed(guard):
                guard = None
            if runs and runs[-1][0] == guard:
                runs[-1][1].append(page)
            else:
                runs.append((guard, [page]))
        return runs
