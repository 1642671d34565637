"""Every scenario by its name."""

from dataclasses import dataclass
from typing import Any

from tracert.scenarios.ninfer_staging_reuse import NINFER_STAGING_REUSE
from tracert.scenarios.ninfer_unordered_publish import NINFER_UNORDERED_PUBLISH
from tracert.scenarios.prefill_walks_past_row import PREFILL_WALKS_PAST_ROW
from tracert.scenarios.scenario import Ending, Scenario, Variant
from tracert.scenarios.workload import Workload

SCENARIOS: dict[str, Scenario] = {
    scenario.name: scenario
    for scenario in (NINFER_UNORDERED_PUBLISH, NINFER_STAGING_REUSE, PREFILL_WALKS_PAST_ROW)
}


class UnknownScenario(ValueError):
    """A name, a variant or a control that is none; the message lists those that are."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """One of a scenario's engines with one of its workloads."""

    scenario: Scenario
    variant_name: str
    control: str | None

    @property
    def variant(self) -> Variant:
        """The engine."""
        return self.scenario.variants[self.variant_name]

    @property
    def workload(self) -> Workload:
        """The scenario's own, or the control's."""
        return self.scenario.controls[self.control] if self.control else self.scenario.workload

    @property
    def fault(self) -> str:
        """The bug to plant."""
        return self.variant.fault or self.scenario.fault

    @property
    def options(self) -> dict[str, Any]:
        """Engine options: the scenario's, and over them the variant's."""
        return {**self.scenario.options, **self.variant.options}

    @property
    def ends(self) -> Ending:
        """How it goes with the fault planted: a control goes well."""
        return "clean" if self.control else self.variant.ends

    @property
    def label(self) -> str:
        """A name for files."""
        return "-".join(filter(None, (self.scenario.name, self.variant_name, self.control)))


def find_scenario(name: str | Scenario, variant: str | None = None, control: str | None = None) -> Chosen:
    """The scenario called `name`, its variant (the usual one when None), and perhaps a control."""
    scenario = SCENARIOS.get(name) if isinstance(name, str) else name
    if scenario is None:
        raise UnknownScenario(f"no scenario is called {name!r}; there are: {', '.join(SCENARIOS)}")
    chosen = variant or scenario.usual
    if chosen not in scenario.variants:
        raise UnknownScenario(
            f"{scenario.name} has no variant {chosen!r}; there are: {', '.join(scenario.variants)}"
        )
    if control is not None and control not in scenario.controls:
        known = ", ".join(scenario.controls) or "none"
        raise UnknownScenario(f"{scenario.name} has no control {control!r}; there are: {known}")
    return Chosen(scenario, chosen, control)
