"""The recorder that is on: each event is one record in the ring, and what it says of pages and rows
becomes last facts.

Methods only put values into slots (see `schema.py`): an event must cost nanoseconds. One process; any
thread with the C writer (the one in Python: see there). After a fork the child's recorder is off, because
the ring is the parent's.
"""

import os
import weakref
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, Literal

import orjson

from tracert.record.access import (
    Access,
    ByteRange,
    Clear,
    Compute,
    Copy,
    Extent,
    Holder,
    Load,
    Mode,
    Offload,
    Publish,
)
from tracert.record.keyframes import KEYFRAME_WORDS_MAX, parts
from tracert.record.layout import CURSOR, LOST, PAYLOADS
from tracert.record.recorder import Keyframe
from tracert.record.ring import Ring, cut_error
from tracert.record.schema import ABSENT32, BYTES_A_SLOT, CODE
from tracert.record.writer import Writer, writer_of

TEXT_MAX = 400
"""Characters of a text that the runtime does not bound."""

_ALLOC, _HOLD, _DROP, _RETIRE, _FREE = (CODE[name] for name in ("alloc", "hold", "drop", "retire", "free"))
_ROW_ACQUIRE, _ROW_RELEASE, _MAP, _UNMAP = (
    CODE[name] for name in ("row_acquire", "row_release", "map", "unmap")
)
_LAUNCH, _PUBLISH, _COPY, _CLEAR = (CODE[name] for name in ("launch", "publish", "copy", "clear"))
_FENCE_RECORD, _FENCE_WAIT, _FENCE_PASSED = (
    CODE[name] for name in ("fence_record", "fence_wait", "fence_passed")
)
_OFFLOAD, _LOAD, _GUARD = CODE["offload"], CODE["load"], CODE["guard"]
_SCHEDULE, _TRANSACTION, _STAGE = CODE["schedule"], CODE["transaction"], CODE["stage"]


class RingRecorder:
    """A `Recorder` that writes to `ring`."""

    def __init__(self, ring: Ring) -> None:
        self.enabled = True
        self.ring = ring
        self._page_size = ring.header.geometry.page_size
        self._pages = ring.header.geometry.pages
        self._word = ring.words
        self._sets = count(1)
        self._keyframe_at = 0
        self._keyframe_every = ring.header.geometry.slots // 4
        self._keyframe_words = min(KEYFRAME_WORDS_MAX, ring.header.geometry.slots)
        self._text_room = min(4096, BYTES_A_SLOT * ring.header.geometry.slots // 8)
        self._use(writer_of(ring))
        alive = weakref.ref(self)
        os.register_at_fork(after_in_child=lambda: _turn_off(alive()))

    def _use(self, writer: Writer) -> None:
        self._emit: Callable[..., int] = writer.emit
        self._emit_pages: Callable[..., int] = writer.emit_pages
        self._emit_pairs: Callable[..., int] = writer.emit_pairs
        self._emit_words: Callable[..., int] = writer.emit_words
        self._emit_json: Callable[..., int] = writer.emit_json

    def turn_off(self) -> None:
        """From now on nothing is recorded, and every method returns 0."""
        self.enabled = False
        self._emit = self._emit_pages = self._emit_pairs = _nothing
        self._emit_words = self._emit_json = _nothing

    @property
    def events(self) -> int:
        """How many events were told."""
        return self.ring.counters[CURSOR] - self.ring.counters[PAYLOADS]

    @property
    def lost(self) -> int:
        """How many of them the ring has overwritten since."""
        return self.ring.counters[LOST]

    def alloc(self, pages: Sequence[int], lives: Sequence[int], holder: Holder, pool: int = 0) -> int:
        """See `Recorder.alloc`."""
        kind, number = holder
        return self._emit_pages(_ALLOC, self._word[kind], pool, 0, number, 0, pages, lives)

    def hold(self, pages: Sequence[int], lives: Sequence[int], holder: Holder, mode: Mode) -> int:
        """See `Recorder.hold`."""
        kind, number = holder
        return self._emit_pages(_HOLD, self._word[kind], self._word[mode], 0, number, 0, pages, lives)

    def drop(self, pages: Sequence[int], lives: Sequence[int], holder: Holder, mode: Mode) -> int:
        """See `Recorder.drop`."""
        kind, number = holder
        return self._emit_pages(_DROP, self._word[kind], self._word[mode], 0, number, 0, pages, lives)

    def retire(self, pages: Sequence[int], lives: Sequence[int], fence: int) -> int:
        """See `Recorder.retire`."""
        return self._emit_pages(_RETIRE, 0, 0, 0, fence, 0, pages, lives)

    def free(self, pages: Sequence[int], lives: Sequence[int]) -> int:
        """See `Recorder.free`."""
        return self._emit_pages(_FREE, 0, 0, 0, 0, 0, pages, lives)

    def row_acquire(self, row: int, generation: int, request: int) -> int:
        """See `Recorder.row_acquire`."""
        return self._emit(_ROW_ACQUIRE, row, generation, 0, 0, 0, request, 0)

    def row_release(self, row: int, generation: int, request: int) -> int:
        """See `Recorder.row_release`."""
        return self._emit(_ROW_RELEASE, row, generation, 0, 0, 0, request, 0)

    def map(self, row: int, generation: int, index: int, pages: Sequence[int], lives: Sequence[int]) -> int:
        """See `Recorder.map`."""
        return self._emit_pages(_MAP, row, generation, index, 0, 0, pages, lives)

    def unmap(self, row: int, generation: int, index: int, pages: Sequence[int], lives: Sequence[int]) -> int:
        """See `Recorder.unmap`."""
        return self._emit_pages(_UNMAP, row, generation, index, 0, 0, pages, lives)

    def stage(self, staging: int, nbytes: int) -> int:
        """See `Recorder.stage`."""
        return self._emit(_STAGE, staging, 0, 0, 0, 0, nbytes, 0)

    def host_write(self, writes: Sequence[Extent]) -> int:
        """See `Recorder.host_write`."""
        return self._emit_words(CODE["host_write"], None, 0, 0, 0, 0, 0, 0, writes)

    def external_begin(
        self, name: str, transaction: int, reads: Sequence[Extent], writes: Sequence[Extent]
    ) -> int:
        """See `Recorder.external_begin`."""
        code, actor = CODE["external_begin"], self._word[_external(name)]
        return self._emit_words(code, None, actor, len(reads), 0, 0, 0, transaction, reads, writes)

    def external_done(self, name: str, transaction: int) -> int:
        """See `Recorder.external_done`."""
        return self._emit(CODE["external_done"], None, self._word[_external(name)], 0, 0, 0, 0, transaction)

    def launch(self, launch: int, stream: int, ordinal: int, kernel: str, access: Access) -> int:
        """See `Recorder.launch`."""
        name = self._word[kernel]
        if type(access) is Compute:
            phase, uses, reads, writes = self._word[access.phase], access.uses, access.reads, access.writes
            return self._emit_words(
                _LAUNCH,
                stream,
                name,
                phase,
                access.step,
                len(uses),
                launch,
                ordinal,
                len(reads),
                len(writes),
                access.content or -1,
                uses,
                reads,
                writes,
                access.resources,
            )
        if isinstance(access, Publish):
            first = access.first
            entries = tuple(
                zip(range(first, first + len(access.pages)), access.pages, access.lives, strict=True)
            )
            return self._emit_words(
                _PUBLISH,
                stream,
                name,
                access.row,
                access.generation,
                access.epoch,
                launch,
                ordinal,
                access.staging,
                entries,
            )
        if isinstance(access, Copy):
            source = access.source
            return self._emit_words(
                _COPY, stream, name, len(source), 0, 0, launch, ordinal, source, access.target
            )
        if isinstance(access, Clear):
            target = access.target
            if len(target) == self._pages and self._is_everything(target):
                return self._emit(_CLEAR, stream, name, 1, len(target), 0, launch, ordinal)
            return self._emit_words(_CLEAR, stream, name, None, None, 0, launch, ordinal, target)
        if isinstance(access, Offload | Load):
            code = _OFFLOAD if isinstance(access, Offload) else _LOAD
            moved = tuple(zip(access.slots, access.pages, access.lives, strict=True))
            return self._emit_words(code, stream, name, 0, 0, 0, launch, ordinal, moved)
        raise TypeError(f"{type(access).__name__} is no access that a launch can have")

    def _is_everything(self, target: Sequence[Extent]) -> bool:
        end = self._page_size
        return all(extent == (page, 0, 0, end) for page, extent in enumerate(target))

    def copy_plan(self, transaction: int, source: Sequence[Extent], target: Sequence[Extent]) -> int:
        """See `Recorder.copy_plan`."""
        return self._copy_step(CODE["copy_plan"], transaction, source, target)

    def copy_done(self, transaction: int, source: Sequence[Extent], target: Sequence[Extent]) -> int:
        """See `Recorder.copy_done`."""
        return self._copy_step(CODE["copy_done"], transaction, source, target)

    def _copy_step(
        self, code: int, transaction: int, source: Sequence[Extent], target: Sequence[Extent]
    ) -> int:
        positions = sum(extent.end - extent.first for extent in source)
        return self._emit_words(code, len(source), 0, 0, 0, 0, transaction, positions, source, target)

    def fence_record(self, fence: int, stream: int, ordinal: int) -> int:
        """See `Recorder.fence_record`."""
        return self._emit(_FENCE_RECORD, stream, 0, 0, 0, 0, fence, ordinal)

    def fence_wait(self, fence: int, stream: int, record_seq: int) -> int:
        """See `Recorder.fence_wait`."""
        return self._emit(_FENCE_WAIT, stream, 0, 0, 0, 0, fence, record_seq)

    def fence_passed(
        self, *, fence: int | None = None, stream: int | None = None, device: bool = False
    ) -> int:
        """See `Recorder.fence_passed`."""
        return self._emit(_FENCE_PASSED, stream, 1 if device else None, 0, 0, 0, fence, 0)

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
        """See `Recorder.insert`. Of the digest the first 8 bytes are kept, of the identity 63 bits."""
        code, part = CODE["insert"], positions or ABSENT32
        return self._emit_pairs(
            code, node, parent, part, 0, 0, _digest(digest), identity & _MASK63, pages, lives
        )

    def evict(self, node: int, pages: Sequence[int], lives: Sequence[int]) -> int:
        """See `Recorder.evict`."""
        return self._emit_pairs(CODE["evict"], node, 0, 0, 0, 0, 0, 0, pages, lives)

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
        """See `Recorder.match`. A lookup counts up to 4 s."""
        return self._emit_pairs(
            CODE["match"],
            node,
            0,
            request,
            hit_tokens,
            min(lookup_ns, _LONGEST_NS),
            _digest(digest),
            identity & _MASK63,
            pages,
            lives,
        )

    def snapshot_alias(
        self, snapshot: int, ranges: Sequence[ByteRange], pages: Sequence[int], lives: Sequence[int]
    ) -> int:
        """See `Recorder.snapshot_alias`."""
        return self._state(CODE["snapshot_alias"], 0, 0, snapshot, 0, ranges, pages, lives)

    def snapshot_release(
        self, snapshot: int, ranges: Sequence[ByteRange], pages: Sequence[int], lives: Sequence[int]
    ) -> int:
        """See `Recorder.snapshot_release`."""
        return self._state(CODE["snapshot_release"], 0, 0, snapshot, 0, ranges, pages, lives)

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
        """See `Recorder.snapshot_save`."""
        return self._state(CODE["snapshot_save"], launch, positions, snapshot, request, ranges, pages, lives)

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
        """See `Recorder.snapshot_restore`."""
        return self._state(
            CODE["snapshot_restore"], launch, positions, snapshot, request, ranges, pages, lives
        )

    def _state(
        self,
        code: int,
        launch: int,
        positions: int,
        snapshot: int,
        request: int,
        ranges: Sequence[ByteRange],
        pages: Sequence[int],
        lives: Sequence[int],
    ) -> int:
        pairs = tuple(zip(pages, lives, strict=True))
        return self._emit_words(code, len(ranges), launch, positions, 0, 0, snapshot, request, ranges, pairs)

    def workspace_plan(self, launch: int, stream: int, nbytes: int, capacity: int, room: int) -> int:
        """See `Recorder.workspace_plan`. Sizes below 4 GiB."""
        return self._emit(CODE["workspace_plan"], stream, 0, -1, nbytes, room, launch, capacity)

    def workspace_alloc(
        self, launch: int, stream: int, offset: int, nbytes: int, capacity: int, room: int
    ) -> int:
        """See `Recorder.workspace_alloc`."""
        return self._emit(CODE["workspace_alloc"], stream, 0, offset, nbytes, room, launch, capacity)

    def workspace_free(
        self, launch: int, stream: int, offset: int, nbytes: int, capacity: int, room: int
    ) -> int:
        """See `Recorder.workspace_free`."""
        return self._emit(CODE["workspace_free"], stream, 0, offset, nbytes, room, launch, capacity)

    def arrive(self, request: int, public_id: str, prompt_tokens: int, max_tokens: int) -> int:
        """See `Recorder.arrive`. Of the id 400 characters are kept."""
        text = orjson.dumps({"id": public_id[:TEXT_MAX]})
        return self._emit_json(CODE["arrive"], prompt_tokens, max_tokens, 0, 0, 0, request, 0, text)

    def schedule(
        self, request: int, row: int, phase: str, step: int, scheduled: int, computed: int, pages: int
    ) -> int:
        """See `Recorder.schedule`."""
        return self._emit(_SCHEDULE, row, self._word[phase], step, scheduled, computed, request, pages)

    def preempt(self, request: int, row: int, step: int, reason: str) -> int:
        """See `Recorder.preempt`."""
        return self._emit(CODE["preempt"], row, step, self._word[reason], 0, 0, request, 0)

    def finish(self, request: int, row: int, reason: str) -> int:
        """See `Recorder.finish`."""
        return self._emit(CODE["finish"], row, 0, self._word[reason], 0, 0, request, 0)

    def fail(self, request: int, row: int, reason: str) -> int:
        """See `Recorder.fail`. Of the reason 400 characters are kept."""
        text = orjson.dumps({"reason": reason[:TEXT_MAX]})
        return self._emit_json(CODE["fail"], row, 0, 0, 0, 0, request, 0, text)

    def transaction(
        self, op: Literal["begin", "commit", "abort"], transaction: int, row: int, request: int, frontier: int
    ) -> int:
        """See `Recorder.transaction`."""
        return self._emit(_TRANSACTION, row, self._word[op], frontier, 0, 0, request, transaction)

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
        """See `Recorder.nonfinite`."""
        what, code = self._word[stage] or -1, CODE["nonfinite"]
        return self._emit_pairs(code, row, position, layer, what, 0, launch, request, pages, lives)

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
        """See `Recorder.guard`. Of a page below 0 its 32 bits are told."""
        named = tuple((index, page & ABSENT32) for index, page in entries)
        return self._emit_words(_GUARD, row, generation, walked, page, position, launch, 0, named)

    def error(
        self, code: int, name: str, message: str, stream: int | None, observed_at: str, detail: dict[str, Any]
    ) -> int:
        """See `Recorder.error`. It also becomes the ring's last error, which a dump's header quotes.

        Message and detail are cut when they are longer than a few KiB.
        """
        said: dict[str, Any] = {"code": code, "name": name, "message": message}
        if stream is not None:
            said["stream"] = stream
        said |= {"observed_at": observed_at, "detail": detail}
        if self.enabled:
            self.ring.error(said)
        return self._emit_json(CODE["error"], 0, 0, 0, 0, 0, 0, 0, cut_error(said, self._text_room))

    def keyframe_due(self) -> bool:
        """See `Recorder.keyframe_due`: a quarter of the ring after the last one."""
        return self.enabled and self.ring.counters[CURSOR] - self._keyframe_at >= self._keyframe_every

    def keyframe(self, state: Keyframe) -> int:
        """See `Recorder.keyframe`. Returns the seq of the set's end."""
        end = 0
        for part in parts(state, next(self._sets), self._keyframe_words):
            end = self._emit_words(*part.slots, *part.payload)
        self._keyframe_at = self.ring.counters[CURSOR]
        return end


_MASK63 = (1 << 63) - 1
_LONGEST_NS = 0xFFFFFFFE


def _external(name: str) -> str:
    return f"external:{name[:TEXT_MAX]}"


def _digest(digest: bytes) -> int:
    return int.from_bytes(digest[:8].ljust(8, b"\0"), "big")


def _turn_off(recorder: RingRecorder | None) -> None:
    if recorder is not None:
        recorder.turn_off()


def _nothing(*_: object) -> int:
    return 0
