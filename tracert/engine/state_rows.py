"""State rows of a step's requests: loaded before it samples, saved behind it.

A request that starts from a snapshot computes nothing in its first slice, which has no tokens: its logits
are loaded where the forward would have left them. A prompt that was computed is saved from there, before the
next step overwrites them. Knows which logits are whose, not how rows are kept.
"""

from collections.abc import Callable

import torch

from tracert.device.device import Launch, Memory
from tracert.engine.batch import Prepared
from tracert.engine.request import Request
from tracert.memory.snapshot_store import SnapshotStore


class StateRows:
    """Rows of logits float32 [max_num_seqs, `vocab`] and the snapshots of `store`."""

    def __init__(self, store: SnapshotStore, vocab: int, let_go: Callable[[Request], None]) -> None:
        """`let_go` is told of each request whose snapshot is not needed any more."""
        self._store = store
        self._vocab = vocab
        self._let_go = let_go

    def load(self, prepared: Prepared, logits: Memory, step: int) -> list[Launch]:
        """A launch for each request that starts from a snapshot."""
        launches: list[Launch] = []
        for index, part in enumerate(prepared.sampling):
            request = part.request
            if part.length == 0 and request.snapshot is not None:
                row = self._row(logits, index)
                launches.append(self._store.restore(request.snapshot, request.number, row, step))
                self._let_go(request)
        return launches

    def save(self, prepared: Prepared, logits: Memory, step: int) -> None:
        """Keep the state after each prompt that this step has computed to its end."""
        for index, part in enumerate(prepared.sampling):
            request = part.request
            if part.length and part.end == request.prompt_tokens:
                request.saved = self._store.save(
                    request.number,
                    request.tokens[: part.end],
                    request.pages,
                    request.identity,
                    self._row(logits, index),
                    step,
                )

    def _row(self, logits: Memory, index: int) -> Memory:
        return logits.view(torch.float32, (self._vocab,), 4 * self._vocab * index)
