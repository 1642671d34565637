"""The room in which kernels keep what they need while they run. Knows nothing of pages or launches."""

import torch

ALIGNMENT = 64
"""Every tensor of a room starts at a multiple of so many bytes."""


class ScratchShort(RuntimeError):
    """A kernel needs more room than was planned for it: a fault of the plan, never of the request."""


class _Frame:
    """What was taken since the room's start: bytes by name, tensors by name and shape, and how much."""

    __slots__ = ("rooms", "used", "views")

    def __init__(self) -> None:
        self.rooms: dict[str, torch.Tensor] = {}
        self.views: dict[tuple[str, tuple[int, ...], torch.dtype], torch.Tensor] = {}
        self.used = 0


class Scratch:
    """Room that kernels reuse from call to call. Its contents mean nothing between calls.

    Over a `room` (uint8, one-dimensional) every tensor is a view of it, and one that does not fit is
    ScratchShort; without one, tensors get memory of their own, which is kept.
    """

    def __init__(self, room: torch.Tensor | None = None) -> None:
        self._room = room
        self._frames: dict[int, _Frame] = {}
        self._frame = self._frames[0] = _Frame()

    def frame(self, number: int) -> None:
        """From here on tensors are those of frame `number`, the first of which is 0.

        Frames begin at the start of the room, one over the other: what was taken in one is lost in the next,
        and a frame that comes back finds its tensors where they were. Without a room there is but one frame.
        """
        if self._room is not None:
            self._frame = self._frames.get(number) or self._frames.setdefault(number, _Frame())

    def take(self, name: str, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
        """A tensor of undefined contents, over the same bytes as the last one of this name and frame."""
        frame, key = self._frame, (name, shape, dtype)
        view = frame.views.get(key)
        if view is None:
            nbytes = dtype.itemsize
            for extent in shape:
                nbytes *= extent
            room = frame.rooms.get(name)
            if room is None or room.numel() < nbytes:
                room = frame.rooms[name] = self._more(name, nbytes)
                frame.views = {kept: view for kept, view in frame.views.items() if kept[0] != name}
            view = room[:nbytes].view(dtype).view(shape)
            if self._room is not None:
                frame.views[key] = view
        return view

    def _more(self, name: str, nbytes: int) -> torch.Tensor:
        if self._room is None:
            # Half as much again, so that contexts that grow by a token a step don't allocate each step.
            return torch.empty(nbytes + nbytes // 2, dtype=torch.uint8)
        start = self._frame.used
        room = self._room[start : start + nbytes]
        if room.numel() < nbytes:
            raise ScratchShort(
                f"{name} needs {nbytes} bytes of scratch; of {self._room.numel()} that were planned, "
                f"{room.numel()} are left"
            )
        self._frame.used += aligned(nbytes)
        return room


def aligned(nbytes: int) -> int:
    """The room that a tensor of so many bytes takes up."""
    return -(-nbytes // ALIGNMENT) * ALIGNMENT
