"""Reports of the histories of this folder, each made once."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tracert_analysis.load import Dump
from tracert_analysis.report.build import build
from tracert_analysis.report.report import Report

from tests.analysis.history import History


def report(history: History, folder: Path, page: int | None = None) -> Report:
    """The report of a history that was written and read."""
    return build(history.read(folder), page)


@cache
def opened(history: Callable[[], History]) -> tuple[Dump, Report]:
    """One of the histories of this folder, and its report; several tests look at the same one."""
    with TemporaryDirectory() as folder:
        dump = history().read(Path(folder))
        return dump, build(dump)


def told(history: Callable[[], History]) -> Report:
    """Its report."""
    return opened(history)[1]


def acquitted(made: Report) -> list[str]:
    """The first words of each acquittal."""
    return [item.why.split(" (")[0] for item in made.acquitted]
