"""Every scenario by its name."""

from dataclasses import dataclass
from typing import Any

from tracert.scenarios.flare_stale_snapshot_rows import FLARE_STALE_SNAPSHOT_ROWS
from tracert.scenarios.hit_after_evict import HIT_AFTER_EVICT
from tracert.scenarios.late_republish import LATE_REPUBLISH
from tracert.scenarios.ninfer_staging_reuse import NINFER_STAGING_REUSE
from tracert.scenarios.ninfer_torn_tail_cow import NINFER_TORN_TAIL_COW
from tracert.scenarios.ninfer_unfenced_release import NINFER_UNFENCED_RELEASE
from tracert.scenarios.ninfer_unordered_publish import NINFER_UNORDERED_PUBLISH
from tracert.scenarios.prefill_walks_past_row import PREFILL_WALKS_PAST_ROW
from tracert.scenarios.prefix_hit_wrong_salt import PREFIX_HIT_WRONG_SALT
from tracert.scenarios.pypto_prefill_507018 import PYPTO_PREFILL_507018
from tracert.scenarios.scenario import Ending, Scenario, Variant
from tracert.scenarios.workload import Workload

SCENARIOS: dict[str, Scenario] = {
    scenario.name: scenario
    for scenario in (
        NINFER_UNORDERED_PUBLISH,
        NINFER_STAGING_REUSE,
        NINFER_UNFENCED_RELEASE,
        NINFER_TORN_TAIL_COW,
        PREFILL_WALKS_PAST_ROW,
        PYPTO_PREFILL_507018,
        FLARE_STALE_SNAPSHOT_ROWS,
        PREFIX_HIT_WRONG_SALT,
        HIT_AFTER_EVICT,
        LATE_REPUBLISH,
    )
}


class UnknownScenario(ValueError):
    """A name, a variant or a workload that is none; the message lists those that are."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """One of a scenario's engines with one of its workloads."""

    scenario: Scenario
    variant_name: str
    workload_name: str | None
    """A control's or a reproducer's; None for the variant's own, or the scenario's."""

    @property
    def variant(self) -> Variant:
        """The engine."""
        return self.scenario.variants[self.variant_name]

    @property
    def workload(self) -> Workload:
        """What the clients say."""
        name = self.workload_name
        if name is None:
            return self.variant.workload or self.scenario.workload
        if name in self.scenario.controls:
            return self.scenario.controls[name]
        return self.scenario.reproducers[name].workload

    @property
    def fault(self) -> str:
        """The bug to plant."""
        return self.variant.fault or self.scenario.fault

    @property
    def options(self) -> dict[str, Any]:
        """Engine options: the scenario's, over them the variant's, over them the reproducer's."""
        own = self.scenario.reproducers.get(self.workload_name or "")
        return {**self.scenario.options, **self.variant.options, **(own.options if own else {})}

    @property
    def ends(self) -> Ending:
        """How it goes with the fault planted: a control goes well, in a reproducer nothing is seen."""
        if self.workload_name is None:
            return self.variant.ends
        return "clean" if self.workload_name in self.scenario.controls else "silent"

    @property
    def label(self) -> str:
        """A name for files."""
        return "-".join(filter(None, (self.scenario.name, self.variant_name, self.workload_name)))


def find_scenario(name: str | Scenario, variant: str | None = None, workload: str | None = None) -> Chosen:
    """The scenario called `name`, its variant (the usual one when None), and perhaps another workload."""
    scenario = SCENARIOS.get(name) if isinstance(name, str) else name
    if scenario is None:
        raise UnknownScenario(f"no scenario is called {name!r}; there are: {', '.join(SCENARIOS)}")
    chosen = variant or scenario.usual
    if chosen not in scenario.variants:
        raise UnknownScenario(
            f"{scenario.name} has no variant {chosen!r}; there are: {', '.join(scenario.variants)}"
        )
    others = [*scenario.controls, *scenario.reproducers]
    if workload is not None and workload not in others:
        known = ", ".join(others) or "none but its own"
        raise UnknownScenario(f"{scenario.name} has no workload {workload!r}; there are: {known}")
    return Chosen(scenario, chosen, workload)
