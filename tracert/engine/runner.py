"""Launches a step on the compute stream and reads back what it drew.

Two launches a step: `forward` leaves logits on the device, `sample` draws from them. The host learns
in `wait`, and only there, whether the device is well.
"""

from typing import Any, NamedTuple

import torch

from tracert.device.device import Device, Launch, Memory, Stream
from tracert.engine.batch import Prepared
from tracert.engine.request import Request
from tracert.engine.sampler import Draw, allocate_results, sample
from tracert.memory.arena import Arena
from tracert.memory.block_table import BlockTable
from tracert.models.batch import Batch
from tracert.models.decoder import Decoder
from tracert.record.access import Compute


class Drawn(NamedTuple):
    """What the host reads back of a step: one entry a sampling request; logprobs only when wanted."""

    token: list[int]
    finite: list[bool]
    logprob: list[float]
    top_token: list[list[int]]
    top_logprob: list[list[float]]


class Runner:
    """The model, its device buffers and the compute stream."""

    def __init__(
        self,
        device: Device,
        model: Decoder,
        arena: Arena,
        table: BlockTable,
        compute: Stream,
        sequences: int,
    ) -> None:
        self._device = device
        self._model = model
        self._arena = arena
        self._table = table
        self._compute = compute
        vocab = model.config.vocab
        self._logits = device.allocate(sequences * vocab * 4).view(torch.float32, (sequences, vocab))
        self._results = allocate_results(device, sequences)

    def launch(self, prepared: Prepared, step: int) -> Launch:
        """Enqueue the step; returns the launch that computes, not the one that draws."""
        launch = self._device.launch(
            self._compute,
            forward,
            self._model,
            prepared.batch,
            self._arena.cache,
            self._table.memory,
            self._logits,
            access=Compute(prepared.phase, step, uses=prepared.uses, resources=("write:logits",)),
        )
        if prepared.sampling:
            self._device.launch(
                self._compute,
                sample,
                self._logits,
                [_draw(part.request) for part in prepared.sampling],
                *self._results,
                access=Compute("sample", step, resources=("read:logits", "write:sampled")),
            )
        return launch

    def wait(self, prepared: Prepared) -> Drawn:
        """Synchronise, then read. DeviceError when anything launched before has failed."""
        self._device.sync(self._device.record(self._compute))
        count = len(prepared.sampling)
        if not count:
            return Drawn([], [], [], [], [])
        wanted = any(part.request.sampling.logprobs is not None for part in prepared.sampling)

        def read(memory: Memory) -> list[Any]:
            return self._device.read(memory)[:count].tolist()

        results = self._results
        if not wanted:
            return Drawn(read(results.token), read(results.finite), [], [], [])
        return Drawn(*(read(memory) for memory in results))


def forward(
    model: Decoder, batch: Batch, cache: torch.Tensor, table: torch.Tensor, logits: torch.Tensor
) -> None:
    """Kernel: all layers over the batch; pages are found through `table` when it runs."""
    rows = model.forward(batch, cache, table)
    logits[: len(rows)] = rows


def _draw(request: Request) -> Draw:
    sampling = request.sampling
    return Draw(
        sampling.temperature,
        sampling.top_k,
        sampling.top_p,
        request.seed,
        len(request.tokens),
        sampling.logprobs is not None,
    )
