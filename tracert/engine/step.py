"""The engine: requests in, one step after the other, tokens out.

    arrive -> schedule -> publish -> launch -> wait -> settle

A step computes some tokens of each running request in one launch and draws the next tokens in a
second. Rows of the block table are published on the transfer stream while the scheduler grants pages;
a fence lets the compute stream wait for them. With `overlap` a step is launched before the one before it
is waited for: a request that turns out to have ended takes part in one step too many, whose result for it
is thrown away.
"""

import secrets

from tracert_kernels.dispatch import Kernels
from tracert_kernels.kv_names import KvTypeOption
from tracert_kernels.kv_types import KV_TYPES

from tracert.device.device import Device, Launch
from tracert.engine.answers import drawn_tokens, no_workspace, not_committed, queue_full, refusal
from tracert.engine.batch import prepare
from tracert.engine.commit import Commit, Refused
from tracert.engine.config import EngineConfig
from tracert.engine.fronts import Fronts
from tracert.engine.guards import Guards
from tracert.engine.lanes import Lanes
from tracert.engine.preflight import fitting
from tracert.engine.request import Request
from tracert.engine.rooms import Rooms
from tracert.engine.runner import Drawn, Flight, Runner, workspace_size
from tracert.engine.scheduler import Scheduler, Slice
from tracert.engine.state_rows import StateRows
from tracert.engine.stores import open_stores
from tracert.memory.arena import Arena
from tracert.memory.audit import Audit
from tracert.memory.block_table import BlockTable
from tracert.memory.errors import WorkspaceFull
from tracert.memory.layout import KvLayout
from tracert.memory.pool import PagePool
from tracert.memory.prefix_cache import Identity
from tracert.memory.workspace import Workspace
from tracert.messages.messages import Failed, FinishReason, Generate, Stats, Tokens
from tracert.models.decoder import Decoder
from tracert.record.access import Covers, Holder
from tracert.record.recorder import Keyframe, Recorder


class Engine:
    """Owns the pages, the block table, the prefix cache, the streams and every request."""

    def __init__(
        self,
        recorder: Recorder,
        config: EngineConfig,
        device: Device,
        model: Decoder,
        kernels: Kernels,
        model_name: str,
    ) -> None:
        self.recorder = recorder
        self.config = config
        self.device = device
        self.model = model
        self.model_name = model_name
        self.compute = device.stream("compute")
        self.transfer = device.stream("transfer")
        self.pool = PagePool(recorder, config.kv_pages, config.page_size)
        self.arena = Arena(
            recorder, device, kv_layout(model, config.page_size, config.kv_pages, config.kv_dtype)
        )
        self.table = BlockTable(
            recorder,
            device,
            config.max_num_seqs,
            config.row_width,
            kernels.copy_row,
            poison=config.poison_rows,
        )
        stores = self.stores = open_stores(
            recorder, device, self.pool, self.arena, kernels, config, self.compute, model.config.vocab
        )
        self.cache, self.copies, self.stale = stores.cache, stores.copies, stores.stale
        self.host, self.retained, self.snapshots = stores.host, stores.retained, stores.snapshots
        self.fronts = Fronts(self.pool, stores, self.compute)
        self.lanes = Lanes(
            recorder,
            device,
            self.pool,
            self.table,
            self.fronts,
            self.compute,
            self.transfer,
            self.stale,
            [store.evict for store in stores.evictors],
        )
        self.scheduler = Scheduler(recorder, config, self.lanes)
        room = workspace_size(model, config, self.arena.layout.dtype)
        self.workspace = Workspace(recorder, device, room)
        rooms = Rooms(self.workspace, device, self.compute, preflight=config.preflight)
        rows: StateRows | None = None
        if self.snapshots is not None:
            rows = StateRows(self.snapshots, model.config.vocab, self.fronts.let_go)
        guards: Guards | None = None
        if config.guard:
            guards = Guards(recorder, device, config.max_num_seqs, config.row_width, config.page_size)
        self.runner = Runner(
            device, model, self.arena, self.table, self.compute, rooms, config.max_num_seqs, rows, guards
        )
        self.commit = Commit(config.page_size)
        self.audit = Audit(self.pool, [self._claims, *stores.claims], stores.aliased)
        self.steps = 0
        self._requests: dict[str, Request] = {}
        self._numbers = 0
        self._flight: Flight | None = None
        self.arena.clear_all(self.compute)
        self.table.clear(self.compute)
        device.sync_all()

    def add(self, message: Generate) -> Failed | None:
        """Queue a request, or say in one line why it can't be served."""
        limit = self.config.context_limit
        failed = refusal(message, context_limit=limit, vocab=self.model.config.vocab)
        if failed is None and len(self.scheduler.waiting) >= self.config.max_waiting:
            failed = queue_full(message, len(self.scheduler.waiting))
        if failed is not None:
            return failed
        self._numbers += 1
        sampling = message.sampling
        request = Request(
            number=self._numbers,
            id=message.id,
            tokens=list(message.tokens),
            prompt_tokens=len(message.tokens),
            sampling=sampling,
            seed=secrets.randbits(31) if sampling.seed is None else sampling.seed,
            identity=Identity(model=self.model_name, salt=message.cache_salt),
            limit=min(limit, len(message.tokens) + sampling.max_tokens),
        )
        self._requests[request.id] = request
        self.scheduler.add(request)
        self.recorder.arrive(request.number, request.id, request.prompt_tokens, sampling.max_tokens)
        return None

    def abort(self, public_id: str) -> None:
        """Forget a request wherever it is; an unknown id is one that has just ended."""
        request = self._requests.get(public_id)
        if request is not None:
            lane = request.lane
            self._end(request)
            self.recorder.finish(request.number, lane, "abort")

    @property
    def busy(self) -> bool:
        """Is there anything to compute, or to wait for?"""
        return bool(self._requests) or self._flight is not None or len(self.copies) > 0

    def step(self) -> list[Tokens | Failed]:
        """Launch a step and settle one: the same, or with overlap the one before.

        DeviceError when the device failed: then nothing of what was launched is settled.
        """
        self.lanes.arrive(self.scheduler.running)
        slices, refused = fitting(self.scheduler.schedule(self.steps), self.runner.refuses)
        flight = self._launch(slices) if slices else None
        if self.config.overlap:
            flight, self._flight = self._flight, flight
        told: list[Tokens | Failed] = [self._refuse(part.request, why) for part, why in refused]
        told += self._settle(flight) if flight else []
        if self.recorder.keyframe_due():
            self.recorder.keyframe(self.state())
        return told

    def _launch(self, slices: list[Slice]) -> Flight:
        if self.config.audit:
            self.audit()
        self.lanes.order_before(self.compute)
        drawing = self._flight.drawing() if self._flight else {}
        # A page that its request has yet to fill is not clean behind what it has of it.
        filling = any(part.length == 1 and not part.samples for part in slices)
        covers: Covers = "valid" if filling else self.stale.covers
        flight = self.runner.launch(prepare(slices, self.config.page_size, drawing, covers), self.steps)
        self.lanes.launched(flight.fence)
        self.steps += 1
        for part in slices:
            request, launch = part.request, flight.launch.id
            request.computed, request.transaction = part.end, launch
            request.pending += part.samples
            # A lane's frontier is provisional from the launch until the host has seen it pass.
            self.recorder.transaction("begin", launch, part.row.row, request.number, part.end)
        return flight

    def _settle(self, flight: Flight) -> list[Tokens | Failed]:
        drawn = self.runner.wait(flight)
        self.lanes.passed(flight.fence)
        sampling, seen = flight.prepared.sampling, self.runner.saw(flight)
        sound = {part.request: finite for part, finite in zip(sampling, drawn.finite, strict=True)}
        rejected: dict[Request, Refused] = {}
        for part in flight.prepared.slices:
            request, saw = part.request, seen.get(part.row)
            if request.row == part.row and (part.samples or saw):
                pages, finite = len(request.pages), sound.get(request, True)
                refused = self.commit.check(part.row.row, pages, part.end, finite=finite, seen=saw)
                if refused is not None:
                    rejected[request] = refused
        for part in flight.prepared.slices:
            request = part.request
            if request.row != part.row:
                continue
            self.recorder.transaction("commit", flight.launch.id, part.row.row, request.number, part.end)
            if request.transaction == flight.launch.id:
                request.transaction = None
            # Pages that led to no distribution must not become somebody's prefix.
            if request not in rejected:
                self.fronts.keep(request, part.end)
        told: list[Tokens | Failed] = []
        for index, part in enumerate(sampling):
            request = part.request
            request.pending -= 1
            if self._requests.get(request.id) is not request:
                continue
            if request in rejected:
                told.append(self._reject(part, flight.launch, rejected[request]))
            else:
                told.append(self._append(part, index, drawn))
        for part in flight.prepared.slices:
            # Guards tell of a prompt's chunk, too, that nothing is drawn from.
            if not part.samples and part.request in rejected:
                told.append(self._reject(part, flight.launch, rejected[part.request]))
        return told

    def _append(self, part: Slice, index: int, drawn: Drawn) -> Tokens:
        request = part.request
        request.tokens.append(drawn.token[index])
        reason = self._ending(request)
        if reason is not None:
            lane = request.lane
            if request.row == part.row:
                self.fronts.keep(request, part.end, ended=True)
            self._end(request)
            self.recorder.finish(request.number, lane, reason)
        return drawn_tokens(request, index, drawn, reason)

    def _ending(self, request: Request) -> FinishReason | None:
        token, sampling = request.tokens[-1], request.sampling
        if token in self.model.config.eos_ids and not sampling.ignore_eos:
            return "stop"
        return "length" if len(request.tokens) >= request.limit else None

    def _reject(self, part: Slice, launch: Launch, refused: Refused) -> Failed:
        """A result that does not count: the symptom is recorded with the pages that it came from."""
        request, lane = part.request, part.row.row
        if "distribution" in refused.failed:
            layer, stage, position = refused.value
            lives = self.pool.lives(request.pages)
            self.recorder.nonfinite(
                launch.id, request.number, lane, position, request.pages, lives, layer, stage
            )
        detail = {**refused.detail, "request": request.number}
        self.recorder.error(refused.code, refused.name, refused.message, self.compute.id, "commit", detail)
        self.fronts.forget(request)
        self._end(request)
        self.recorder.fail(request.number, lane, refused.name.lower().replace("_", " "))
        return not_committed(request, refused)

    def _refuse(self, request: Request, why: WorkspaceFull) -> Failed:
        """Its next launch would never fit the workspace: it ends, and others go on."""
        lane = request.lane
        self._end(request)
        self.recorder.fail(request.number, lane, "workspace exhausted")
        return no_workspace(request, why)

    def _end(self, request: Request) -> None:
        del self._requests[request.id]
        self.scheduler.remove(request)

    def _claims(self) -> dict[Holder, list[int]]:
        """The pages that each running request says are its."""
        return {request.holder: request.pages for request in self.scheduler.running}

    def state(self) -> Keyframe:
        """The whole state of pages and rows, as keyframes carry it."""
        frame = Keyframe()
        self.pool.keyframe(frame)
        self.table.keyframe(frame)
        return frame

    def stats(self) -> Stats:
        """Gauges and counters for `/metrics`."""
        host = self.stores.host_stats
        return Stats(
            running=len(self.scheduler.running),
            waiting=len(self.scheduler.waiting),
            # Those that a launch may still touch are nobody's already.
            free_pages=self.pool.available() + self.pool.counts().retired,
            cached_pages=self.cache.pages(),
            kept_pages=self.stores.kept_pages,
            free_snapshots=self.stores.free_snapshots,
            preemptions=self.scheduler.preemptions,
            ring_events=self.recorder.events,
            ring_lost=self.recorder.lost,
            free_host_slots=host.free,
            used_host_slots=host.used,
        )

    def check(self) -> None:
        """Raise when pages, rows or cache contradict themselves."""
        self.pool.check()
        self.table.check()
        self.workspace.check()
        self.stores.check()
        self.audit()


def kv_layout(model: Decoder, page_size: int, pages: int, kv_dtype: KvTypeOption = "auto") -> KvLayout:
    """How the keys and values of a model lie in `pages` pages. LayoutError when they cannot.

    With `auto`, pages hold what the model computes in.
    """
    shape = model.config
    return KvLayout(
        pages=pages,
        layers=shape.layers,
        page_size=page_size,
        kv_heads=shape.kv_heads,
        head_dim=shape.head_dim,
        dtype=model.dtype if kv_dtype == "auto" else KV_TYPES[kv_dtype],
    )
