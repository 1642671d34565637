"""Finding scenarios, variants and workloads by name; drivers on both sides of HTTP are tested elsewhere."""

import pytest
from typer.testing import CliRunner

from tracert.cli.main import build
from tracert.faults.catalog import FAULTS
from tracert.scenarios.catalog import SCENARIOS, UnknownScenario, find_scenario
from tracert.scenarios.scenario import Scenario, Variant
from tracert.scenarios.workload import Script, Send, Workload

OTHER = Workload(scripts=(Script("one", (Send("hello", "Hello", max_tokens=2),)),))
MADE = Scenario(
    name="made",
    summary="",
    fault="ninfer-unordered-publish",
    workload=Workload(),
    options={"max_num_seqs": 2, "kv_pages": 32},
    variants={
        "first": Variant({"kv_pages": 64}),
        "wrong-fix": Variant(ends="silent", fault="ninfer-staging-reuse"),
    },
    controls={"hello": OTHER},
)


def test_the_first_variant_is_the_usual_one() -> None:
    """Its options lie over those that all share."""
    chosen = find_scenario(MADE)
    assert ("first", "crash", "ninfer-unordered-publish") == (chosen.variant_name, chosen.ends, chosen.fault)
    assert {"max_num_seqs": 2, "kv_pages": 64} == chosen.options


def test_a_wrong_fix_is_a_fault_of_its_own() -> None:
    """The variant's fault is planted instead of the scenario's."""
    chosen = find_scenario(MADE, "wrong-fix")
    assert ("ninfer-staging-reuse", "silent") == (chosen.fault, chosen.ends)


def test_a_control_must_end_well() -> None:
    """With the same bug planted and another workload."""
    chosen = find_scenario(MADE, workload="hello")
    assert (OTHER, "clean", "ninfer-unordered-publish") == (chosen.workload, chosen.ends, chosen.fault)
    assert "made-first-hello" == chosen.label


@pytest.mark.parametrize(
    ("arguments", "known"),
    [
        (("nothing", None, None), "ninfer-unordered-publish"),
        ((MADE, "third", None), "first, wrong-fix"),
        ((MADE, None, "bye"), "hello"),
    ],
)
def test_an_unknown_name_lists_the_known_ones(arguments: tuple[str, None, None], known: str) -> None:
    """One line for the user."""
    with pytest.raises(UnknownScenario, match=known):
        find_scenario(*arguments)


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_scenario_plants_faults_that_are_there(name: str) -> None:
    """Its own, and those of its variants; no request has the name of another one."""
    scenario = SCENARIOS[name]
    assert {scenario.fault, *(v.fault for v in scenario.variants.values() if v.fault)} <= set(FAULTS)
    for workload in (scenario.workload, *scenario.controls.values()):
        names = [request for script in workload.scripts for request, _ in script.requests()]
        assert sorted(set(names)) == sorted(names)


def test_the_list_names_variants_and_workloads() -> None:
    """With how each ends."""
    shown = CliRunner().invoke(build(["scenario"]), ["scenario", "list"], env={"COLUMNS": "200"}).output
    for name, scenario in SCENARIOS.items():
        assert name in shown
        assert all(
            other in shown for other in (*scenario.variants, *scenario.controls, *scenario.reproducers)
        )
