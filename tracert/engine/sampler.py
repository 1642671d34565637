"""Draws the next tokens on the device, from logits that never leave it.

One launch for all sequences of a step. Each drawing depends on the request's seed and the position
alone, so that the batch a request happens to share, preemption and replays change nothing.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch

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


def sample(
    logits: torch.Tensor,
    draws: Sequence[Draw],
    token: torch.Tensor,
    finite: torch.Tensor,
    logprob: torch.Tensor,
    top_token: torch.Tensor,
    top_logprob: torch.Tensor,
) -> None:
    """Kernel: a token for each of the first `len(draws)` rows of `logits` [max_num_seqs, vocab] float32."""
    count = len(draws)
    rows = logits[:count]
    finite[:count] = rows.isfinite().all(dim=-1)
    token[:count] = rows.argmax(dim=-1)
    for index, draw in enumerate(draws):
        if draw.temperature > 0:
            token[index] = _draw(rows[index], draw)
        if draw.logprobs:
            logs = rows[index].log_softmax(dim=-1)
            logprob[index] = logs[token[index]]
            top = logs.topk(min(TOP_LOGPROBS_MAX, logs.numel()))
            top_token[index, : top.indices.numel()] = top.indices
            top_logprob[index, : top.values.numel()] = top.values


def _draw(logits: torch.Tensor, draw: Draw) -> torch.Tensor:
    """Top-k, then top-p, then the Gumbel-max trick with noise from (seed, position)."""
    scaled = logits / max(draw.temperature, LEAST_TEMPERATURE)
    if draw.top_k or draw.top_p < 1:
        order = scaled.argsort(descending=True, stable=True)
        kept = scaled[order]
        if draw.top_k:
            kept[draw.top_k :] = -torch.inf
        if draw.top_p < 1:
            probability = kept.softmax(dim=-1)
            before = probability.cumsum(dim=-1) - probability
            cut = before >= draw.top_p
            cut[0] = False  # a top_p that is 0 in float32 would leave nothing
            kept[cut] = -torch.inf
        scaled = torch.full_like(scaled, -torch.inf).scatter(0, order, kept)
    generator = torch.Generator(device=logits.device)
    generator.manual_seed((draw.seed * 0x9E3779B97F4A7C15 + draw.position) % 2**63)
    noise = torch.empty_like(scaled).exponential_(generator=generator)
    return (scaled - noise.log()).argmax(dim=-1)
