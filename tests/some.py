"""Parameters of which the fast suite tries the first few, and the slow one all."""

from collections.abc import Callable, Iterable, Mapping
from itertools import product
from typing import Any

import pytest


def a_few(count: int, values: Iterable[Any]) -> list[Any]:
    """The first values for the fast suite; the others are slow."""
    return [
        value if number < count else pytest.param(value, marks=pytest.mark.slow)
        for number, value in enumerate(values)
    ]


def grid(fast: Callable[..., bool], *axes: Mapping[str, Any]) -> list[Any]:
    """All combinations of the axes' values; those are slow of whose names `fast` does not hold."""
    return [
        pytest.param(
            *(axis[name] for axis, name in zip(axes, names, strict=True)),
            id="-".join(names),
            marks=() if fast(*names) else pytest.mark.slow,
        )
        for names in product(*axes)
    ]
