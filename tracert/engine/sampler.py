"""Draws the next tokens on the device, from logits that never leave it.

One launch for all sequences of a step. Each drawing depends on the request's seed and the position
alone, so that the batch a request happens to share, preemption and replays change nothing.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from tracert_kernels.scratch import Scratch, aligned

from tracert.device.device import Device, Memory

TOP_LOGPROBS_MAX = 20
LEAST_TEMPERATURE = 1e-5
"""A lower one, short of 0, draws as this one: divided by less, logits leave the range of float32."""


class Draw(NamedTuple):
    """How one token is drawn. temperature 0 is greedy; top_k 0 and top_p 1 are off."""

    temperature: float
    top_k: int
    top_p: float
    seed: int
    position: int
    logprobs: bool


class Results(NamedTuple):
    """Device memory that `sample` fills, one entry a sequence."""

    token: Memory
    """[max_num_seqs] int64"""
    finite: Memory
    """[max_num_seqs] bool: were all its logits finite?"""
    logprob: Memory
    """[max_num_seqs] float32 of the drawn token; only where asked for"""
    top_token: Memory
    """[max_num_seqs, 20] int64"""
    top_logprob: Memory
    """[max_num_seqs, 20] float32"""


def allocate_results(device: Device, sequences: int) -> Results:
    """Room for the results of `sequences` drawings."""

    def room(dtype: torch.dtype, *shape: int) -> Memory:
        nbytes = torch.Size(shape).numel() * dtype.itemsize
        return device.allocate(nbytes).view(dtype, shape)

    return Results(
        token=room(torch.int64, sequences),
        finite=room(torch.bool, sequences),
        logprob=room(torch.float32, sequences),
        top_token=room(torch.int64, sequences, TOP_LOGPROBS_MAX),
        top_logprob=room(torch.float32, sequences, TOP_LOGPROBS_MAX),
    )


def sample_room(draws: Sequence[Draw], vocab: int) -> int:
    """Bytes of scratch that `sample` takes: numbers a token of the vocabulary, once for all drawings."""
    numbers = 0
    if any(draw.temperature > 0 for draw in draws):
        numbers = 2 * aligned(4 * vocab)
        if any(draw.temperature > 0 and (draw.top_k or draw.top_p < 1) for draw in draws):
            numbers += 3 * aligned(4 * vocab) + aligned(8 * vocab) + aligned(vocab)
    if any(draw.logprobs for draw in draws):
        numbers += aligned(4 * vocab)
    return numbers


def sample(
    logits: torch.Tensor,
    draws: Sequence[Draw],
    token: torch.Tensor,
    finite: torch.Tensor,
    logprob: torch.Tensor,
    top_token: torch.Tensor,
    top_logprob: torch.Tensor,
    rooms: Sequence[torch.Tensor] = (),
) -> None:
    """Kernel: a token for each of the first `len(draws)` rows of `logits` [max_num_seqs, vocab] float32.

    The first of `rooms` is scratch, as much as `sample_room` says; without it the kernel has its own.
    """
    count = len(draws)
    rows = logits[:count]
    scratch = Scratch(rooms[0] if rooms else None)
    # Both are NaN when anything is.
    low, high = torch.aminmax(rows, dim=-1)
    finite[:count] = low.isfinite() & high.isfinite()
    token[:count] = rows.argmax(dim=-1)
    for index, draw in enumerate(draws):
        if draw.temperature > 0:
            token[index] = _draw(rows[index], draw, scratch)
        if draw.logprobs:
            logs = scratch.take("logs", rows[index].shape, torch.float32)
            torch.ops.aten._log_softmax.out(rows[index], -1, False, out=logs)
            logprob[index] = logs[token[index]]
            top = logs.topk(min(TOP_LOGPROBS_MAX, logs.numel()))
            top_token[index, : top.indices.numel()] = top.indices
            top_logprob[index, : top.values.numel()] = top.values


def _draw(logits: torch.Tensor, draw: Draw, scratch: Scratch) -> torch.Tensor:
    """Top-k, then top-p, then the Gumbel-max trick with noise from (seed, position)."""

    def room(name: str, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return scratch.take(name, logits.shape, dtype)

    scaled = torch.div(logits, max(draw.temperature, LEAST_TEMPERATURE), out=room("scaled"))
    if draw.top_k or draw.top_p < 1:
        kept, order = room("kept"), room("order", torch.int64)
        torch.sort(scaled, descending=True, stable=True, out=(kept, order))
        if draw.top_k:
            kept[draw.top_k :] = -torch.inf
        if draw.top_p < 1:
            probability = torch.softmax(kept, -1, out=room("probability"))
            before = torch.cumsum(probability, -1, out=room("before")).sub_(probability)
            cut = torch.ge(before, draw.top_p, out=room("cut", torch.bool))
            cut[0] = False  # a top_p that is 0 in float32 would leave nothing
            kept.masked_fill_(cut, -torch.inf)
        scaled.fill_(-torch.inf).scatter_(0, order, kept)
    generator = torch.Generator(device=logits.device)
    generator.manual_seed((draw.seed * 0x9E3779B97F4A7C15 + draw.position) % 2**63)
    noise = room("noise").exponential_(generator=generator)
    return scaled.sub_(noise.log_()).argmax(dim=-1)
