"""Launches a step on the compute stream and reads back what it drew.

Two launches a step: `forward` leaves logits on the device, `sample` draws from them. The host learns
in `wait`, and only there, whether the device is well. A step may be launched before the one before it was
waited for: it takes the tokens that the host does not know from the device, and its drawings go to the
other of two sets of results.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from tracert_kernels.guard import Guard
from tracert_kernels.scratch import Scratch

from tracert.device.device import Device, Fence, Launch, Memory, Stream
from tracert.engine.batch import Prepared
from tracert.engine.config import ConfigError, EngineConfig
from tracert.engine.guards import Guarded, Guards, Seen
from tracert.engine.request import Request
from tracert.engine.rooms import Room, Rooms
from tracert.engine.sampler import Draw, Results, allocate_results, sample, sample_room
from tracert.engine.scheduler import Slice
from tracert.engine.state_rows import StateRows
from tracert.memory.arena import Arena
from tracert.memory.block_table import BlockTable, RowHandle
from tracert.memory.errors import WorkspaceFull
from tracert.memory.workspace import ALIGNMENT, LARGEST
from tracert.models.batch import Batch
from tracert.models.decoder import Decoder
from tracert.record.access import Compute, Covers


class Drawn(NamedTuple):
    """What the host reads back of a step: one entry a sampling request; logprobs only when wanted."""

    token: list[int]
    finite: list[bool]
    logprob: list[float]
    top_token: list[list[int]]
    top_logprob: list[list[float]]


@dataclass(frozen=True, slots=True)
class Flight:
    """A step on its way: `launch` is the one that computes, or else loads logits; `fence` is behind all."""

    prepared: Prepared
    launch: Launch
    fence: Fence
    results: Results
    rooms: tuple[Room, ...]
    guarded: Guarded | None = None

    def drawing(self) -> dict[Request, int]:
        """Which entry of its results is each request's."""
        return {part.request: index for index, part in enumerate(self.prepared.sampling)}


class Runner:
    """The model, its device buffers and the compute stream."""

    def __init__(
        self,
        device: Device,
        model: Decoder,
        arena: Arena,
        table: BlockTable,
        compute: Stream,
        rooms: Rooms,
        sequences: int,
        rows: StateRows | None = None,
        guards: Guards | None = None,
    ) -> None:
        self._device = device
        self._model = model
        self._arena = arena
        self._table = table
        self._compute = compute
        self._rooms = rooms
        vocab = model.config.vocab
        self._logits = device.allocate(sequences * vocab * 4).view(torch.float32, (sequences, vocab))
        self._rows = rows
        self._results = (allocate_results(device, sequences), allocate_results(device, sequences))
        self._guards = guards

    def refuses(self, slices: Sequence[Slice]) -> WorkspaceFull | None:
        """Why a step of these slices would be refused for want of scratch; None when it would not."""
        room = max(sum(self._forward_room(slices)), self._sample_room(slices))
        return self._rooms.refuses(room)

    def launch(self, prepared: Prepared, step: int) -> Flight:
        """Enqueue the step. WorkspaceFull, with nothing launched, where `refuses` says so."""
        results, before = self._results[step % 2], self._results[(step + 1) % 2]
        rooms: list[Room] = []
        launches: list[Launch] = []
        guarded: Guarded | None = None
        if prepared.uses:
            rooms.append(self._rooms.take(*self._forward_room(prepared.slices)))
            if self._guards is not None:
                guarded = self._guards.begin(prepared, step)
            launches.append(self._forward(prepared, step, before, rooms[0], guarded))
        if self._rows is not None:
            launches += self._rows.load(prepared, self._logits, step)
        if prepared.sampling:
            rooms.append(self._rooms.take(self._sample_room(prepared.sampling)))
            self._device.launch(
                self._compute,
                sample,
                self._logits,
                [_draw(part) for part in prepared.sampling],
                *results,
                rooms[-1].argument,
                access=Compute("sample", step, resources=("read:logits", "write:sampled")),
            )
        if self._rows is not None:
            self._rows.save(prepared, self._logits, step)
        fence = self._device.record(self._compute)
        return Flight(prepared, launches[0], fence, results, tuple(rooms), guarded)

    def _forward(
        self, prepared: Prepared, step: int, before: Results, room: Room, guarded: Guarded | None
    ) -> Launch:
        resources = ["read:sampled"] if prepared.fed else []
        memory: tuple[Memory, ...] = ()
        if self._guards is not None and guarded is not None:
            memory = self._guards.argument(guarded)
            resources.append("write:guard")
        return self._device.launch(
            self._compute,
            forward,
            self._model,
            prepared.batch,
            prepared.fed,
            before.token,
            self._arena.cache,
            self._table.memory,
            self._logits,
            room.argument,
            prepared.covers,
            *memory,
            access=Compute(prepared.phase, step, uses=prepared.uses, resources=(*resources, "write:logits")),
        )

    def wait(self, flight: Flight) -> Drawn:
        """Synchronise, then read. DeviceError when anything launched before has failed."""
        self._device.sync(flight.fence)
        self._rooms.give_back(flight.rooms)
        sampling, results = flight.prepared.sampling, flight.results
        if not sampling:
            return Drawn([], [], [], [], [])

        def read(memory: Memory) -> list[Any]:
            return self._device.read(memory)[: len(sampling)].tolist()

        if all(part.request.sampling.logprobs is None for part in sampling):
            return Drawn(read(results.token), read(results.finite), [], [], [])
        return Drawn(*(read(memory) for memory in results))

    def saw(self, flight: Flight) -> dict[RowHandle, Seen]:
        """With guards, what the forward saw of each of its rows, once it was waited for; it is recorded."""
        if self._guards is None or flight.guarded is None:
            return {}
        return self._guards.look(flight.guarded, flight.launch)

    def _forward_room(self, slices: Sequence[Slice]) -> tuple[int, int]:
        layout, slices = self._arena.layout, [part for part in slices if part.length]
        if not slices:
            return 0, 0
        return self._model.planned(
            [part.length for part in slices], [part.end for part in slices], layout.page_size, layout.dtype
        )

    def _sample_room(self, slices: Sequence[Slice]) -> int:
        return sample_room([_draw(part) for part in slices if part.samples], self._model.config.vocab)


def forward(
    model: Decoder,
    batch: Batch,
    fed: Sequence[tuple[int, int]],
    drawn: torch.Tensor,
    cache: torch.Tensor,
    table: torch.Tensor,
    logits: torch.Tensor,
    rooms: Sequence[torch.Tensor],
    covers: Covers,
    seen: torch.Tensor | None = None,
    notes: torch.Tensor | None = None,
) -> None:
    """Kernel: all layers over the batch. When it runs, `table` names pages and `drawn` has the fed tokens.

    `rooms` are scratch for activations and, where the kernels want some, for attention. `seen` and `notes`
    are a guard's memory, if there is one.
    """
    if fed:
        target, source = torch.tensor(fed).T
        batch = batch._replace(tokens=batch.tokens.index_copy(0, target, drawn[source].to(batch.tokens)))
    scratch = [Scratch(room) for room in rooms]
    both = (scratch[0], scratch[1] if len(scratch) > 1 else Scratch())
    guard = None if seen is None or notes is None else Guard(seen, notes)
    rows = model.forward(batch, cache, table, both, covers=covers, guard=guard)
    logits[: len(rows)] = rows


ATTENTION_MAX = 256 * 2**20
"""Of the scratch that attention could take in the largest step, no more is set aside unasked."""


def largest_step(model: Decoder, config: EngineConfig, cache_dtype: torch.dtype) -> int:
    """Bytes of scratch of the largest step that the configuration allows; twice that with overlap.

    It is measured by planning: as many new tokens as a step takes; all sequences decoding at the longest
    context; one prompt among them. ConfigError when no workspace can be so large.
    """
    count, longest = config.max_num_seqs, config.context_limit
    tokens = min(config.max_num_batched_tokens, count * min(config.max_prefill_tokens, longest))
    steps = [[tokens], [1] * count, [1] * (count - 1) + [max(tokens - count + 1, 1)]]
    every = Draw(1.0, 1, 0.5, 0, 0, True)
    largest = sample_room([every], model.config.vocab)
    for queries in steps:
        contexts = [longest] * len(queries)
        activations, attention = model.planned(queries, contexts, config.page_size, cache_dtype)
        largest = max(largest, activations + min(attention, ATTENTION_MAX))
    needed = 2 * largest if config.overlap else largest
    if needed > LARGEST:
        raise ConfigError(
            f"the largest step needs {needed} bytes of scratch, and a workspace has {LARGEST} at most: "
            "lower --max-num-batched-tokens or --max-prefill-tokens, or give a --workspace that holds less"
        )
    return needed


def workspace_size(model: Decoder, config: EngineConfig, cache_dtype: torch.dtype) -> int:
    """Bytes of scratch that the engine sets aside: what it is told to, or what the largest step takes.

    ConfigError where not even one token, at the start of a sequence, could be computed and drawn greedily.
    """
    if config.workspace is None:
        return largest_step(model, config, cache_dtype)
    needed = max(
        sample_room([Draw(0.0, 0, 1.0, 0, 0, False)], model.config.vocab),
        sum(model.planned([1], [1], config.page_size, cache_dtype)),
    )
    if config.workspace // ALIGNMENT * ALIGNMENT < needed:
        raise ConfigError(
            f"--workspace of {config.workspace} bytes: no launch fits, one token needs {needed}; give more, "
            "or leave it out"
        )
    return config.workspace


def _draw(part: Slice) -> Draw:
    request, sampling = part.request, part.request.sampling
    return Draw(
        sampling.temperature,
        sampling.top_k,
        sampling.top_p,
        request.seed,
        part.end,
        sampling.logprobs is not None,
    )
