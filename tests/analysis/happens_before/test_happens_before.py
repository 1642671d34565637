"""The clocks tell which launch is before which: by hand, and against reachability on random programs."""

import random

import pytest
from tracert_analysis.channels import CHANNELS_MAX, Channels, Told
from tracert_analysis.happens_before import launched, passed, recorded, segments, waited

from tests.analysis.happens_before.program import Program
from tests.some import a_few


def test_one_stream_is_in_order() -> None:
    """What is launched later on a stream starts later."""
    program = Program()
    a, b = program.launch(1), program.launch(1)
    assert program.before(a, b)
    assert not program.before(b, a)


def test_two_streams_are_not_in_order() -> None:
    """Nothing orders launches of two streams by itself, however far apart."""
    program = Program()
    a = program.launch(1)
    for _ in range(5):
        program.launch(2)
    assert not program.before(a, program.launch(2))


def test_a_wait_orders_what_follows_it() -> None:
    """A record on one stream and a wait on the other order what is before the one and behind the other."""
    program = Program()
    a = program.launch(1)
    fence = program.record(1)
    behind_record = program.launch(1)
    before_wait = program.launch(2)
    program.wait(2, fence)
    b = program.launch(2)
    assert program.before(a, b)
    assert not program.before(behind_record, b)
    assert not program.before(a, before_wait)


def test_a_record_alone_orders_nothing() -> None:
    """A fence that nobody waits for is no edge."""
    program = Program()
    a = program.launch(1)
    program.record(1)
    assert not program.before(a, program.launch(2))


def test_a_wait_on_the_wrong_stream_orders_nothing() -> None:
    """As in ninfer #210: the fence stands on a stream that the publish was not launched on."""
    program = Program()
    publish = program.launch(0)
    program.wait(1, program.record(2))
    assert not program.before(publish, program.launch(1))


def test_order_passes_on_through_a_third_stream() -> None:
    """A waits for B, B waits for C: A is after C."""
    program = Program(width=4)
    a = program.launch(1)
    program.wait(2, program.record(1))
    program.launch(2)
    program.wait(3, program.record(2))
    assert program.before(a, program.launch(3))


def test_order_passes_on_through_a_stream_without_launches() -> None:
    """A wait counts for a fence recorded behind it, even when nothing was launched in between."""
    program = Program(width=4)
    a = program.launch(1)
    program.wait(2, program.record(1))
    program.wait(3, program.record(2))
    assert program.before(a, program.launch(3))


def test_a_wait_counts_for_the_record_that_it_names() -> None:
    """A second record of the stream later on doesn't reach back into a wait for the first."""
    program = Program()
    first = program.record(1)
    a = program.launch(1)
    program.record(1)
    program.wait(2, first)
    assert not program.before(a, program.launch(2))


@pytest.mark.parametrize("how", ["fence", "stream", "device"])
def test_what_the_host_waited_for_is_before_all_it_launches(how: str) -> None:
    """A synchronise, or a query that says yes, orders every later launch on any stream."""
    program = Program()
    a = program.launch(1)
    fence = program.record(1)
    early = program.launch(2)
    if how == "fence":
        program.sync(fence)
    elif how == "stream":
        program.sync_stream(1)
    else:
        program.sync_all()
    assert program.before(a, program.launch(2))
    assert program.before(a, program.launch(0))
    assert not program.before(a, early)


def test_a_sync_of_a_fence_is_no_sync_of_its_stream() -> None:
    """What was launched behind the fence is still open."""
    program = Program()
    fence = program.record(1)
    a = program.launch(1)
    program.sync(fence)
    assert not program.before(a, program.launch(2))


def test_a_sync_of_another_stream_orders_nothing() -> None:
    """The host learned of stream 2, not of stream 1."""
    program = Program()
    a = program.launch(1)
    program.launch(2)
    program.sync_stream(2)
    assert not program.before(a, program.launch(2))


def test_a_sync_tells_of_what_its_stream_waited_for() -> None:
    """Stream 2 waited for stream 1: the host that waited for 2 has waited for that, too."""
    program = Program(width=4)
    a = program.launch(1)
    program.wait(2, program.record(1))
    program.launch(2)
    program.sync_stream(2)
    assert program.before(a, program.launch(3))


def test_a_sync_tells_of_a_wait_with_nothing_behind_it() -> None:
    """A stream is done when its waits are, too."""
    program = Program(width=4)
    a = program.launch(1)
    program.wait(2, program.record(1))
    program.sync_stream(2)
    assert program.before(a, program.launch(3))


def test_an_old_fence_tells_nothing_new() -> None:
    """Learning once more that an early fence has passed says nothing of what came since."""
    program = Program()
    fence = program.record(1)
    program.sync(fence)
    a = program.launch(1)
    program.sync(fence)
    assert not program.before(a, program.launch(2))


def test_legacy_waits_for_blocking_streams() -> None:
    """A launch in the legacy stream comes after all that blocking streams were given before."""
    program = Program(blocking=frozenset({1}))
    a = program.launch(1)
    b = program.launch(0)
    assert program.before(a, b)


def test_blocking_streams_wait_for_legacy() -> None:
    """And what they are given later comes after it."""
    program = Program(blocking=frozenset({1}))
    a = program.launch(0)
    assert program.before(a, program.launch(1))


def test_blocking_streams_are_not_ordered_among_themselves() -> None:
    """Only an act in the legacy stream stands between them."""
    program = Program(blocking=frozenset({1, 2}))
    a = program.launch(1)
    assert not program.before(a, program.launch(2))


def test_legacy_joins_blocking_streams() -> None:
    """With one, they are."""
    program = Program(blocking=frozenset({1, 2}))
    a = program.launch(1)
    program.launch(0)
    assert program.before(a, program.launch(2))


@pytest.mark.parametrize("stream", [1, 2])
def test_streams_that_do_not_block_are_exempt(stream: int) -> None:
    """Neither side of the legacy stream's rule holds for them: this is ninfer #210."""
    program = Program()
    a = program.launch(0)
    b = program.launch(stream)
    c = program.launch(0)
    assert not program.before(a, b)
    assert not program.before(b, c)


def test_a_record_in_legacy_covers_blocking_streams() -> None:
    """The fence stands behind all that blocking streams were given."""
    program = Program(blocking=frozenset({1}))
    a = program.launch(1)
    program.wait(2, program.record(0))
    assert program.before(a, program.launch(2))


def test_a_wait_in_legacy_holds_blocking_streams() -> None:
    """What blocking streams are given behind it waits for the fence, too."""
    program = Program(blocking=frozenset({1}))
    a = program.launch(2)
    program.wait(0, program.record(2))
    assert program.before(a, program.launch(1))


def test_a_record_on_a_blocking_stream_covers_legacy() -> None:
    """A blocking stream's fence stands behind the legacy stream's earlier acts."""
    program = Program(blocking=frozenset({1}))
    a = program.launch(0)
    program.wait(2, program.record(1))
    assert program.before(a, program.launch(2))


def test_a_sync_of_legacy_is_one_of_blocking_streams() -> None:
    """And of no other."""
    program = Program(width=4, blocking=frozenset({1}))
    a, b = program.launch(1), program.launch(2)
    program.sync_stream(0)
    c = program.launch(3)
    assert program.before(a, c)
    assert not program.before(b, c)


def test_a_sync_of_a_blocking_stream_is_one_of_legacy() -> None:
    """The blocking stream waited for it."""
    program = Program(width=4, blocking=frozenset({1}))
    a = program.launch(0)
    program.sync_stream(1)
    assert program.before(a, program.launch(3))


def test_order_through_legacy_between_other_streams() -> None:
    """From a non-blocking stream into legacy by a fence, out of it by its rule."""
    program = Program(width=4, blocking=frozenset({1, 2}))
    a = program.launch(3)
    program.wait(1, program.record(3))
    program.launch(1)
    program.launch(0)
    assert program.before(a, program.launch(2))


def test_a_beginning_that_is_lost_makes_no_order_up() -> None:
    """Waits and syncs for fences before the history tell of nothing in it; ordinals go on where they were."""
    found = segments(
        [
            waited(100, 1, 7),
            passed(101, fence=3),
            launched(102, 1, 50),
            recorded(103, 9, 1, 50),
            waited(104, 2, 103),
            launched(105, 2, 20),
        ],
        [],
        3,
    )
    assert ([102, 105], [1, 2], [(0, 0, 0), (0, 50, 0)]) == found


def test_a_wait_that_names_no_record_is_for_where_the_fence_stands() -> None:
    """What isn't told is taken for what the call would have done; where it was told, that counts."""
    acts = [launched(1, 1, 1), recorded(2, 9, 1, 1), launched(3, 1, 2), recorded(4, 9, 1, 2)]
    told = segments([*acts, waited(5, 2, 2, fence=9), launched(6, 2, 1)], [], 3)
    untold = segments([*acts, waited(5, 2, -1, fence=9), launched(6, 2, 1)], [], 3)
    assert ((0, 1, 0), (0, 2, 0)) == (told.clock[-1], untold.clock[-1])


def test_an_act_of_an_external_writer_takes_a_channel_on_which_all_is_done() -> None:
    """Two at once stand on two channels; the third follows the one completed; nothing ends a lost one."""
    told = [
        Told(0, "external_done", "external:nic", 2),
        Told(1, "external_begin", "external:nic", 1),
        Told(2, "external_begin", "external:nic", 2),
        Told(3, "external_done", "external:nic", 2),
        Told(4, "external_begin", "external:nic", 3),
        Told(5, "external_begin", "external:disk", 3),
        Told(6, "host_write", "host", None),
        Told(7, "host_write", "host", None),
    ]
    channels = Channels(told, 3)
    assert [
        (1, 3, 1, "external:nic", None),
        (2, 4, 1, "external:nic", 3),
        (4, 4, 2, "external:nic", None),
        (5, 5, 1, "external:disk", None),
        (6, 6, 1, "host", 6),
        (7, 6, 2, "host", 7),
    ] == [(act.seq, act.stream, act.ordinal, act.actor, act.done_seq) for act in channels.found]
    assert 4 == channels.width


def test_acts_beyond_the_last_channel_are_left_out() -> None:
    """They have no clock; the reader says that it doesn't know of them."""
    told = [Told(seq, "external_begin", "external:nic", seq) for seq in range(1, CHANNELS_MAX + 3)]
    channels = Channels(told, 3)
    assert CHANNELS_MAX == channels.width == len(channels.found) == len(channels.acts)


def random_program(draw: random.Random) -> Program:
    """A short program over a few streams, some of them blocking, with writers that have none."""
    width = draw.randint(2, 4)
    blocking = frozenset(stream for stream in range(1, width) if draw.random() < 0.4)
    program = Program(width=width, blocking=blocking)
    fences = [program.fence() for _ in range(draw.randint(0, 1))]
    begun: list[int] = []
    for _ in range(draw.randint(4, 18)):
        stream = draw.randrange(width)
        match draw.choice("LLLLRRRWWSSQDHBBE"):
            case "L":
                program.launch(stream)
            case "R":
                again = draw.choice(fences) if fences and draw.random() < 0.3 else None
                fences.append(program.record(stream, again))
            case "W" if fences:
                program.wait(stream, draw.choice(fences))
            case "S" if fences:
                program.sync(draw.choice(fences))
            case "Q":
                program.sync_stream(stream)
            case "D" if draw.random() < 0.5:
                program.sync_all()
            case "H":
                program.host_write()
            case "B":
                begun.append(program.begin())
            case "E" if begun:
                program.end(begun.pop(draw.randrange(len(begun))))
    return program


@pytest.mark.parametrize("seed", a_few(4, range(20)))
def test_clocks_agree_with_reachability(seed: int) -> None:
    """500 random programs a seed, 10,000 in all: job by job, clocks and graph give the same order."""
    draw = random.Random(seed)
    pairs = 0
    for number in range(500):
        program = random_program(draw)
        expected = program.reaches()
        found = [
            sum(1 << a for a in range(len(expected)) if a != b and program.before(a, b))
            for b in range(len(expected))
        ]
        assert expected == found, f"program {number} of seed {seed}: {program.steps}"
        pairs += sum(bits.bit_count() for bits in expected)
    assert pairs > 2000
