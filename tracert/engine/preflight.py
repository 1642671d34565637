"""Which slices of a step are launched, where their scratch does not fit the workspace. Knows no sizes."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from tracert.engine.scheduler import Slice
from tracert.memory.errors import WorkspaceFull

Refuses = Callable[[Sequence[Slice]], WorkspaceFull | None]
"""Why a step of these slices would be refused; None when it would not."""


class Fitting(NamedTuple):
    """`slices` fit together; `refused` do not fit even alone. Others wait for a later step."""

    slices: list[Slice]
    refused: list[tuple[Slice, WorkspaceFull]]


def fitting(slices: list[Slice], refuses: Refuses) -> Fitting:
    """All slices when they fit; else as many as do, in their order."""
    if not slices or refuses(slices) is None:
        return Fitting(slices, [])
    found = Fitting([], [])
    for part in slices:
        why = refuses([part])
        if why is not None:
            found.refused.append((part, why))
        elif refuses([*found.slices, part]) is None:
            found.slices.append(part)
    return found
