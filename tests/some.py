"""Parameters of which the fast suite tries the first few, and the slow one all."""

from collections.abc import Iterable
from typing import Any

import pytest


def a_few(count: int, values: Iterable[Any]) -> list[Any]:
    """The first values for the fast suite; the others are slow."""
    return [
        value if number < count else pytest.param(value, marks=pytest.mark.slow)
        for number, value in enumerate(values)
    ]
