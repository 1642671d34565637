"""State rows of a step's requests: loaded before it samples, saved behind it.

A request that starts from a snapshot computes nothing in its first slice, which has no tokens: its logits
are loaded where the forward would have left them. A prompt that was computed is saved from there, before the
next step overwrites them. Knows which logits are whose, not how rows are kept.
"""

import torch

from tracert.device.device import Launch, Memory
from tracert.engine.batch import Prepared
from tracert.engine.request import Request
from tracert.memory.snapshot_store import SnapshotStore


class StateRows:
    """Rows of `logits` float32 [max_num_seqs, vocab] and the snapshots of `store`."""

    def __init__(self, store: SnapshotStore, logits: Memory, vocab: int) -> None:
        self._store = store
        self._logits = logits
        self._vocab = vocab

    def load(self, prepared: Prepared, step: int) -> list[Launch]:
        """A launch for each request that starts from a snapshot; the snapshots are let go of."""
        launches: list[Launch] = []
        for index, part in enumerate(prepared.sampling):
            request = part.request
            if part.length == 0 and request.snapshot is not None:
                row = self._row(index)
                launches.append(self._store.restore(request.snapshot, request.number, row, step))
                self.leave(request)
        return launches

    def save(self, prepared: Prepared, step: int) -> None:
        """Keep the state after each prompt that this step has computed to its end."""
        for index, part in enumerate(prepared.sampling):
            request = part.request
            if part.length and part.end == request.prompt_tokens:
                request.saved = self._store.save(
                    request.number,
                    request.tokens[: part.end],
                    request.pages,
                    request.identity,
                    self._row(index),
                    step,
                )

    def leave(self, request: Request) -> None:
        """The request does not start from its snapshot any more."""
        if request.snapshot is not None:
            self._store.unpin(request.snapshot)
            request.snapshot = None

    def reject(self, request: Request) -> None:
        """What the request computed is no distribution: nobody must start from what was saved of it."""
        if request.saved is not None:
            self._store.forget(request.saved)

    def _row(self, index: int) -> Memory:
        return self._logits.view(torch.float32, (self._vocab,), 4 * self._vocab * index)
