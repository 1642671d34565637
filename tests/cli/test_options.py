"""The engine's options on the command line: the words that they take are those of its configuration."""

from typing import get_args, get_type_hints

import pytest
from tracert_kernels.kv_types import KV_TYPES

from tracert.cli.options import EngineOptions
from tracert.engine.config import EngineConfig


@pytest.mark.parametrize("name", ["kv_dtype", "prefix_cache", "stale_pages"])
def test_an_option_takes_what_the_engine_does(name: str) -> None:
    """Neither more nor fewer words."""
    words = get_args(get_type_hints(EngineOptions)[name])
    assert len(words) > 1
    assert get_args(get_type_hints(EngineConfig)[name]) == words


def test_every_type_that_pages_may_hold_can_be_asked_for() -> None:
    """And `auto`, which stands for the one that the model computes in."""
    assert ("auto", *KV_TYPES) == get_args(get_type_hints(EngineOptions)["kv_dtype"])
