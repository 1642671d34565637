"""Schedules on their own: what they pick among ready streams."""

from itertools import groupby

import pytest

from tracert.device.replay import ScheduleError
from tracert.device.schedule import Call, Eager, Fifo, Random, Replay, Schedule, parse_schedule


def here(stream: int) -> int | None:
    """Nothing brings a stream nearer."""
    return None


def picks(schedule: Schedule, call: Call, ready: dict[int, int], most: int = 10) -> list[int]:
    """What one call runs when the same streams stay ready."""
    schedule.begin(call)
    picked: list[int] = []
    while len(picked) < most and (stream := schedule.pick(ready, here)) is not None:
        picked.append(stream)
    return picked


def test_names_are_parsed() -> None:
    """Each form gives its schedule."""
    forms = {
        "eager": Eager,
        "fifo": Fifo,
        "random:0": Random,
        "random:123456789": Random,
        "replay:.b": Replay,
    }

    for text, expected in forms.items():
        assert type(parse_schedule(text)) is expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "unknown schedule ''; use eager, fifo, random:SEED or replay:STRING"),
        ("Eager", "unknown schedule 'Eager'; use eager, fifo, random:SEED or replay:STRING"),
        ("random", "unknown schedule 'random'; use eager, fifo, random:SEED or replay:STRING"),
        ("random:", "schedule 'random:': the seed must be a whole number, as in random:7"),
        ("random:-1", "schedule 'random:-1': the seed must be a whole number, as in random:7"),
        ("random:²", "schedule 'random:²': the seed must be a whole number, as in random:7"),
        ("random:1e3", "schedule 'random:1e3': the seed must be a whole number, as in random:7"),
        ("replay:?", "replay: nothing is meant by '?' at character 8; use the text as a run printed it"),
    ],
)
def test_a_bad_name_is_one_clear_line(text: str, message: str) -> None:
    """What is wrong and what would be right."""
    with pytest.raises(ScheduleError) as error:
        parse_schedule(text)

    assert str(error.value) == message


def test_eager_and_fifo_keep_the_order_of_submission() -> None:
    """The earliest launch first: eager always, fifo as late as the call allows."""
    ready = {1: 9, 2: 4, 3: 7}

    assert picks(Eager(), "launch", ready) == [2] * 10
    assert picks(Fifo(), "launch", ready) == []
    assert picks(Fifo(), "query", ready) == [2]
    assert picks(Fifo(), "sync", ready) == [2] * 10


def test_random_repeats_itself_and_differs_by_seed() -> None:
    """The same seed gives the same draws; these two seeds do not."""

    def draws(seed: int) -> list[list[int]]:
        schedule = Random(seed)
        calls: list[Call] = ["launch", "query", "sync"]
        return [picks(schedule, call, {1: 1, 2: 2, 3: 3}) for call in calls * 20]

    assert draws(5) == draws(5)
    assert draws(5) != draws(6)


def test_random_never_leaves_a_sync_and_its_device_falls_behind_or_keeps_up() -> None:
    """Some stretches of launches run nothing, some much; a sync always goes on."""
    schedule = Random(1)
    ran = [len(picks(schedule, "launch", {1: 1}, most=50)) for _ in range(2000)]
    windows = [sum(ran[start : start + 20]) for start in range(0, 2000, 20)]

    assert len(picks(schedule, "sync", {1: 1, 2: 2}, most=5000)) == 5000
    assert min(windows) == 0
    assert max(windows) > 40


def test_random_starves_a_stream_and_favours_none_for_good() -> None:
    """In a sync, runs of one stream past a hundred occur, yet over all draws both get a fair share."""
    schedule = Random(2)
    picked = picks(schedule, "sync", {1: 1, 2: 2}, most=20000)
    longest = max(sum(1 for _ in run) for _, run in groupby(picked))

    assert 100 < longest < 1000
    assert 0.35 < picked.count(1) / len(picked) < 0.65


def test_replay_takes_its_turns_and_then_goes_on_as_fifo() -> None:
    """Each call runs its own turns; past the end a query runs one launch and a sync what it needs."""
    replay = Replay([[], [2, 1], [2]])
    ready = {1: 1, 2: 2}

    assert picks(replay, "launch", ready) == []
    assert picks(replay, "query", ready) == [2, 1]
    assert picks(replay, "launch", ready) == [2]
    assert replay.diverged is None
    assert picks(replay, "launch", ready) == []
    assert picks(replay, "query", ready) == [1]
    assert picks(replay, "sync", ready) == [1] * 10
    assert replay.diverged is None


def test_replay_tells_where_it_did_not_fit() -> None:
    """A turn that nothing brings nearer is left out, and the call is named."""
    replay = Replay([[], [3, 1]])

    assert picks(replay, "launch", {1: 1}) == []
    assert picks(replay, "launch", {1: 1}) == [1]
    assert replay.diverged == 2


def test_replay_lets_a_sync_go_on_when_its_turns_are_over() -> None:
    """A program that needs more than was printed gets it, and it is told."""
    replay = Replay([[1]])

    assert picks(replay, "sync", {1: 1, 2: 2}, most=3) == [1, 1, 1]
    assert replay.diverged == 1
