"""Runs a decoder over pages as the engine would: scattered pages, rows in any order, slices of any size."""

from collections.abc import Sequence

import torch

from tracert.models.batch import Batch
from tracert.models.decoder import Decoder


class Paged:
    """The keys and values of `rows` sequences of up to `length` tokens, on pages dealt out of order."""

    def __init__(self, decoder: Decoder, rows: int, length: int, page_size: int = 16) -> None:
        config = decoder.config
        width = -(-length // page_size)
        pages = 1 + rows * width
        shape = (pages, config.layers, 2, page_size, config.kv_heads, config.head_dim)
        # Whatever is read without having been written shows up in the logits.
        self.cache = torch.full(shape, float("nan"), dtype=decoder.dtype)
        order = torch.randperm(pages - 1, generator=torch.Generator().manual_seed(5)) + 1
        self.table = order.view(rows, width).to(torch.int32)
        self._decoder = decoder

    def forward(
        self, slices: Sequence[tuple[int, int, Sequence[int]]], *, logits: bool = True
    ) -> torch.Tensor:
        """Logits of the last token of each slice: (row, position of the first token, tokens)."""
        return self._decoder.forward(self.batch(slices, logits=logits), self.cache, self.table)

    def batch(self, slices: Sequence[tuple[int, int, Sequence[int]]], *, logits: bool = True) -> Batch:
        """The batch of these slices, one behind the other."""
        ends = torch.tensor([len(tokens) for _, _, tokens in slices]).cumsum(0)
        positions = [torch.arange(start, start + len(tokens)) for _, start, tokens in slices]
        rows = torch.tensor([row for row, _, _ in slices], dtype=torch.int32)
        return Batch(
            tokens=torch.tensor([token for _, _, tokens in slices for token in tokens]),
            position=torch.cat(positions).to(torch.int32),
            token_row=rows.repeat_interleave(torch.tensor([len(tokens) for _, _, tokens in slices])),
            rows=rows,
            query_start=torch.cat((torch.zeros(1), ends)).to(torch.int32),
            context=torch.tensor([start + len(tokens) for _, start, tokens in slices], dtype=torch.int32),
            logits_index=ends - 1 if logits else torch.empty(0, dtype=torch.int64),
        )


def all_logits(decoder: Decoder, *sequences: Sequence[int]) -> torch.Tensor:
    """Logits after every token of every sequence, all in one forward: [T, vocab]."""
    paged = Paged(decoder, len(sequences), max(map(len, sequences)))
    batch = paged.batch([(row, 0, tokens) for row, tokens in enumerate(sequences)])
    batch = batch._replace(logits_index=torch.arange(len(batch.tokens)))
    return decoder.forward(batch, paged.cache, paged.table)


def greedy(
    decoder: Decoder, prompts: Sequence[Sequence[int]], count: int, page_size: int = 16
) -> list[list[int]]:
    """`count` tokens after each prompt, all prompts in one batch, whatever ends a sequence ignored."""
    paged = Paged(decoder, len(prompts), max(map(len, prompts)) + count, page_size)
    drawn = paged.forward([(row, 0, prompt) for row, prompt in enumerate(prompts)]).argmax(-1).tolist()
    answers = [[token] for token in drawn]
    for step in range(count - 1):
        slices = [(row, len(prompt) + step, [answers[row][-1]]) for row, prompt in enumerate(prompts)]
        for answer, token in zip(answers, paged.forward(slices).argmax(-1).tolist(), strict=True):
            answer.append(token)
    return answers
