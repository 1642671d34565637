"""The checksum of a record, over many records at once.

Each slot is hashed by itself, with its seq, by multiply-xor over seven 64-bit words (the record's own
checksum counts as zero); an event's checksum is the sum of its slots' hashes, folded to 32 bits. So a
flipped bit, a slot of another lap and two slots exchanged are all found. `_ring.c` computes the same.
"""

import numpy as np
from numpy.typing import NDArray

SEED = 0x9E3779B97F4A7C15
MULTIPLIER = 0xD6E8FEB86659FD93
CHUNK = 1 << 14
"""Slots a pass: a megabyte, which stays in the cache."""

U64 = NDArray[np.uint64]


def slot_hashes(slots: U64, is_head: NDArray[np.bool_]) -> U64:
    """The hash of every slot. `slots`: [n, 8] words; `is_head`: [n], false for payload."""
    hashes = np.empty(len(slots), np.uint64)
    seed, multiplier = np.uint64(SEED), np.uint64(MULTIPLIER)
    everything, without_sum = np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64(0xFFFFFFFF)
    for start in range(0, len(slots), CHUNK):
        part = slots[start : start + CHUNK]
        value = part[:, 7] ^ seed
        for column in range(6):
            value ^= part[:, column]
            value *= multiplier
        value ^= part[:, 6] & np.where(is_head[start : start + CHUNK], without_sum, everything)
        value *= multiplier
        value ^= value >> np.uint64(29)
        hashes[start : start + CHUNK] = value
    return hashes


def fold(sums: U64) -> NDArray[np.uint32]:
    """Sums of hashes to the 32 bits that a record carries."""
    return ((sums ^ (sums >> np.uint64(32))) & np.uint64(0xFFFFFFFF)).astype(np.uint32)
