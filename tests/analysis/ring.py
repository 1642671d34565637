"""Histories of a workspace, act by act, with one launch a step."""

from typing import Any

from tests.analysis.history import History, Launched

COMPUTE, CAPACITY = 1, 1000


class Ring:
    """A workspace of CAPACITY bytes as a recorder would tell of it."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.step = 0

    def plan(self, nbytes: int, room: int = CAPACITY) -> int:
        """The next launch needs so much, and so much is free in one piece."""
        return self.event("workspace_plan", self.history._launches + 1, bytes=nbytes, room=room)

    def launch(self, *blocks: tuple[int, int], **fields: Any) -> Launched:
        """A forward of the next step, on blocks (offset, bytes)."""
        for offset, nbytes in blocks:
            self.event("workspace_alloc", self.history._launches + 1, offset=offset, bytes=nbytes)
        self.step += 1
        launched = self.history.forward(COMPUTE, step=self.step, **fields)
        self.transaction("begin", launched)
        return launched

    def free(self, launched: Launched, offset: int, nbytes: int) -> int:
        """The launch gives a block back."""
        return self.event("workspace_free", launched.launch, offset=offset, bytes=nbytes)

    def settle(self, launched: Launched) -> int:
        """The host has learnt that the step's launch ended."""
        self.history.passed(self.history.record(COMPUTE))
        return self.transaction("commit", launched)

    def transaction(self, op: str, launched: Launched) -> int:
        """Of request 7 in row 0."""
        return self.history.event(
            "transaction", op=op, transaction=launched.launch, row=0, request=7, frontier=1
        )

    def event(self, kind: str, launch: int, **fields: Any) -> int:
        """An event of the workspace."""
        return self.history.event(kind, launch=launch, stream=COMPUTE, capacity=CAPACITY, **fields)
