"""The audit in an engine: it stops at the first page with two roles, before anything is launched on it."""

from collections.abc import Callable

import pytest

from tests.engine.conftest import greedy
from tracert.engine.step import Engine
from tracert.memory.errors import InvariantError


def test_the_audit_ends_the_engine_before_the_launch(make_engine: Callable[..., Engine]) -> None:
    """A page that was given back behind the engine's back is named, and nothing more is launched."""
    engine = make_engine(prefix_cache="none", audit=True)
    engine.add(greedy("one", range(20), 8))
    engine.step()
    request = engine.scheduler.running[0]
    engine.pool.drop(request.pages[1:], request.holder)
    before = engine.device.upcoming()
    with pytest.raises(InvariantError, match=r"^the audit of pages failed: page 2 is free and request:1$"):
        engine.step()
    with pytest.raises(InvariantError, match=r"^the audit of pages failed: page 2 is free and request:1"):
        engine.check()
    assert before == engine.device.upcoming()
