"""A macro may be given a column, whatever it and its table are called."""

import re

import pytest
from tracert_analysis import library
from tracert_analysis.load import Dump

from tests.analysis.history import History, use
from tests.some import a_few

LEGACY, COMPUTE, TRANSFER = 0, 1, 2
GIVEN = {
    "last_owner": ("page", (5, 6)),
    "last_writer": ("page", (5, 6)),
    "last_fence": ("page", (5, 6)),
    "page_history": ("page", (5, 6)),
    "page_bytes": ("page", (5, 6)),
    "launch_reads": ("launch", (2, 4)),
    "launch_writes": ("launch", (2, 4)),
    "missing_edge": ("finding", (1, 2)),
    "what_was_new": ("launch", (3, 5)),
}
"""Of each macro what it is asked for, and two of those with different answers."""
BEFORE = ("last_owner", "last_writer", "last_fence", "page_bytes")


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Dump:
    """Two requests whose rows are published without order, and a copy between their pages."""
    history = History()
    for row, page in ((0, 5), (1, 6)):
        pages = history.alloc([page], f"request:{row + 1}")
        history.acquire(row, 1, row + 1)
        history.publish(LEGACY, row, 1, pages)
        history.forward(COMPUTE, use(row, 1, 0, 2 + row))
        history.record(COMPUTE)
    history.copy(COMPUTE, [[5, 1, 0, 1]], [[6, 1, 3, 4]])
    return history.read(tmp_path_factory.mktemp("arguments"))


def ask(dump: Dump, query: str) -> list[tuple[object, ...]]:
    """The answer, in an order of its own."""
    return sorted(dump.connection.execute(query).fetchall(), key=repr)


@pytest.mark.parametrize("macro", a_few(len(GIVEN) - 1, GIVEN))
def test_a_column_is_given(dump: Dump, macro: str) -> None:
    """Of tables that are called as those that the macro reads; of one column without a table's name."""
    column, values = GIVEN[macro]
    singly = [ask(dump, f"SELECT {value}, m.* FROM {macro}({value}) AS m") for value in values]
    assert singly[0]
    assert singly[0] != singly[1]
    expected = sorted(singly[0] + singly[1], key=repr)
    table = f"(VALUES ({values[0]}), ({values[1]}))"
    names = set(re.findall(r"\bAS (_?[a-z]+)\b(?! AS)", library.text("macros", macro)))
    for name in sorted({column, *names} - {"table", "not", "materialized", "m"}):
        given = f'{table} AS "{name}" ({column})'
        query = f'SELECT "{name}".{column}, m.* FROM {given}, {macro}("{name}".{column}) AS m'
        assert expected == ask(dump, query), name
    unnamed = f"SELECT one.{column}, found.* FROM {table} AS one ({column}), {macro}({column}) AS found"
    assert expected == ask(dump, unnamed)


@pytest.mark.parametrize("macro", BEFORE)
def test_a_column_is_given_for_the_event(dump: Dump, macro: str) -> None:
    """The same page before several events."""
    given = [(5, 5), (5, 12), (6, 12)]
    expected = sorted(
        (row for page, seq in given for row in ask(dump, f"FROM {macro}({page}, before := {seq})")), key=repr
    )
    assert len(expected) >= len(given) - 1
    table = f"(VALUES {', '.join(map(str, given))})"
    for name, page, seq in (("w", "page", "seq"), ("l", "page", "before"), ("a", "last_seq", "first_seq")):
        asked = f"{macro}({page}, before := {seq})"
        query = f"SELECT found.* FROM {table} AS {name} ({page}, {seq}), {asked} AS found"
        assert expected == ask(dump, query), name


def test_columns_are_given_for_two_launches(dump: Dump) -> None:
    """`happens_before` of tables that are called as its own are."""
    pairs = ((2, 4), (4, 2), (1, 2), (3, 5))
    singly = [ask(dump, f"SELECT {a}, {b}, happens_before({a}, {b})")[0] for a, b in pairs]
    assert [True, False, False, False] == [answer for _, _, answer in singly]
    table = f"(VALUES {', '.join(map(str, pairs))})"
    for query in (
        f"SELECT x.a, x.b, happens_before(x.a, x.b) FROM {table} AS x (a, b)",
        f"SELECT y.launch, y.stream, happens_before(y.launch, y.stream) FROM {table} AS y (launch, stream)",
        f"SELECT launch, ordinal, happens_before(launch, ordinal) FROM {table} AS one (launch, ordinal)",
        f"SELECT a, b, happens_before(a, b) FROM {table} AS asked (a, b)",
    ):
        assert sorted(singly, key=repr) == ask(dump, query), query
