"""What holds for every test."""

import os
from typing import Any

import pytest
from hypothesis import settings
from xdist.scheduler import LoadFileScheduling

# Continuous integration tries the same examples every time: what it refuses, it refuses again.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("here", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "here")

TOGETHER = ("tests/scenarios", "tests/analysis/report", "tests/models")
"""Folders whose files share what is dear: runs of scenarios, reports of the same histories, transformers."""


class ByFileOrFolder(LoadFileScheduling):
    """Gives a worker a file at a time, or all of a folder of `TOGETHER`."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return next((folder for folder in TOGETHER if file.startswith(f"{folder}/")), file)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: Any, log: Any) -> ByFileOrFolder | None:
    """Only where tests are given out by file anyway."""
    return ByFileOrFolder(config, log) if config.getoption("dist") == "loadfile" else None
