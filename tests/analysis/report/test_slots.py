"""Two snapshots that share a page: who else held it, which bytes are whose, and what its fence stands for."""

from pathlib import Path

from tracert_analysis.report.as_text import render
from tracert_analysis.report.build import build

from tests.analysis.findings.test_tr301 import ROWS, reused
from tests.analysis.report.test_bytes_story import COMPUTE, begun


def shared(second: tuple[int, int], folder: Path) -> tuple[str, tuple[tuple[int, int, int], ...]]:
    """Snapshot 3 stores bytes 0 to 111 of page 5, snapshot 4 what `second` says; then request 2 has it."""
    history = begun()
    pages = history.alloc([5], "snapshot:3")
    for snapshot, (first, end), holder in ((3, (0, 112), None), (4, second, "snapshot:4")):
        if holder is not None:
            history.hold(pages, holder, "read")
        store = history.forward(COMPUTE, kernel="store_row", writes=[[5, 1, 0, 4]], **ROWS)
        history.event("snapshot_save", launch=store.launch, snapshot=snapshot, ranges=[[5, first, end]])
    fence = history.record(COMPUTE)
    passed = history.passed(fence)
    history.drop(pages, "snapshot:3", "write")
    history.drop(pages, "snapshot:4", "read")
    history.retire(pages, fence)
    history.free(pages)
    reused(history)
    made = build(history.read(folder))
    assert made.content is not None
    assert made.content.covered
    assert [hold.holder for hold in made.content.sharers] == ["snapshot:3"]
    text = " ".join(render(made).split())
    assert f"covers the last launch that touched that life, launch {store.launch} store_row" in text
    assert f"it passed at seq {passed}" in text
    assert "previous owner snapshot:4 for read, life 1, from seq" in text
    assert "; that life was also held by snapshot:3 " in text
    return text, made.content.slots


def test_slots_that_lie_apart(tmp_path: Path) -> None:
    """The second snapshot's launch names the page that the first has, and stores beside it."""
    text, slots = shared((112, 224), tmp_path)
    assert slots == ((3, 0, 112), (4, 112, 224))
    assert "bytes 0 to 111 snapshot 3, bytes 112 to 223 snapshot 4: they lie apart" in text


def test_slots_that_overlap(tmp_path: Path) -> None:
    """One byte in common is told."""
    text, _ = shared((111, 224), tmp_path)
    assert "two of these overlap" in text
