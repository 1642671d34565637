"""Decides who computes how many tokens in the next step; knows nothing of streams or launches.

A request counts as computed as soon as its step is launched: the next step may be scheduled while one is in
flight, with the token that only the device knows yet.

Running requests come first, in order of arrival; then waiting ones are admitted while there are rows,
pages and tokens in the budget. A running request that gets no page takes the pages of the one that
arrived last, which is computed again later (preemption by recompute).
"""

from collections import deque
from typing import Literal, NamedTuple

from tracert.engine.config import EngineConfig
from tracert.engine.lanes import Lanes
from tracert.engine.request import Request
from tracert.memory.block_table import RowHandle
from tracert.record.recorder import Recorder


class Slice(NamedTuple):
    """One request's part of a step: its tokens `start` up to `end`, in the row that it has in this step."""

    request: Request
    row: RowHandle
    start: int
    end: int
    samples: bool
    """Is its last token computed, so that a new one can be sampled?"""

    @property
    def length(self) -> int:
        """How many tokens it computes."""
        return self.end - self.start

    @property
    def phase(self) -> Literal["prefill", "decode"]:
        """Does it compute the prompt, or the token drawn last?"""
        decodes = self.start >= self.request.prompt_tokens and self.length == 1
        return "decode" if decodes else "prefill"


class Scheduler:
    """The queue of waiting requests and the list of running ones."""

    def __init__(self, recorder: Recorder, config: EngineConfig, lanes: Lanes) -> None:
        self._recorder = recorder
        self._config = config
        self._lanes = lanes
        self.waiting: deque[Request] = deque()
        self.running: list[Request] = []
        self.preemptions = 0

    def add(self, request: Request) -> None:
        """Queue a request."""
        self.waiting.append(request)

    def remove(self, request: Request) -> None:
        """Forget a request, and free its row and pages when it runs."""
        if request in self.running:
            self.running.remove(request)
            self._lanes.vacate(request)
        else:
            self.waiting.remove(request)

    def schedule(self, step: int) -> list[Slice]:
        """The slices of the next step; empty when there is nothing to do."""
        budget = self._config.max_num_batched_tokens
        slices: list[Slice] = []
        preempted = False
        for request in list(self.running):
            # One that is as long as it may be ends when its last token is learnt.
            if not self._lanes.ready(request) or not budget or request.length >= request.limit:
                continue
            count = self._chunk(request, budget)
            while not self._lanes.grow(request, request.computed + count):
                victim = self.running[-1]
                self._preempt(victim, step)
                preempted = True
                if victim is request:
                    break
            else:
                slices.append(self._slice(request, count))
                budget -= count
        while self.waiting and budget and not preempted and len(self.running) < self._config.max_num_seqs:
            request = self.waiting[0]
            if request.pending or not self._lanes.admit(request):
                break
            self.waiting.popleft()
            self.running.append(request)
            if self._lanes.ready(request):
                count = self._chunk(request, budget)
                slices.append(self._slice(request, count))
                budget -= count
        for part in slices:
            self._tell(part, step)
        return slices

    def _chunk(self, request: Request, budget: int) -> int:
        return min(request.uncomputed, budget, self._config.max_prefill_tokens)

    @staticmethod
    def _slice(request: Request, count: int) -> Slice:
        assert request.row is not None
        end = request.computed + count
        return Slice(request, request.row, request.computed, end, end == request.length)

    def _preempt(self, victim: Request, step: int) -> None:
        lane = victim.lane
        self.running.remove(victim)
        self._lanes.vacate(victim)
        victim.computed = 0
        self.waiting.appendleft(victim)
        self.preemptions += 1
        self._recorder.preempt(victim.number, lane, step, "no free page")

    def _tell(self, part: Slice, step: int) -> None:
        request = part.request
        self._recorder.schedule(
            request.number, request.lane, part.phase, step, part.length, part.start, len(request.pages)
        )
