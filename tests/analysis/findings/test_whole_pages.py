"""Served histories whose kernels load whole pages: sound with clears wherever they begin, stale without."""

from pathlib import Path

import pytest
from tracert_analysis.load import open_dump

from tests.analysis.findings.byte_oracle import ByteOracle
from tests.analysis.history import History, Page
from tests.analysis.serving import COMPUTE, TRANSFER, Serving
from tests.some import a_few


class WholePages(Serving):
    """Pages are cleared when they are granted, `policy` says how far; the host tier keeps full ones."""

    policy = "zero"

    def alloc(self, count: int, holder: str) -> list[Page]:
        """Pages from the free list, cleared as the policy has it."""
        granted = super().alloc(count, holder)
        if granted and self.policy == "zero":
            self.history.clear(COMPUTE, [[*page, 0, self.size] for page in granted])
        return granted

    def step(self) -> None:
        """As always, with a page that goes to the host and comes back to another's place before it."""
        full = [(request, at) for request in self.running for at in range(request.computed // self.size)]
        if len(full) > 1 and self.draw.random() < 0.3:
            (source, at), (target, place) = self.draw.sample(full, 2)
            if place >= target.shared:
                self.history.order(COMPUTE, TRANSFER)
                self.history.moved("offload", TRANSFER, [(1, *source.pages[at])])
                self.history.moved("load", TRANSFER, [(1, *target.pages[place])])
                self.history.order(TRANSFER, COMPUTE)
        super().step()


class NotCleared(WholePages):
    """Nobody clears."""

    policy = "inert"


def served(kind: type[WholePages], seed: int, *, keyframe_steps: int = 0) -> History:
    """A few requests over a pool that is too small, every launch loading whole pages."""
    history = History(kv_pages=24)
    serving = kind(history, seed, keyframe_steps=keyframe_steps, poison=False)
    serving.start()
    for _ in range(40):
        serving.step()
    for event in history.events:
        for one in event.get("uses", []):
            one["covers"] = "page"
    return history


@pytest.mark.parametrize("seed", a_few(2, range(4)))
def test_cleared_pages_are_sound(tmp_path: Path, seed: int) -> None:
    """Every page is cleared when it is granted."""
    history = served(WholePages, seed)
    connection = history.read(tmp_path, macros=False).connection
    assert [] == connection.execute("SELECT code, seq, sentence FROM finding").fetchall()
    assert (0,) < connection.execute("SELECT count(*) FROM byte_write WHERE class = 'host'").fetchall()[0]


@pytest.mark.parametrize("kind", [WholePages, NotCleared])
@pytest.mark.parametrize("share", a_few(2, [0.35, 0.85, 0.1, 0.6]))
def test_a_lost_beginning_proves_only_what_is_seen(
    tmp_path: Path, kind: type[WholePages], share: float
) -> None:
    """What is found behind a keyframe is found in the whole history, too."""
    history = served(kind, 2, keyframe_steps=4)
    query = "SELECT code, resource_id, life, seq FROM finding"
    whole = history.read(tmp_path, macros=False).connection.execute(query).fetchall()
    del history.events[: int(len(history.events) * share)]
    found = history.read(tmp_path, macros=False).connection.execute(query).fetchall()
    assert {row[:3] for row in found} <= {row[:3] for row in whole}
    # Behind a late keyframe too little is left to know whose bytes they are.
    assert bool(found) == (kind is NotCleared and share < 0.5)


@pytest.mark.parametrize("seed", a_few(2, range(4)))
def test_pages_that_nobody_clears_are_stale(tmp_path: Path, seed: int) -> None:
    """Each life that the oracle says, at the same launch, and nothing else."""
    history = served(NotCleared, seed)
    expected = {
        (page, life, seq)
        for (kind, page, life), (seq, _) in ByteOracle(history).met.items()
        if kind == "stale"
    }
    connection = history.read(tmp_path, macros=False).connection
    assert expected == set(connection.execute("SELECT resource_id, life, seq FROM finding").fetchall())
    assert [("TR301",)] == connection.execute("SELECT DISTINCT code FROM finding").fetchall()


def test_a_history_cut_anywhere_has_no_finding(tmp_path: Path) -> None:
    """Sound, and the engine died in the middle."""
    lines = served(WholePages, 1).lines()
    path = tmp_path / "dump.jsonl"
    for count in range(20, len(lines), 150):
        path.write_bytes(b"".join(lines[:count]))
        connection = open_dump(str(path), macros=False).connection
        assert [] == connection.execute("SELECT code, seq FROM finding").fetchall()
