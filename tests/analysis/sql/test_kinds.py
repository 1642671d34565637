"""The table of kinds of events in `docs/sql.md` has the columns that shipped dumps have values in."""

import re
from pathlib import Path

import pytest
from tracert_analysis.load import open_dump

from tests.some import a_few

DOCS = Path(__file__).parents[3] / "docs"
DUMPS = ("unfenced-release", "unordered-publish", "stale-rows", "no-room")
OF_ALL = {"seq", "t", "kind", "actor"}


def told() -> dict[str, set[str]]:
    """The columns of each kind, as the page says."""
    table = (DOCS / "sql.md").read_text(encoding="utf-8").partition("| kind | columns |\n|---|---|\n")[2]
    found: dict[str, set[str]] = {}
    for line in table.partition("\n\n")[0].splitlines():
        kinds, columns = (re.findall(r"\w+", cell) for cell in line.strip("|").split("|"))
        found |= {kind: set(columns) for kind in kinds}
    return found


@pytest.mark.parametrize("name", a_few(1, DUMPS))
def test_kinds_have_the_columns_that_the_page_says(name: str) -> None:
    """No event has a value in another column, and the page names no column that there isn't."""
    connection = open_dump(str(DOCS / "dumps" / f"{name}.jsonl.zst")).connection
    columns = {row[0] for row in connection.execute("DESCRIBE event").fetchall()}
    page = told()
    assert set().union(*page.values()) <= columns
    counts = ", ".join(f'count("{column}")' for column in sorted(columns))
    rows = connection.execute(f"SELECT kind, {counts} FROM event GROUP BY kind").fetchall()
    assert len(rows) > 20
    for kind, *values in rows:
        used = {column for column, value in zip(sorted(columns), values, strict=True) if value}
        assert used - OF_ALL <= page[kind], kind
