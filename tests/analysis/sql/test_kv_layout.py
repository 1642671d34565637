"""From positions to bytes and back: what the header says, against the layout that the engine has."""

from pathlib import Path

import pytest
import torch

from tests.analysis.history import History
from tests.some import a_few
from tracert.memory.layout import KvLayout

LAYOUT = KvLayout(pages=32, layers=3, page_size=16, kv_heads=2, head_dim=8, dtype=torch.bfloat16)


def test_the_layout_and_the_bytes_of_positions(tmp_path: Path) -> None:
    """Every run of positions has the bytes that the engine would give it."""
    history = History(page_size=16)
    history.header["config"]["layout"] = LAYOUT.describe()
    connection = history.read(tmp_path).connection
    assert [(16, 32, 3, 2, 8, "bfloat16", 32, 192, 3072)] == connection.execute("FROM kv_layout").fetchall()
    assert (LAYOUT.position_bytes, LAYOUT.page_bytes) == (32, 3072)
    for first, end in ((0, 1), (3, 7), (15, 16), (0, 15)):
        found = connection.execute(f'SELECT first, "end" FROM byte_ranges({first}, {end})').fetchall()
        assert found == [(piece.first, piece.end) for piece in LAYOUT.byte_ranges(5, first, end)]
    parts = connection.execute("SELECT layer, part FROM byte_ranges(2, 3)").fetchall()
    assert parts == [(layer, part) for layer in range(3) for part in ("keys", "values")]
    assert [(3072,)] == connection.execute('SELECT sum("end" - first) FROM byte_ranges(0, 99)').fetchall()
    given = "(VALUES (3, 7), (7, 7), (9, 2)) AS a (first, until), byte_ranges(first, until) AS r"
    assert [(3, 7, 6)] == connection.execute(
        f"SELECT a.first, until, count(*) FROM {given} GROUP BY ALL"
    ).fetchall()


@pytest.mark.parametrize(
    "layout", a_few(1, [{"layers": 10**12, "position_bytes": 32}, None, {"layers": "x"}, 7])
)
def test_without_a_layout_nothing_is_known(tmp_path: Path, layout: object) -> None:
    """Not even where the header says what no engine has."""
    history = History()
    history.header["config"]["layout"] = layout
    connection = history.read(tmp_path).connection
    assert [(4, None)] == connection.execute("SELECT page_size, page_bytes FROM kv_layout").fetchall()
    assert [] == connection.execute("FROM byte_ranges(0, 4)").fetchall()
