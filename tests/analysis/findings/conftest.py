"""What the findings tests share: the findings of a history, and a history to begin with."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.history import History

Told = list[dict[str, Any]]


@pytest.fixture
def told(tmp_path: Path) -> Callable[[History], Told]:
    """Reads a history, and gives its findings."""

    def read(history: History) -> Told:
        relation = history.read(tmp_path, macros=False).connection.execute("FROM finding ORDER BY finding")
        names = [column[0] for column in relation.description or []]
        return [dict(zip(names, row, strict=True)) for row in relation.fetchall()]

    return read


@pytest.fixture
def history() -> History:
    """A device that has just started: the arena is cleared, page 0 is reserved."""
    begun = History()
    begun.clear(1)
    begun.sync()
    begun.alloc([0], "reserved:0")
    return begun
