"""A scenario: a workload that provokes one fault, and the engine that it needs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tracert.scenarios.workload import Workload


@dataclass(frozen=True, slots=True)
class Scenario:
    """`variants` are the ways it can end: engine options for each, by name; the first is the usual one."""

    name: str
    summary: str
    fault: str
    workload: Workload
    options: Mapping[str, Any]
    """Engine options that every variant shares."""
    variants: Mapping[str, Mapping[str, Any]]

    @property
    def usual(self) -> str:
        """The variant that runs when none is named."""
        return next(iter(self.variants))
