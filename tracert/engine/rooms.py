"""Scratch of launches on one stream: planned, taken from the workspace, given back. Knows nothing of models.

A room is given back when the host has learnt that its launch ended. Where a launch does not fit because an
earlier one of the same stream has not been learnt yet, the earlier one's room is given back at once: the
stream orders the two. What then does not fit never will.
"""

from collections import deque
from collections.abc import Sequence

from tracert.device.device import Awaited, Device, Memory, Starved, Stream
from tracert.memory.errors import WorkspaceFull
from tracert.memory.workspace import Block, Workspace


class Room:
    """The scratch of one launch."""

    def __init__(self, rooms: "Rooms", launch: int, sizes: Sequence[int]) -> None:
        self._rooms = rooms
        self._launch = launch
        self._sizes = sizes
        self._blocks: list[Block] = []

    @property
    def argument(self) -> list[Memory] | Awaited:
        """What the launch gets: a piece of memory for each size that is not 0."""
        return self._memory() if self._blocks or not self._sizes else Awaited(self._arrive)

    def take(self) -> None:
        """WorkspaceFull when there is no room."""
        if self._sizes:
            self._blocks = self._rooms.workspace.take(self._launch, self._rooms.stream, self._sizes)

    def give_back(self) -> None:
        """The launch has ended, or nothing but what follows it on its stream can get the bytes."""
        for block in self._blocks:
            self._rooms.workspace.give_back(block)
        self._blocks = []

    def _memory(self) -> list[Memory]:
        return [block.memory for block in self._blocks]

    def _arrive(self) -> list[Memory]:
        try:
            self.take()
        except WorkspaceFull as full:
            raise Starved from full
        return self._memory()


class Rooms:
    """The rooms of the launches on `stream`. Without `preflight` launches wait on the device for theirs."""

    def __init__(self, workspace: Workspace, device: Device, stream: Stream, *, preflight: bool) -> None:
        self.workspace = workspace
        self.stream = stream
        self.preflight = preflight
        self._device = device
        self._taken: deque[Room] = deque()

    def refuses(self, nbytes: int) -> WorkspaceFull | None:
        """Why a launch that needs so much would be refused now; None when it would not."""
        if not self.preflight or self._fits(nbytes):
            return None
        return self.workspace.full(self._device.upcoming(), nbytes)

    def take(self, *sizes: int) -> Room:
        """The room of the next launch. WorkspaceFull, with preflight, when there is none."""
        launch = self._device.upcoming()
        room = Room(self, launch, [size for size in sizes if size])
        nbytes = sum(sizes)
        if nbytes:
            fits = self._fits(nbytes)
            self.workspace.plan(launch, self.stream, nbytes)
            if fits or self.preflight:
                room.take()
            self._taken.append(room)
        return room

    def give_back(self, rooms: Sequence[Room]) -> None:
        """The host has learnt that the launches ended that these are of."""
        for room in rooms:
            room.give_back()
            if room in self._taken:
                self._taken.remove(room)

    def _fits(self, nbytes: int) -> bool:
        if self.workspace.largest_room >= nbytes:
            return True
        while self._taken:
            self._taken.popleft().give_back()
        return self.workspace.largest_room >= nbytes
