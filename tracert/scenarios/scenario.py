"""A scenario: a workload that provokes one fault, and the engine that it needs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tracert.scenarios.workload import Workload

Ending = Literal["crash", "failure", "silent", "clean"]
"""The device fails and with it the engine; a request fails and the engine goes on; nothing is seen but,
perhaps, wrong answers; nothing is wrong."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One engine under the scenario's workload: its options beside the shared ones, and how it ends.

    `fault` is another fault than the scenario's: wrong fixes are faults of their own.
    """

    options: Mapping[str, Any] = field(default_factory=dict)
    ends: Ending = "crash"
    fault: str | None = None
    note: str = ""
    """What it shows, in a few words."""
    workload: Workload | None = None
    """Another than the scenario's, for what that does not provoke."""


@dataclass(frozen=True, slots=True)
class Reproducer:
    """A workload, with the engine that it needs, whose answers look right although the fault is planted."""

    workload: Workload
    options: Mapping[str, Any] = field(default_factory=dict)
    """Over those of the scenario and its variant."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Scenario:
    """`variants` are the ways it can end, by name; the first is the usual one."""

    name: str
    summary: str
    fault: str
    workload: Workload
    options: Mapping[str, Any]
    """Engine options that every variant shares."""
    variants: Mapping[str, Variant]
    controls: Mapping[str, Workload] = field(default_factory=dict)
    """Other workloads that must go well with the same fault planted."""
    reproducers: Mapping[str, Reproducer] = field(default_factory=dict)
    """Other workloads in which the fault is not seen, but must be proven."""

    @property
    def usual(self) -> str:
        """The variant that runs when none is named."""
        return next(iter(self.variants))
