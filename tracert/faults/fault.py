"""A fault: a bug that can be planted in an assembled engine.

It wraps public methods of the engine's parts, as a wrong call would be written there. It never calls
the recorder and never raises a device error: what follows is the ordinary consequence.
"""

from collections.abc import Callable
from dataclasses import dataclass

from tracert.engine.step import Engine


@dataclass(frozen=True, slots=True)
class Fault:
    """`finding` is the code that the fault's history must be found guilty of; the reader never sees it."""

    name: str
    finding: str
    summary: str
    plant: Callable[[Engine], None]
