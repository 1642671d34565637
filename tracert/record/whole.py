"""Which records of a copied ring are whole: in C where it was built, else with numpy; the same records.

A record is whole when each of its slots belongs where it lies, follows the one before, and was the same
before and in the copy; and when its checksum is right, if it has one.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tracert.record.checksum import fold, slot_hashes
from tracert.record.ring import native_writer
from tracert.record.schema import BYTES_A_SLOT, FORM_JSON, FORM_WORDS, PAYLOAD_BIT, WORDS_A_SLOT

Index = NDArray[np.int64]


class Whole(NamedTuple):
    """The seqs of the first and of the last slot of records, in the order in which they lie."""

    first: Index
    last: Index


def whole(
    slots: NDArray[np.void], seqs: NDArray[np.uint64] | None, *, checked: bool, native: bool | None = None
) -> Whole:
    """The whole records among `slots` ([a power of two], dtype `layout.SLOT`).

    `seqs` are those that the slots had before they were copied, None when nobody wrote to them meanwhile;
    `checked` says that records have checksums. `native` None takes C when it was built.
    """
    if native_writer() if native is None else native:
        from tracert.record._ring import whole as find

        first, last = np.empty((2, len(slots)), np.int64)
        found = find(slots, seqs, checked, first, last)
        return Whole(first[:found], last[:found])
    return _whole(slots, slots["seq"] if seqs is None else seqs, checked=checked)


def _whole(slots: NDArray[np.void], seqs: NDArray[np.uint64], *, checked: bool) -> Whole:
    count = len(slots)
    mask = np.int64(count - 1)
    is_payload = (seqs & np.uint64(PAYLOAD_BIT)) != 0
    number = (seqs & np.uint64(PAYLOAD_BIT - 1)).astype(np.int64)
    stable = (number > 0) & (((number - 1) & mask) == np.arange(count)) & (slots["seq"] == seqs)
    heads = np.flatnonzero(stable & ~is_payload)
    more = _payload_slots(slots[heads])
    heads, more = _those(more <= count // 2, heads, more)
    # The last slot first: few records that lost slots still have it, and it keeps what follows small.
    tail = (heads + more) & mask
    there = stable[tail] & is_payload[tail] & (number[tail] == number[heads] + more)
    heads, more = _those((more == 0) | there, heads, more)
    follow = ragged(heads + 1, more) & mask
    right = stable[follow] & is_payload[follow] & (number[follow] == ragged(number[heads] + 1, more))
    accepted = _sums(right.astype(np.uint64), more) == more.astype(np.uint64)
    if checked:
        hashes = slot_hashes(slots.view(np.uint64).reshape(-1, 8), ~is_payload)
        sums = hashes[heads] + _sums(hashes[follow], more)
        accepted &= fold(sums) == slots["sum"][heads]
    heads, more = _those(accepted, heads, more)
    return Whole(number[heads], number[heads] + more)


def _those(chosen: NDArray[np.bool_], *columns: Index) -> list[Index]:
    return [column[chosen] for column in columns]


def _payload_slots(heads: NDArray[Any]) -> Index:
    """How many slots of payload follow each record."""
    form, amount = heads["flags"] & 3, heads["count"].astype(np.int64)
    words, text = -(-amount // WORDS_A_SLOT), -(-amount // BYTES_A_SLOT)
    return np.where(form == FORM_WORDS, words, np.where(form == FORM_JSON, text, 0)).astype(np.int64)


def ragged(starts: Index, lengths: Index) -> Index:
    """`starts[i], starts[i] + 1, ...`, `lengths[i]` numbers each, one after the other."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(starts - (ends - lengths), lengths) + np.arange(total, dtype=np.int64)


def _sums(values: NDArray[np.uint64], lengths: Index) -> NDArray[np.uint64]:
    """Sums of consecutive runs of `lengths` values, 0 for an empty run; modulo 2**64."""
    running = np.zeros(len(values) + 1, np.uint64)
    np.cumsum(values, out=running[1:])
    ends = np.cumsum(lengths)
    sums: NDArray[np.uint64] = running[ends] - running[ends - lengths]
    return sums
