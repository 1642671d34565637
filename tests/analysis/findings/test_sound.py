"""A sound history has no finding, wherever it begins and wherever it ends."""

from pathlib import Path

import pytest
from tracert_analysis.load import open_dump

from tests.analysis.history import History, Launched, Page, use
from tests.analysis.serving import COMPUTE, OUTSIDE, POISON_BUFFER, TRANSFER, Serving
from tests.some import a_few


class Captured(Serving):
    """Its graphs were captured for more rows than run: those that nobody has, or has any more, name page 0.

    They write there and read it, and nobody else does.
    """

    def start(self) -> None:
        """Two rows are for nothing else, one of them by the name of request 0; zeros lie in page 0."""
        super().start()
        self.history.acquire(8, 1, 0)
        for row in (8, 9):
            self.history.publish(TRANSFER, row, 1, [(0, 1)])

    def copy_row(self, row: int, generation: int, pages: list[Page], first: int) -> Launched:
        """A row that is given back names page 0 throughout."""
        if pages[0][0] != OUTSIDE:
            return super().copy_row(row, generation, pages, first)
        self.row_entries[row] = [(0, 1)] * len(self.row_entries[row])
        return self.history.publish(TRANSFER, row, generation, self.row_entries[row], staging=POISON_BUFFER)

    def launch(self) -> None:
        """The padded rows are in one launch with the others, for one position each."""
        self.order_publishes()
        padding = [use(row, self.generations[row], 0, 1) for row in self.free_rows if self.generations[row]]
        self.history.forward(COMPUTE, *padding, use(8, 1, 0, 1), use(9, 1, 0, 1), kernel="pad")
        super().launch()


def served(seed: int, *, steps: int = 40, keyframe_steps: int = 0, poison: bool = True) -> History:
    """A few requests on three lanes over a pool that is too small for all of them."""
    history = History(kv_pages=24)
    serving = Serving(history, seed, keyframe_steps=keyframe_steps, poison=poison)
    serving.start()
    for _ in range(steps):
        serving.step()
    return history


@pytest.mark.parametrize("seed", a_few(4, range(10)))
def test_a_sound_history_has_no_finding(tmp_path: Path, seed: int) -> None:
    """Whole, from start to end."""
    history = served(seed, poison=seed % 2 == 0)
    connection = history.read(tmp_path, macros=False).connection
    assert [] == connection.execute("SELECT code, seq, sentence FROM finding").fetchall()
    assert (0,) < connection.execute("SELECT count(*) FROM access WHERE mode = 'read'").fetchall()[0]


@pytest.mark.parametrize("seed", a_few(1, range(6)))
@pytest.mark.parametrize("lost", a_few(1, [0.0, 0.4]))
def test_padding_that_only_padding_reads_is_sound(tmp_path: Path, seed: int, lost: float) -> None:
    """Rows of nobody, on a page that nobody has."""
    history = History(kv_pages=24)
    serving = Captured(history, seed, keyframe_steps=4)
    serving.start()
    for _ in range(30):
        serving.step()
    del history.events[: int(len(history.events) * lost)]
    connection = history.read(tmp_path).connection
    assert [] == connection.execute("SELECT code, seq, sentence FROM finding").fetchall()
    written = connection.execute("SELECT count(*) FROM access WHERE page = 0 AND mode = 'write'").fetchall()
    assert written > [(0,)]


@pytest.mark.parametrize("seed", a_few(1, range(4)))
@pytest.mark.parametrize("share", a_few(3, [0.05, 0.35, 0.65, 0.2, 0.5, 0.8]))
def test_a_lost_beginning_gives_no_finding(tmp_path: Path, seed: int, share: float) -> None:
    """The ring wrapped in the middle of anything: what isn't known is no finding."""
    history = served(seed, keyframe_steps=4)
    del history.events[: int(len(history.events) * share)]
    dump = history.read(tmp_path, macros=False)
    assert [] == dump.connection.execute("SELECT code, seq, sentence FROM finding").fetchall()
    assert dump.evidence.unknown


@pytest.mark.parametrize("seed", a_few(1, range(4)))
def test_a_lost_beginning_without_keyframe_gives_no_finding(tmp_path: Path, seed: int) -> None:
    """Nothing stands in for it."""
    history = served(seed)
    del history.events[: len(history.events) // 3]
    connection = history.read(tmp_path, macros=False).connection
    assert [] == connection.execute("SELECT code, seq FROM finding").fetchall()


@pytest.mark.parametrize("share", a_few(2, [0.3, 0.9, 0.1, 0.5, 0.7]))
def test_a_lost_end_gives_no_finding(tmp_path: Path, share: float) -> None:
    """The engine died in the middle of a step."""
    history = served(3)
    del history.events[int(len(history.events) * share) :]
    history.header["reason"] = "killed"
    connection = history.read(tmp_path, macros=False).connection
    assert [] == connection.execute("SELECT code, seq FROM finding").fetchall()


@pytest.mark.parametrize("seed", a_few(1, range(3)))
def test_a_torn_keyframe_is_not_believed(tmp_path: Path, seed: int) -> None:
    """A set without its end, or with a record missing, doesn't count; the next one does."""
    history = served(seed, keyframe_steps=4)
    ends = [place for place, event in enumerate(history.events) if event["kind"] == "keyframe_end"]
    del history.events[ends[1] - 1]
    del history.events[: ends[0] + 1]
    dump = history.read(tmp_path, macros=False)
    assert [] == dump.connection.execute("SELECT code, seq FROM finding").fetchall()
    assert [(3,)] == dump.connection.execute("SELECT base_set FROM _window").fetchall()


@pytest.mark.parametrize("first", a_few(1, [5, 28]))
def test_the_last_whole_event_decides_nothing_by_itself(tmp_path: Path, first: int) -> None:
    """Cut after any event, no history has a finding."""
    history = served(1, steps=12)
    lines = history.lines()
    path = tmp_path / "dump.jsonl"
    for count in range(first, len(lines), 46):
        path.write_bytes(b"".join(lines[:count]))
        connection = open_dump(str(path), macros=False).connection
        assert [] == connection.execute("SELECT code, seq FROM finding").fetchall()
