"""The weights of `tiny-random`: drawn from a seed, the same in every process. No file, no download."""

import math
import zlib

import torch

SEED = 20
GAIN = 1.6
"""Above 1, so that what attention finds outweighs the last token, and different prompts go different ways."""
PRINTABLE = range(0x20, 0x7F)


class RandomReader:
    """A `TensorReader` whose tensors depend on their name, shape and the seed alone."""

    def __init__(self, seed: int = SEED) -> None:
        self._seed = seed

    def __call__(self, name: str, shape: tuple[int, ...]) -> torch.Tensor:
        """float32. Norm weights are 1; the head's rows for all but printable ASCII are 0.

        A row of zeros yields a logit of 0, which never is the highest: greedy text is readable and runs on
        until it is long enough, while sampling may still draw anything, the end of the sequence included.
        """
        if len(shape) == 1:
            return torch.ones(shape)
        generator = torch.Generator().manual_seed(zlib.crc32(name.encode()) ^ self._seed)
        drawn = torch.randn(shape, generator=generator)
        if name == "model.embed_tokens.weight":
            return drawn
        drawn *= GAIN / math.sqrt(shape[1])
        if name == "lm_head.weight":
            drawn[: PRINTABLE.start] = 0.0
            drawn[PRINTABLE.stop :] = 0.0
        return drawn
