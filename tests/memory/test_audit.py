"""The audit is green over any sound pool, and names the page of each kind of disagreement."""

from collections.abc import Iterable, Mapping

import pytest

from tests.memory.history import History
from tracert.device.device import Fence
from tracert.memory.audit import Audit
from tracert.memory.errors import InvariantError
from tracert.memory.pool import PagePool
from tracert.record.access import Holder

REQUEST, PREFIX, SNAPSHOT = Holder("request", 1), Holder("prefix", 2), Holder("snapshot", 3)
FENCE = Fence(id=7, stream=1, ordinal=4, seq=0)


class Bench:
    """Pages 1 and 2 are a request's, the first shared with a prefix; 3 has rows, 4 is retired, 5 is free."""

    def __init__(self) -> None:
        self.pool = PagePool(History(), 6, 16)
        self.pool.alloc(2, REQUEST)
        self.pool.hold([1], PREFIX, "read")
        self.pool.take([3], SNAPSHOT)
        self.pool.drop(self.pool.alloc(1, PREFIX), PREFIX, fence=FENCE)
        self.claims: dict[Holder, Iterable[int]] = {REQUEST: [1, 2], PREFIX: [1]}
        self.rows: list[int] = [3]

    def audit(self) -> None:
        """One audit."""

        def claims() -> Mapping[Holder, Iterable[int]]:
            return self.claims

        Audit(self.pool, [claims], lambda: self.rows)()


def test_is_green_where_each_page_has_one_role() -> None:
    """A shared page, rows, a retired, a free and the reserved page."""
    Bench().audit()


def test_names_a_page_that_is_free_and_still_named() -> None:
    """A request that gave a page back and goes on with it."""
    bench = Bench()
    bench.claims[REQUEST] = [1, 2, 5]
    with pytest.raises(InvariantError, match=r"^the audit of pages failed: page 5 is free and .*:1$"):
        bench.audit()


def test_names_a_page_that_has_rows_and_keys() -> None:
    """A page granted to a request while a snapshot's rows are on it."""
    bench = Bench()
    bench.pool.hold([3], REQUEST, "read")
    bench.claims[REQUEST] = [1, 2, 3]
    with pytest.raises(InvariantError, match=r"page 3 is snapshot alias and request:1$"):
        bench.audit()


def test_names_a_page_that_is_retired_and_named() -> None:
    """The step in flight may read it, the next must not."""
    bench = Bench()
    bench.claims[REQUEST] = [1, 2, 4]
    with pytest.raises(InvariantError, match=r"page 4 is retired and request:1$"):
        bench.audit()


def test_names_a_page_that_nobody_names() -> None:
    """Held for ever: a leak."""
    bench = Bench()
    bench.claims[REQUEST] = [1]
    with pytest.raises(InvariantError, match=r"page 2 is held by request:1, who does not name it$"):
        bench.audit()


def test_names_a_page_whose_holder_is_another() -> None:
    """Two requests name a page that one of them holds."""
    bench = Bench()
    bench.claims[Holder("request", 9)] = [2]
    with pytest.raises(InvariantError, match=r"page 2 is named by request:9, who does not hold it$"):
        bench.audit()


def test_names_a_page_that_two_hold_for_writing() -> None:
    """Both name it and both hold it."""
    bench = Bench()
    bench.pool.hold([2], PREFIX, "write")
    bench.claims[PREFIX] = [1, 2]
    with pytest.raises(InvariantError, match=r"page 2 is held for writing by more than one$"):
        bench.audit()
