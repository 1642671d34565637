"""The execution workspace against a model of it: where blocks lie, what room is left, what is told."""

from itertools import pairwise

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tracert.device.device import Stream
from tracert.device.simulated import SimDevice
from tracert.memory.errors import InvariantError, LayoutError, WorkspaceFull
from tracert.memory.workspace import ALIGNMENT, LARGEST, Block, Workspace
from tracert.record.recorder import NullRecorder

STREAM = Stream(1, "compute", False)
UNITS = 16


class Teller(NullRecorder):
    """Keeps what is told of the workspace."""

    def __init__(self) -> None:
        self.told: list[tuple[str, tuple[int, ...]]] = []

    def __getattr__(self, name):
        if name.startswith("workspace_"):
            return lambda *args: self.told.append((name.removeprefix("workspace_"), args)) or len(self.told)
        return super().__getattr__(name)


def workspace(units: int = UNITS) -> tuple[Workspace, Teller]:
    """A workspace of so many units of ALIGNMENT."""
    teller = Teller()
    return Workspace(teller, SimDevice(NullRecorder()), units * ALIGNMENT), teller


def take(room: Workspace, launch: int, *units: int) -> list[Block]:
    """Blocks in units."""
    return room.take(launch, STREAM, [count * ALIGNMENT for count in units])


def test_blocks_lie_one_behind_the_other_and_an_empty_ring_begins_at_0():
    """The cursor goes on while anything is live, and rebases when nothing is."""
    room, _ = workspace()
    first, second = take(room, 1, 3, 2)
    (third,) = take(room, 2, 4)
    assert [0, 3, 5] == [block.offset // ALIGNMENT for block in (first, second, third)]
    room.give_back(first)
    room.give_back(second)
    assert take(room, 3, 2)[0].offset == 9 * ALIGNMENT
    for block in room.live():
        room.give_back(block)
    assert take(room, 4, 1)[0].offset == 0


def test_it_goes_around_and_passes_live_blocks_over():
    """What does not fit before the end goes to the start; a block that stays is passed over."""
    room, _ = workspace()
    kept = take(room, 1, 4, 2)
    room.give_back(kept[0])
    room.give_back(take(room, 2, 8)[0])
    assert take(room, 3, 4)[0].offset == 0, "2 units are left at the end"
    assert take(room, 4, 5)[0].offset == 6 * ALIGNMENT, "not before the end of the block that stays"


def test_room_in_two_pieces_is_no_room():
    """Free bytes are enough, no piece is; the error says how much, what is live, whose it is and how old."""
    room, _ = workspace()
    before, kept = take(room, 5, 6, 2)
    room.give_back(before)
    assert room.largest_room == 8 * ALIGNMENT
    with pytest.raises(WorkspaceFull) as full:
        take(room, 9, 10)
    message = str(full.value)
    assert "\n" not in message
    assert message.startswith(
        "launch 9 needs 640 bytes of workspace in one piece, and the largest room is 512 of 1024"
    )
    assert "launch 5, 4 launches ago, has not given 128 bytes at 384 back" in message
    assert room.live() == [kept], "nothing was taken"


def test_more_than_there_is_says_what_to_give():
    """No block is to blame: the option is named, with a size that suffices."""
    room, _ = workspace()
    assert "give --workspace 1088 or more, or lower --max-prefill-tokens" in str(room.full(1, 17 * ALIGNMENT))


def test_what_is_told():
    """Plan, blocks and their return, each with the capacity and the largest room after it."""
    room, teller = workspace()
    room.plan(7, STREAM, 5 * ALIGNMENT)
    first, second = take(room, 7, 3, 2)
    room.give_back(first)
    room.give_back(first)
    room.give_back(second)
    size = UNITS * ALIGNMENT
    assert teller.told == [
        ("plan", (7, 1, 320, size, size)),
        ("alloc", (7, 1, 0, 192, size, 13 * ALIGNMENT)),
        ("alloc", (7, 1, 192, 128, size, 11 * ALIGNMENT)),
        ("free", (7, 1, 0, 192, size, 11 * ALIGNMENT)),
        ("free", (7, 1, 192, 128, size, size)),
    ]
    assert (room.live_bytes, room.peak) == (0, 320)


@pytest.mark.parametrize("nbytes", [0, ALIGNMENT - 1, LARGEST + 1])
def test_sizes_that_cannot_be(nbytes):
    """One line, not a broken record."""
    with pytest.raises(LayoutError, match=f"a workspace of {nbytes} bytes cannot be"):
        Workspace(NullRecorder(), SimDevice(NullRecorder()), nbytes)


def test_check_finds_blocks_that_overlap():
    """The mutators never assert, so this does."""
    room, _ = workspace()
    (block,) = take(room, 1, 3)
    room._live.append(Block(2, 1, block.offset + ALIGNMENT, ALIGNMENT, block.memory))
    with pytest.raises(InvariantError, match="bytes 64 to 128 of launch 2"):
        room.check()


class Ring(RuleBasedStateMachine):
    """Any order of taking and giving back, against a map of units."""

    def __init__(self) -> None:
        super().__init__()
        self.room, _ = workspace()
        self.owner = [0] * UNITS
        self.blocks: dict[int, list[Block]] = {}
        self.launches = 0
        self.peak = 0

    def longest(self) -> int:
        """The longest run of free units."""
        return max(map(len, "".join("." if not owner else "#" for owner in self.owner).split("#")))

    @rule(units=st.lists(st.integers(1, 7), min_size=1, max_size=3))
    def take(self, units: list[int]) -> None:
        """Granted exactly when a run of free units is long enough, and never on a live one."""
        self.launches += 1
        if sum(units) > self.longest():
            with pytest.raises(WorkspaceFull):
                take(self.room, self.launches, *units)
            return
        blocks = take(self.room, self.launches, *units)
        assert [block.nbytes // ALIGNMENT for block in blocks] == units
        assert all(before.end == after.offset for before, after in pairwise(blocks))
        if not self.blocks:
            assert blocks[0].offset == 0
        for block in blocks:
            for unit in range(block.offset // ALIGNMENT, block.end // ALIGNMENT):
                assert self.owner[unit] == 0
                self.owner[unit] = self.launches
        self.blocks[self.launches] = blocks
        self.peak = max(self.peak, sum(map(bool, self.owner)))

    @precondition(lambda self: self.blocks)
    @rule(data=st.data())
    def give_back(self, data: st.DataObject) -> None:
        """One block of any launch, in any order."""
        launch = data.draw(st.sampled_from(sorted(self.blocks)))
        block = self.blocks[launch].pop(data.draw(st.integers(0, len(self.blocks[launch]) - 1)))
        if not self.blocks[launch]:
            del self.blocks[launch]
        self.room.give_back(block)
        for unit in range(block.offset // ALIGNMENT, block.end // ALIGNMENT):
            self.owner[unit] = 0

    @invariant()
    def agrees(self) -> None:
        """Room, live bytes, peak and the list of live blocks are the model's."""
        self.room.check()
        assert self.room.largest_room == self.longest() * ALIGNMENT
        assert self.room.live_bytes == sum(map(bool, self.owner)) * ALIGNMENT
        assert self.room.peak == self.peak * ALIGNMENT
        assert {block.launch for block in self.room.live()} == set(self.blocks)


TestRing = Ring.TestCase
TestRing.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
