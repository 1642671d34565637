"""Whether a kernel touches only what its launch declares."""

import zlib
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch


class Declared(NamedTuple):
    """One piece of memory, and which of its elements a launch declares to read and to write."""

    memory: torch.Tensor
    reads: torch.Tensor
    writes: torch.Tensor


def declared(memory: torch.Tensor) -> Declared:
    """Nothing declared yet."""
    none = torch.zeros(memory.shape, dtype=torch.bool)
    return Declared(memory, none, none.clone())


def checksum(memory: torch.Tensor, where: torch.Tensor) -> int:
    """Of the bytes of the elements named by a mask."""
    return zlib.crc32(memory[where].contiguous().view(torch.uint8).numpy().tobytes())


def written(memory: torch.Tensor, piece: Declared) -> torch.Tensor:
    """The bytes of the elements that a launch declares to write."""
    return memory[piece.writes].view(torch.uint8)


def assert_touches_only(pieces: Sequence[Declared], launch: Callable[..., None]) -> None:
    """`launch(*memories)` gives the same writes whatever the undeclared bytes hold, and keeps those.

    0xFF is NaN as any float and -1 as any integer; 0x55 is neither; 0x00 is what is often there.
    """
    results = []
    for poison in (0x00, 0xFF, 0x55):
        memories = []
        for piece in pieces:
            memory = piece.memory.clone()
            memory.view(torch.uint8).view(*memory.shape, -1)[~piece.reads] = poison
            memories.append(memory)
        kept = [checksum(memory, ~piece.writes) for memory, piece in zip(memories, pieces, strict=True)]
        launch(*memories)
        after = [checksum(memory, ~piece.writes) for memory, piece in zip(memories, pieces, strict=True)]
        assert kept == after
        results.append([written(memory, piece) for memory, piece in zip(memories, pieces, strict=True)])
        for piece, result in zip(pieces, results[-1], strict=True):
            if piece.writes.any():
                assert not torch.equal(result, written(piece.memory, piece)), "nothing was written"
    for other in results[1:]:
        for expected, actual in zip(results[0], other, strict=True):
            assert torch.equal(expected, actual)
