"""The order in which the simulated device runs launches, against a brute-force model of the rules."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.device.programs import Act, Kind, Program, before, launches, orders, programs, run

SEEDS = st.integers(0, 2**40)
SCHEDULES = st.one_of(st.sampled_from(["eager", "fifo", "replay:"]), SEEDS.map("random:{}".format))
A = Act("launch", 3)
B = Act("launch", 4)


def reached(program: Program, seeds: int) -> set[tuple[int, ...]]:
    """The orders that the first seeds give."""
    return {run(program, f"random:{seed}").order for seed in range(seeds)}


@settings(max_examples=300, deadline=None)
@given(programs(), SCHEDULES)
def test_every_order_is_one_that_the_fences_allow(program: Program, schedule: str) -> None:
    """All launches run once, none before what it is ordered behind, and the host is told no lie."""
    ended = before([*program, Act("sync_all")])
    outcome = run(program, schedule)
    place = {index: position for position, index in enumerate(outcome.order)}
    answers = iter(outcome.answers)

    assert sorted(outcome.order) == launches(program)
    for index in launches(program):
        for earlier in ended[index]:
            if earlier in place:
                assert place[earlier] < place[index]
    for index, act in enumerate(program):
        done = set(outcome.order[: outcome.after[index]])
        needed = {earlier for earlier in ended[index] if program[earlier].kind == "launch"}
        if act.kind == "query":
            assert next(answers) == (needed <= done)
        elif act.kind.startswith("sync"):
            assert needed <= done


@settings(max_examples=60, deadline=None)
@given(programs(most=6, synchronising=False))
def test_seeds_reach_more_than_one_order_where_more_are_allowed(program: Program) -> None:
    """Forty seeds stay inside what the model enumerates and find at least two orders if there are two."""
    allowed = orders(program)
    found = reached(program, 40)

    assert found <= allowed
    assert len(found) >= min(2, len(allowed))


def test_seeds_reach_every_order() -> None:
    """Two launches on each of two streams interleave in all six ways; with a fence in all three left."""
    free = [A, A, B, B]
    fenced = [A, Act("record", 3), A, B, Act("wait", 4, 0), B]

    assert len(orders(free)) == 6
    assert reached(free, 200) == orders(free)
    assert reached(fenced, 200) == orders(fenced)
    assert len(orders(fenced)) == 5


def test_a_missing_fence_goes_wrong_for_some_seeds_and_never_with_it() -> None:
    """A consumer on another stream overtakes the producer, unless it waits."""
    bare = [A, Act("record", 3), B, Act("sync_stream", 4)]
    fenced = [A, Act("record", 3), Act("wait", 4, 0), B, Act("sync_stream", 4)]
    wrong = [seed for seed in range(60) if run(bare, f"random:{seed}").order == (2, 0)]

    assert 5 < len(wrong) < 55
    for seed in range(60):
        assert run(fenced, f"random:{seed}").order == (0, 3)
    for schedule in ("eager", "fifo"):
        assert run(bare, schedule).order == (0, 2)


def test_the_legacy_stream_orders_itself_with_blocking_streams_only() -> None:
    """For each pair of streams, whether a launch on the first is before a later one on the second."""
    legacy, blocking, other_blocking, free, other_free = range(5)
    ordered = {
        (legacy, legacy): True,
        (legacy, blocking): True,
        (blocking, legacy): True,
        (blocking, other_blocking): False,
        (legacy, free): False,
        (free, legacy): False,
        (blocking, free): False,
        (free, blocking): False,
        (free, other_free): False,
        (free, free): True,
    }
    for (first, second), expected in ordered.items():
        found = reached([Act("launch", first), Act("launch", second)], 60)
        assert found == ({(0, 1)} if expected else {(0, 1), (1, 0)}), (first, second)


def test_any_act_in_the_legacy_stream_orders_blocking_streams() -> None:
    """A launch, a record or a wait between two blocking streams' launches; not one in a free stream."""
    for between in (Act("launch", 0), Act("record", 0), Act("wait", 0, 0)):
        program = [Act("record", 4), Act("launch", 1), between, Act("launch", 2)]
        found = {tuple(i for i in order if i in (1, 3)) for order in reached(program, 60)}
        assert found == {(1, 3)}, between
    for between in (Act("launch", 3), Act("record", 3), Act("wait", 1, 0)):
        program = [Act("record", 4), Act("launch", 1), between, Act("launch", 2)]
        found = {tuple(i for i in order if i in (1, 3)) for order in reached(program, 60)}
        assert found == {(1, 3), (3, 1)}, between


def test_a_synchronise_of_the_legacy_stream_waits_for_blocking_streams_only() -> None:
    """Whatever the seed, blocking streams are empty then; a free one need not be."""
    program = [Act("launch", 1), Act("launch", 3), Act("launch", 2), Act("sync_stream", 0)]
    left = set()
    for seed in range(60):
        outcome = run(program, f"random:{seed}")
        done = set(outcome.order[: outcome.after[3]])
        assert done >= {0, 2}
        left.add(1 in done)

    assert left == {True, False}


@pytest.mark.parametrize("behind", ["launch", "record", "wait"])
def test_a_synchronise_of_a_blocking_stream_waits_for_what_is_in_it(behind: Kind) -> None:
    """For the legacy launch only when something stands behind that; and then for what it waited for, too."""
    idle = [Act("record", 4), Act("launch", 2), Act("launch", 0), Act("sync_stream", 1)]
    given_more = [*idle[:3], Act(behind, 1, 0), idle[3]]
    left = set()
    for seed in range(60):
        outcome = run(idle, f"random:{seed}")
        left.add(2 in outcome.order[: outcome.after[3]])
        outcome = run(given_more, f"random:{seed}")
        assert {1, 2} <= set(outcome.order[: outcome.after[4]])

    assert left == {True, False}


@settings(max_examples=200, deadline=None)
@given(programs(), SCHEDULES)
def test_what_was_printed_replays_byte_for_byte(program: Program, schedule: str) -> None:
    """Same order, same progress after each act, same answers and data, and the same text again."""
    first = run(program, schedule)
    again = run(program, first.schedule)

    assert again == first
    assert again.diverged is None


@settings(max_examples=200, deadline=None)
@given(programs(), programs(), SEEDS)
def test_any_replay_runs_any_program(program: Program, other: Program, seed: int) -> None:
    """A text printed by another program breaks no rule: it only diverges."""
    outcome = run(program, run(other, f"random:{seed}").schedule)
    ended = before(program)
    place = {index: position for position, index in enumerate(outcome.order)}

    assert sorted(outcome.order) == launches(program)
    for index in launches(program):
        assert all(place[earlier] < place[index] for earlier in ended[index] if earlier in place)


def test_a_replay_with_one_more_fence_keeps_the_rest() -> None:
    """The consumer is held back behind its producer; what else ran early or late still does."""
    bare = [A, Act("record", 3), B, Act("launch", 1), Act("sync_stream", 4), A, A, Act("sync_stream", 1)]
    text = "replay:....e..2d.b.d"
    wrong = run(bare, text)
    fenced = [*bare[:2], Act("wait", 4, 0), *bare[2:]]
    right = run(fenced, text)

    assert (wrong.order, wrong.schedule, wrong.diverged) == ((2, 0, 5, 3, 6), "replay:4.e2.2d.b.d", None)
    assert (right.order, right.schedule, right.diverged) == ((0, 3, 6, 4, 7), "replay:4.de2.d.b.d", 4)


def test_a_stream_can_starve_through_many_synchronises() -> None:
    """Some seed leaves one launch behind while a hundred others are launched and waited for."""
    program = [A, *[B, Act("sync_stream", 4)] * 100]
    behind = [seed for seed in range(200) if run(program, f"random:{seed}").order[-1] == 0]

    assert 0 < len(behind) < 40
