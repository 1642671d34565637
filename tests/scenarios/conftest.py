"""Scenarios run by step on `tiny-random`, and their dumps read as a user's would be."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from tracert_analysis.load import open_dump
from tracert_analysis.report.as_json import as_json
from tracert_analysis.report.as_text import render
from tracert_analysis.report.build import build

from tracert.cli.run_scenario import run
from tracert.scenarios.catalog import find_scenario


@dataclass(frozen=True)
class Told:
    """A run: what it said, its dump, and the report, which is made when it is asked for."""

    outcome: dict[str, Any]
    dump: Path

    @cached_property
    def report(self) -> dict[str, Any]:
        """As JSON."""
        return read(self.dump)

    @cached_property
    def codes(self) -> list[str]:
        """Codes of all findings, earliest first: of the report where it was made, for it takes longer."""
        if "report" in self.__dict__:
            return [finding["code"] for finding in self.report["findings"]]
        connection = open_dump(str(self.dump), macros=False).connection
        found = connection.execute("SELECT code FROM finding ORDER BY finding").fetchall()
        return [code for (code,) in found]

    @property
    def lines(self) -> list[dict[str, Any]]:
        """Every line of the dump."""
        return [json.loads(line) for line in self.dump.read_text().splitlines()]

    @property
    def events(self) -> list[dict[str, Any]]:
        """The events of the dump."""
        return [line for line in self.lines if "seq" in line]


def read(dump: Path) -> dict[str, Any]:
    """The report of a dump, as JSON."""
    return as_json(build(open_dump(str(dump))))


def text(dump: Path) -> str:
    """The report of a dump, as text."""
    return render(build(open_dump(str(dump))))


def but_for_the_file(report: dict[str, Any]) -> dict[str, Any]:
    """All but the dump's name, and what is said of a checksum that no longer fits an edited dump."""
    kept = {name: value for name, value in report.items() if name != "dump"}
    kept["evidence"] = {**report["evidence"], "unknown": []}
    return kept


@pytest.fixture(scope="session")
def run_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Told]:
    """Runs a scenario by name, if not told otherwise on a device that lags; the same run is kept."""
    folder, kept = tmp_path_factory.mktemp("runs"), dict[Any, Told]()

    def once(name: str, variant: str | None = None, *, planted: bool, **more: Any) -> Told:
        more = {"variant": find_scenario(name, variant).variant_name, "schedule": "random:1", **more}
        key = name, planted, *sorted(more.items())
        if key not in kept:
            dump = folder / f"{len(kept)}.jsonl"
            outcome = run(name, planted=planted, dump=dump, **more)
            kept[key] = Told(outcome, dump)
        return kept[key]

    return once


@pytest.fixture(scope="session")
def ran(run_once: Callable[..., Told]) -> Callable[..., Told]:
    """Runs `ninfer-unordered-publish`."""

    def once(*, planted: bool, variant: str = "crash", schedule: str = "random:1") -> Told:
        return run_once("ninfer-unordered-publish", variant=variant, planted=planted, schedule=schedule)

    return once
