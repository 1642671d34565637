"""The room in which kernels keep what they need while they run. Knows nothing of pages or launches."""

import torch


class Scratch:
    """Room that kernels reuse from call to call. Its contents mean nothing between calls."""

    def __init__(self) -> None:
        self._rooms: dict[str, torch.Tensor] = {}

    def take(self, name: str, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
        """A tensor of undefined contents, over the same bytes as the last one of this name."""
        nbytes = dtype.itemsize
        for extent in shape:
            nbytes *= extent
        room = self._rooms.get(name)
        if room is None or room.numel() < nbytes:
            # Half as much again, so that contexts that grow by a token a step don't allocate each step.
            room = self._rooms[name] = torch.empty(nbytes + nbytes // 2, dtype=torch.uint8)
        return room[:nbytes].view(dtype).view(shape)
