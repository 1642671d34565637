"""Every scenario by its name."""

from tracert.scenarios.ninfer_unordered_publish import NINFER_UNORDERED_PUBLISH
from tracert.scenarios.scenario import Scenario

SCENARIOS: dict[str, Scenario] = {scenario.name: scenario for scenario in (NINFER_UNORDERED_PUBLISH,)}


class UnknownScenario(ValueError):
    """A name, or a variant, that is none; the message lists those that are."""


def find_scenario(name: str, variant: str | None = None) -> tuple[Scenario, str]:
    """The scenario called `name` and its variant, the usual one when None."""
    scenario = SCENARIOS.get(name)
    if scenario is None:
        raise UnknownScenario(f"no scenario is called {name!r}; there are: {', '.join(SCENARIOS)}")
    chosen = variant or scenario.usual
    if chosen not in scenario.variants:
        raise UnknownScenario(f"{name} has no variant {chosen!r}; there are: {', '.join(scenario.variants)}")
    return scenario, chosen
