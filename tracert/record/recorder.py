"""The recorder: one method an event, called directly after the effect it tells of.

Methods say what happened, never what was intended. Page ids and lives come as parallel sequences;
one call is one record, with a span behind it when there are several pages.
"""

from collections.abc import Sequence
from typing import Any, Literal, Protocol

from tracert.record.access import Access, ByteRange, Extent, Holder, Mode


class Recorder(Protocol):
    """What the runtime tells. Every method returns the sequence number of the event, 0 when off."""

    enabled: bool

    @property
    def events(self) -> int:
        """How many events were told."""

    @property
    def lost(self) -> int:
        """How many of them the ring has overwritten since."""

    def alloc(self, pages: Sequence[int], lives: Sequence[int], holder: Holder, pool: int = 0) -> int:
        """Pages left the free list; each life is new, and `holder` holds it for writing."""

    def hold(self, pages: Sequence[int], lives: Sequence[int], holder: Holder, mode: Mode) -> int:
        """One more holder of pages already held."""

    def drop(self, pages: Sequence[int], lives: Sequence[int], holder: Holder, mode: Mode) -> int:
        """A holder gave pages back."""

    def retire(self, pages: Sequence[int], lives: Sequence[int], fence: int) -> int:
        """Nobody holds the pages; a fence still guards them."""

    def free(self, pages: Sequence[int], lives: Sequence[int]) -> int:
        """The pages returned to the free list."""

    def row_acquire(self, row: int, generation: int, request: int) -> int:
        """A request got a row of the block table; the row's generation grew."""

    def row_release(self, row: int, generation: int, request: int) -> int:
        """The request gave the row back."""

    def map(self, row: int, generation: int, index: int, pages: Sequence[int], lives: Sequence[int]) -> int:
        """Host side: entries `index, index + 1, ...` of the row name these pages."""

    def unmap(self, row: int, generation: int, index: int, pages: Sequence[int], lives: Sequence[int]) -> int:
        """Host side: the entries name nothing any more."""

    def stage(self, staging: int, nbytes: int) -> int:
        """The host wrote a staging buffer."""

    def host_write(self, writes: Sequence[Extent]) -> int:
        """The host wrote positions of pages itself, without a launch."""

    def external_begin(
        self, name: str, transaction: int, reads: Sequence[Extent], writes: Sequence[Extent]
    ) -> int:
        """A writer without a stream (a network card, another process) may read and write these from now on.

        Only what the host knows to be done is ordered before that. Of the name 400 characters are kept.
        """

    def external_done(self, name: str, transaction: int) -> int:
        """The host learned that the writer has done it: what comes later is ordered after that."""

    def launch(self, launch: int, stream: int, ordinal: int, kernel: str, access: Access) -> int:
        """A launch was enqueued: the kind of its event is the type of its access."""

    def copy_plan(self, transaction: int, source: Sequence[Extent], target: Sequence[Extent]) -> int:
        """A copy that spans steps is about to be launched; both sides are pinned until it is done."""

    def copy_done(self, transaction: int, source: Sequence[Extent], target: Sequence[Extent]) -> int:
        """The host learned that the copy has executed; the pins are about to go."""

    def fence_record(self, fence: int, stream: int, ordinal: int) -> int:
        """A fence was recorded on a stream, behind its launch `ordinal`."""

    def fence_wait(self, fence: int, stream: int, record_seq: int) -> int:
        """A stream waits for a fence."""

    def fence_passed(
        self, *, fence: int | None = None, stream: int | None = None, device: bool = False
    ) -> int:
        """The host learned that a fence, a stream or the whole device has passed."""

    def insert(
        self,
        node: int,
        digest: bytes,
        parent: int,
        pages: Sequence[int],
        lives: Sequence[int],
        identity: int,
        positions: int = 0,
    ) -> int:
        """Pages joined the end of a node, or, with none, what the node is was said again after a split.

        `parent` 0 is the root; digest and identity are keyed hashes. `positions` are those that count of a
        page that is filled in part; 0 when all do.
        """

    def evict(self, node: int, pages: Sequence[int], lives: Sequence[int]) -> int:
        """Pages left the end of a node; the node goes with its last page."""

    def match(
        self,
        request: int,
        node: int,
        digest: bytes,
        identity: int,
        hit_tokens: int,
        pages: Sequence[int],
        lives: Sequence[int],
        lookup_ns: int,
    ) -> int:
        """The cache was asked for a request's prefix; `node` 0 and no pages for a miss."""

    def snapshot_alias(
        self, snapshot: int, ranges: Sequence[ByteRange], pages: Sequence[int], lives: Sequence[int]
    ) -> int:
        """A snapshot's state rows borrow these bytes of these pages, which it holds from now on."""

    def snapshot_release(
        self, snapshot: int, ranges: Sequence[ByteRange], pages: Sequence[int], lives: Sequence[int]
    ) -> int:
        """The snapshot gave the bytes back."""

    def snapshot_save(
        self,
        snapshot: int,
        request: int,
        launch: int,
        positions: int,
        ranges: Sequence[ByteRange],
        pages: Sequence[int],
        lives: Sequence[int],
    ) -> int:
        """A request's state after its first `positions` was saved: rows by `launch`, and all its pages."""

    def snapshot_restore(
        self,
        snapshot: int,
        request: int,
        launch: int,
        positions: int,
        ranges: Sequence[ByteRange],
        pages: Sequence[int],
        lives: Sequence[int],
    ) -> int:
        """A request goes on from a snapshot; `launch` reads the rows."""

    def workspace_plan(self, launch: int, stream: int, nbytes: int, capacity: int, room: int) -> int:
        """The next launch needs `nbytes` in one piece; `room` is the largest piece that is free."""

    def workspace_alloc(
        self, launch: int, stream: int, offset: int, nbytes: int, capacity: int, room: int
    ) -> int:
        """A launch was given the bytes at `offset`; `room` is the largest piece that is left."""

    def workspace_free(
        self, launch: int, stream: int, offset: int, nbytes: int, capacity: int, room: int
    ) -> int:
        """A launch gave the bytes back."""

    def arrive(self, request: int, public_id: str, prompt_tokens: int, max_tokens: int) -> int:
        """A request entered the engine."""

    def schedule(
        self, request: int, row: int, phase: str, step: int, scheduled: int, computed: int, pages: int
    ) -> int:
        """A request was scheduled: `scheduled` tokens now, `computed` before, `pages` held."""

    def preempt(self, request: int, row: int, step: int, reason: str) -> int:
        """A request lost its pages and will be computed again."""

    def finish(self, request: int, row: int, reason: str) -> int:
        """A request ended well: `stop`, `length` or `abort`."""

    def fail(self, request: int, row: int, reason: str) -> int:
        """A request ended with an error."""

    def transaction(
        self, op: Literal["begin", "commit", "abort"], transaction: int, row: int, request: int, frontier: int
    ) -> int:
        """A row's frontier is about to move, moved, or did not."""

    def nonfinite(
        self,
        launch: int,
        request: int,
        row: int,
        position: int,
        pages: Sequence[int],
        lives: Sequence[int],
        layer: int = -1,
        stage: str = "",
    ) -> int:
        """The host saw a non-finite output; `layer` -1 when only the logits are known.

        `stage` is the class of the values: `keys`, `attention` or `logits`; empty when no kernel looked.
        """

    def guard(
        self,
        launch: int,
        row: int,
        generation: int,
        walked: int,
        entries: Sequence[tuple[int, int]],
        page: int = -1,
        position: int = -1,
    ) -> int:
        """What a guarded kernel saw of a row: it followed so many entries.

        `entries` (index, page) are those that are not what the host had the row name, at most a few. Where
        the kernel left the row out, `page` is what the first entry names that names no page, and `position`
        is the first that would lie there.
        """

    def error(
        self, code: int, name: str, message: str, stream: int | None, observed_at: str, detail: dict[str, Any]
    ) -> int:
        """The device, or the engine, failed."""

    def keyframe_due(self) -> bool:
        """Is it time to write the whole state again?"""

    def keyframe(self, state: "Keyframe") -> int:
        """The whole state, so that a history which starts here can be read."""


class Keyframe:
    """The state at one moment: what `keyframe` events carry."""

    def __init__(self) -> None:
        self.pages: list[tuple[int, int, str, list[tuple[Holder, Mode]]]] = []
        """(page, life, free|held|retired, holders) of every page that was ever granted."""
        self.rows: list[tuple[int, int, int, int, list[tuple[int, int]]]] = []
        """(row, generation, request or 0, epoch, entries of the device row as (page, life))."""


class NullRecorder:
    """The recorder that is off: same calls, no effect, so that no call site branches."""

    enabled = False
    events = 0
    lost = 0

    def __getattr__(self, name: str) -> Any:
        """Every event method: accepts anything, returns 0."""
        if name.startswith("_"):
            raise AttributeError(name)
        return _nothing


def _nothing(*_: object, **__: object) -> int:
    return 0
