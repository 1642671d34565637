"""Prompts that were seen before: restored without a forward, and answered as if they had been computed."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch

from tests.engine.conftest import greedy, run
from tests.memory.history import History
from tracert.engine.step import Engine
from tracert.memory.prefix import Identity
from tracert.messages.messages import Failed
from tracert.record.access import Compute

PROMPTS = [[7, *range(60, 60 + length)] for length in (20, 31, 15, 40)]
"""Lengths with a tail, without, below a page, and over two pages."""


class Forwards(History):
    """Counts launches by phase, and the tokens that their row uses compute."""

    def __init__(self) -> None:
        super().__init__()
        self.computed = 0

    def launch(self, launch: int, stream: int, ordinal: int, kernel: str, access: Any) -> int:
        """Count it."""
        if isinstance(access, Compute):
            self.computed += sum(use.end - use.start for use in access.uses)
        return super().launch(launch, stream, ordinal, kernel, access)


@pytest.mark.parametrize("stale_pages", ["inert", "zero", "clear-tail"])
@pytest.mark.parametrize("dedicated", [False, True])
@pytest.mark.parametrize("overlap", [False, True])
def test_a_prompt_seen_before_gives_the_plain_tokens(
    make_engine: Callable[..., Engine],
    plain: Callable[[Sequence[int], int], list[int]],
    stale_pages: str,
    dedicated: bool,
    overlap: bool,
) -> None:
    """Each prompt is sent to be cached, then again; of the second send only what is drawn is computed."""
    told = Forwards()
    engine = make_engine(
        told,
        prefix_cache="none",
        snapshots=4,
        dedicated_snapshots=dedicated,
        stale_pages=stale_pages,
        overlap=overlap,
        audit=True,
    )
    for number, prompt in enumerate(PROMPTS):
        engine.add(greedy(f"prime-{number}", prompt, 1))
        run(engine)
        before = told.computed
        engine.add(greedy(f"warm-{number}", prompt, 6))
        answers, _ = run(engine)
        assert plain(prompt, 6) == answers[f"warm-{number}"]
        assert 5 == told.computed - before
    engine.check()


@pytest.mark.parametrize("schedule", ["fifo", "random:1", "random:2"])
def test_restored_and_computing_requests_share_a_step(
    make_engine: Callable[..., Engine],
    plain: Callable[[Sequence[int], int], list[int]],
    schedule: str,
) -> None:
    """Two restored, one new, and the same prompt twice at once, on a device that lags."""
    engine = make_engine(schedule=schedule, prefix_cache="none", snapshots=4, overlap=True, audit=True)
    for number in (0, 1):
        engine.add(greedy(f"prime-{number}", PROMPTS[number], 1))
    run(engine)
    for number in (3, 0, 1, 0):
        engine.add(greedy(f"{number}-{len(engine.scheduler.waiting)}", PROMPTS[number], 5))
    answers, _ = run(engine)
    for name, tokens in answers.items():
        assert plain(PROMPTS[int(name[0])], 5) == tokens
    assert len(answers) == 4
    engine.check()


def test_snapshots_give_way_to_requests(
    make_engine: Callable[..., Engine], plain: Callable[[Sequence[int], int], list[int]]
) -> None:
    """A pool that is much too small for all prompts: every answer is right, the last prompts are kept."""
    engine = make_engine(prefix_cache="none", kv_pages=9, snapshots=8, stale_pages="zero", audit=True)
    for again in range(2):
        for number, prompt in enumerate(PROMPTS):
            engine.add(greedy(f"{again}-{number}", prompt, 20))
            answers, _ = run(engine)
            assert plain(prompt, 20) == answers[f"{again}-{number}"]
            engine.check()
    assert engine.snapshots is not None
    assert 0 < len(engine.snapshots) < 4


def test_the_state_row_decides_the_first_token(make_engine: Callable[..., Engine]) -> None:
    """One number of a saved row is made the largest: the restored request draws that token."""
    engine = make_engine(prefix_cache="none", snapshots=2)
    engine.add(greedy("prime", PROMPTS[0], 1))
    run(engine)
    assert engine.snapshots is not None
    snapshot_id = engine.snapshots.find(PROMPTS[0], Identity(model=engine.model_name))
    assert snapshot_id is not None
    first = engine.snapshots.row_span(snapshot_id).first + 4 * 77

    def corrupt(arena: torch.Tensor) -> None:
        arena.view(-1)[first : first + 4].view(torch.float32).fill_(1e9)

    engine.device.launch(engine.compute, corrupt, engine.arena.bytes, access=Compute("test", 0))
    engine.add(greedy("warm", PROMPTS[0], 2))
    answers, _ = run(engine)
    assert answers["warm"][0] == 77


def test_what_led_to_no_distribution_is_not_restored(make_engine: Callable[..., Engine]) -> None:
    """The prompt's snapshot goes with the request that was rejected."""
    engine = make_engine(prefix_cache="none", snapshots=2, overlap=False)
    forward = engine.model.forward

    def broken(*args: Any, **named: Any) -> torch.Tensor:
        return forward(*args, **named) * torch.nan

    engine.model.forward = broken  # type: ignore[method-assign]
    try:
        engine.add(greedy("prime", PROMPTS[0], 1))
        _, last = run(engine)
    finally:
        del engine.model.forward
    failed = last["prime"]
    assert isinstance(failed, Failed)
    assert ("invalid_distribution", 500) == (failed.code, failed.status)
    assert engine.snapshots is not None
    assert len(engine.snapshots) == 0
    engine.check()


@pytest.mark.parametrize("ended", ["restored", "aborted"])
def test_a_snapshot_stays_until_its_request_has_started(
    make_engine: Callable[..., Engine], ended: str
) -> None:
    """It is pinned while the tail is copied, and no longer: not by who restored it, nor by who went."""
    engine = make_engine(prefix_cache="none", snapshots=2, stage_copies=True, schedule="fifo")
    engine.add(greedy("prime", PROMPTS[0], 1))
    run(engine)
    assert engine.snapshots is not None
    engine.add(greedy("warm", PROMPTS[0], 4))
    engine.step()
    assert engine.snapshots.evict(100) == 0
    assert len(engine.snapshots) == 1
    if ended == "aborted":
        engine.abort("warm")
    else:
        engine.step()
        (request,) = engine.scheduler.running
        assert len(request.tokens) == request.prompt_tokens + 1
    assert engine.snapshots.evict(100) > 0
    assert len(engine.snapshots) == 0
    run(engine)
    engine.check()


@pytest.mark.parametrize("dedicated", [False, True])
@pytest.mark.parametrize("cache", ["none", "hash"])
def test_at_rest_every_page_is_free_cached_or_kept(make_engine, cache, dedicated):
    """The three gauges add up to the pool: nobody need wonder whether pages are lost."""
    engine = make_engine(
        kv_pages=40, prefix_cache=cache, snapshots=3, dedicated_snapshots=dedicated, retain=2, overlap=True
    )
    for number in range(5):
        engine.add(greedy(f"r{number}", [(7 * number + at) % 256 for at in range(20 + 9 * number)], 5))
    run(engine)
    stats = engine.stats()
    assert stats.kept_pages > 0
    # Rows of their own have a page, which is no page of the pool's any more.
    assert stats.free_pages + stats.cached_pages + stats.kept_pages == 39 - dedicated
