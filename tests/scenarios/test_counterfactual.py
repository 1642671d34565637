"""The call that the report asks for, made: the same bug, the same schedule, and nothing goes wrong.

Not the sound engine: the planted one, with the missing call behind the planted act.
"""

import re

import pytest

from tests.scenarios.conftest import read
from tracert.cli.run_scenario import run
from tracert.device.device import Fence
from tracert.engine.step import Engine
from tracert.faults import catalog
from tracert.faults.catalog import find_fault
from tracert.faults.fault import Fault


def _mended(name: str, mend) -> Fault:
    fault = find_fault(name)

    def plant(engine: Engine) -> None:
        fault.plant(engine)
        mend(engine)

    return Fault(f"{name}-mended", fault.finding, fault.summary, plant)


def _order_legacy_before_compute(engine: Engine) -> None:
    """`fence = device.record(legacy); device.wait(compute, fence)` behind each planted publish."""
    activate = engine.table.activate

    def activate_and_order(*args):
        launch = activate(*args)
        engine.device.wait(engine.compute, engine.device.record(engine.device.legacy))
        return launch

    engine.table.activate = activate_and_order


def _order_copies_before_compute(engine: Engine) -> None:
    """`fence = device.record(copies); device.wait(compute, fence)` behind each page given back too early."""
    drop = engine.pool.drop

    def drop_and_order(pages, holder, mode=None, *, fence: Fence | None = None):
        drop(pages, holder, mode)
        if fence is not None:
            engine.device.wait(engine.compute, fence)

    engine.pool.drop = drop_and_order


@pytest.mark.parametrize(
    ("name", "variant", "mend", "streams"),
    [
        ("ninfer-unordered-publish", "crash", _order_legacy_before_compute, ("legacy", "compute")),
        pytest.param(
            "ninfer-unordered-publish",
            "silent",
            _order_legacy_before_compute,
            ("legacy", "compute"),
            marks=pytest.mark.slow,
        ),
        ("ninfer-unfenced-release", "hash", _order_copies_before_compute, ("copies", "compute")),
    ],
)
def test_with_the_missing_call_the_same_schedule_goes_well(
    monkeypatch, tmp_path, name, variant, mend, streams
):
    """The faulty run's schedule, replayed: answers are the sound run's, and no rule is broken."""
    faulty = run(name, variant=variant, planted=True, schedule="random:1", dump=tmp_path / "faulty.jsonl")
    sound = run(name, variant=variant, planted=False, schedule="eager", dump=tmp_path / "sound.jsonl")
    assert faulty["tokens"] != sound["tokens"]
    call = read(tmp_path / "faulty.jsonl")["verdict"]["missing_edge"]["call"]
    assert streams == re.findall(r"record\((\w+)\).*wait\((\w+)", call)[0]
    mended = _mended(find_fault(faulty["fault"]).name, mend)
    monkeypatch.setitem(catalog.FAULTS, faulty["fault"], mended)
    again = run(
        name, variant=variant, planted=True, schedule=faulty["schedule"], dump=tmp_path / "again.jsonl"
    )
    assert (again["error"], again["failed"]) == (None, {})
    assert sound["tokens"] == again["tokens"]
    assert [] == read(tmp_path / "again.jsonl")["findings"]
