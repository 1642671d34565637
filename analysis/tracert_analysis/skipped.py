"""Positions that a request's launches left out: one starts behind where those before it had come to.

A row's uses in one generation compute the positions of one sequence, each from where the others ended or
before. What lies between is read as valid from then on, and no launch computed it; whether something else
put bytes there is not for this module to say.
"""

from typing import NamedTuple

import numpy as np

from tracert_analysis.touch import Ints, Uses

SKIPS_MAX = 1024
"""That many are enough to see which came first."""


class Skips(NamedTuple):
    """Positions `first` up to `end` of the sequence, which the use at `use` starts behind."""

    use: Ints
    before: Ints
    """The use before it that had come furthest: to `first`."""
    first: Ints
    end: Ints


def skips(uses: Uses) -> Skips:
    """What is left out within a generation of a row, by seq; `uses` are sorted as `Uses` says."""
    same = (uses.row[1:] == uses.row[:-1]) & (uses.generation[1:] == uses.generation[:-1])
    # On another stream the one before in this list is not the one before in time.
    jumps = (uses.stream[1:] != uses.stream[:-1]) | (uses.start[1:] > uses.end[:-1])
    at = np.flatnonzero(same & jumps) + 1
    heads = np.r_[0, np.flatnonzero(~same) + 1, len(uses.seq)]
    found: list[tuple[int, int, int, int]] = []
    for use in at[np.argsort(uses.seq[at], kind="stable")].tolist():
        place = int(np.searchsorted(heads, use, side="right"))
        tenancy = slice(int(heads[place - 1]), int(heads[place]))
        earlier = (uses.seq[tenancy] < uses.seq[use]) & (uses.end[tenancy] > uses.start[tenancy])
        before = np.flatnonzero(earlier) + tenancy.start
        if not len(before):
            continue
        furthest = int(before[np.argmax(uses.end[before])])
        first, end = int(uses.end[furthest]), int(uses.start[use])
        if first < end:
            found.append((use, furthest, first, end))
        if len(found) >= SKIPS_MAX:
            break
    return Skips(*np.array(found, np.int64).reshape(-1, 4).T)
