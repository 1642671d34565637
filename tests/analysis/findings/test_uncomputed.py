"""Valid positions of a sequence that no launch computed: whatever stands there, that is what is told."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tracert_analysis.skipped import skips
from tracert_analysis.touch import Uses

from tests.analysis.history import History, Page, use

Read = Callable[[History], list[dict[str, Any]]]
COMPUTE, TRANSFER = 1, 2


def tenant(history: History, generation: int, page: int = 5) -> list[Page]:
    """Request `generation` has row 0 over one page."""
    pages = history.alloc([page], f"request:{generation}")
    history.acquire(0, generation, generation)
    history.publish(COMPUTE, 0, generation, pages)
    return pages


def ended(history: History, generation: int, pages: list[Page]) -> None:
    """It gives both back."""
    history.release(0, generation, generation)
    history.give_back(pages, f"request:{generation}")


def test_a_chunk_starts_late_on_a_used_page(history: History, told: Read) -> None:
    """An earlier life's bytes stand there: TR301, and the gap is between which launches."""
    ended(history, 1, tenant_that_fills(history))
    tenant(history, 2)
    before = history.forward(COMPUTE, use(0, 2, 0, 2))
    late = history.forward(COMPUTE, use(0, 2, 3, 4))
    (finding,) = told(history)
    assert ("TR301", late.launch, 5, 2) == tuple(
        finding[name] for name in ("code", "launch", "resource_id", "life")
    )
    assert (
        "loads position 2 of page 5.2 of request 2, valid and computed by no launch of the history: "
        f"launch {before.launch} (forward) on compute had computed up to position 1 of the sequence, this "
        "launch computes from position 3 on; there keys and values of request 1 still are"
    ) in finding["sentence"]
    assert "clear" not in finding["sentence"]


def tenant_that_fills(history: History) -> list[Page]:
    """Request 1 computes all of its page."""
    pages = tenant(history, 1)
    history.forward(COMPUTE, use(0, 1, 0, 4))
    return pages


def test_a_chunk_starts_late_on_a_cleared_page(history: History, told: Read) -> None:
    """Zeros are no keys and values: TR302, though a clear came between; and it is told once."""
    tenant(history, 1)
    clear = history.clear(COMPUTE, [[5, 1, 0, 4]])
    history.forward(COMPUTE, use(0, 1, 0, 1))
    late = history.forward(COMPUTE, use(0, 1, 2, 3))
    history.forward(COMPUTE, use(0, 1, 3, 4))
    (finding,) = told(history)
    assert ("TR302", late.seq) == (finding["code"], finding["seq"])
    zeros = f"there are only the zeros of launch {clear.launch} (clear_pages) on compute"
    assert finding["sentence"].endswith(zeros)


def test_over_several_pages_each_is_told(history: History, told: Read) -> None:
    """Positions 3 to 8 are left out: the end of one page, one, and the start of the third."""
    pages = history.alloc([5, 6, 7], "request:1")
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, pages)
    history.forward(COMPUTE, use(0, 1, 0, 3))
    history.forward(COMPUTE, use(0, 1, 9, 10))
    sentences = {finding["resource_id"]: finding["sentence"] for finding in told(history)}
    assert [
        "loads position 3 of page 5.1",
        "loads positions 0 to 3 of page 6.1",
        "loads position 0 of page 7.1",
    ] == [
        sentences[page].partition(") on compute ")[2].partition(" of request")[0]
        for page in sorted(sentences)
    ]


def test_what_is_brought_there_is_enough(history: History, told: Read) -> None:
    """A copy of another's keys and values, and an overlap, leave nothing out."""
    ended(history, 1, tenant_that_fills(history))
    source = history.alloc([6], "request:9")
    history.forward(COMPUTE, writes=[[6, source[0][1], 0, 4]])
    target = tenant(history, 2)
    history.forward(COMPUTE, use(0, 2, 0, 1))
    history.copy(COMPUTE, [[6, source[0][1], 1, 3]], [[5, target[0][1], 1, 3]])
    history.forward(COMPUTE, use(0, 2, 3, 4))
    history.forward(COMPUTE, use(0, 2, 2, 4))
    assert told(history) == []


@pytest.mark.parametrize("wiped", [False, True])
def test_the_first_launch_starts_behind_what_nobody_computed(
    history: History, told: Read, wiped: bool
) -> None:
    """What was to come from elsewhere never came, or a preempted request counts it still."""
    history.alloc([6], "request:9")
    tenant(history, 1)
    if wiped:
        # Of this life, and no better than that of the arena.
        history.clear(COMPUTE, [[5, 1, 0, 4]])
    late = history.forward(COMPUTE, use(0, 1, 3, 4))
    (finding,) = told(history)
    assert ("TR302", late.launch, 5, 1) == tuple(
        finding[name] for name in ("code", "launch", "resource_id", "life")
    )
    clear = late.launch - 1 - (not wiped)
    assert finding["sentence"].endswith(
        "loads positions 0 to 2 of page 5.1 of request 1, valid and computed by no launch of the history: "
        "the first of its row here computes from position 3 on; "
        f"there are only the zeros of launch {clear} (clear_pages) on compute"
    )


@pytest.mark.parametrize("came", [2, 3])
def test_a_transfer_from_outside_brings_all_or_not(history: History, told: Read, came: int) -> None:
    """A network card was asked for three positions; where it wrote two, the third is nobody's."""
    pages = history.alloc([5], "request:1")
    number = history.begin("nic", writes=[[5, pages[0][1], 0, came]])
    history.end("nic", number)
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, pages)
    history.forward(COMPUTE, use(0, 1, 3, 4))
    found = told(history)
    assert (["TR302"] if came < 3 else []) == [finding["code"] for finding in found]
    assert all("loads position 2 of page 5.1" in finding["sentence"] for finding in found)


@pytest.mark.parametrize("through", ["copy", "host"])
@pytest.mark.parametrize("written", [0, 2, 4])
def test_what_is_copied_from_where_nobody_computed(
    history: History, told: Read, through: str, written: int
) -> None:
    """A copy of zeros is zeros, by whichever way it came, and the launch that brought them is named."""
    source = history.alloc([6], "request:9")
    if written:
        history.forward(COMPUTE, writes=[[6, source[0][1], 0, written]])
    pages = history.alloc([5], "request:1")
    if through == "copy":
        brought = history.copy(COMPUTE, [[6, source[0][1], 0, 3]], [[5, pages[0][1], 0, 3]])
    else:
        history.moved("offload", COMPUTE, [(0, *source[0])])
        brought = history.moved("load", COMPUTE, [(0, *pages[0])])
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, pages)
    history.forward(COMPUTE, use(0, 1, 3, 4))
    found = told(history)
    assert (["TR302"] if written < 3 else []) == [finding["code"] for finding in found]
    for finding in found:
        place = "positions 0 to 2" if not written else "position 2"
        assert f"loads {place} of page 5.1" in finding["sentence"]
        kernel = "copy_pages" if through == "copy" else "load_pages"
        assert f"launch {brought.launch} ({kernel}) on compute brought them" in finding["sentence"]


def test_who_goes_on_behind_another_has_what_that_one_computed(history: History, told: Read) -> None:
    """A shared prefix, a turn that was kept: the pages' lives go on, and somebody computed them."""
    pages = tenant(history, 1)
    history.forward(COMPUTE, use(0, 1, 0, 3))
    history.hold(pages, "request:2")
    history.acquire(1, 1, 2)
    history.publish(COMPUTE, 1, 1, pages)
    history.forward(COMPUTE, use(1, 1, 2, 2))
    history.release(0, 1, 1)
    history.drop(pages, "request:1")
    history.forward(COMPUTE, use(1, 1, 3, 3))
    assert told(history) == []


def test_where_events_are_missing_zeros_prove_nothing(history: History, told: Read) -> None:
    """The launch that computed the position may be the one whose record is torn."""
    tenant(history, 1)
    history.forward(COMPUTE, use(0, 1, 0, 1))
    history.forward(COMPUTE, use(0, 1, 2, 3))
    ended(history, 1, [(5, 1)])
    tenant(history, 2, 6)
    history.forward(COMPUTE, use(0, 2, 3, 4))
    history.header["ring"].update(torn=1, torn_seqs=[history.seq - 1])
    assert told(history) == []


def test_what_was_there_before_the_history_is_not_this_lifes(told: Read) -> None:
    """The ring has wrapped: the life began since, and nobody computed its position 1."""
    history = History(first_seq=500)
    known: list[tuple[int, str, list[str]]] = [
        (0, "held", ["reserved:0/write"]), (5, "free", []), (6, "held", ["request:7/write"]),
    ]  # fmt: skip
    history.keyframe(
        [{"page": page, "life": 1, "state": state, "holders": holders} for page, state, holders in known],
        [{"row": 1, "generation": 4, "request": 7, "epoch": 2, "entries": [[0, 6, 1]]}],
    )  # fmt: skip
    history._lives = {5: 1}
    tenant(history, 1)
    history.forward(COMPUTE, use(0, 1, 0, 1), use(1, 4, 0, 1))
    # Of page 6 somebody may have computed all before the history.
    late = history.forward(COMPUTE, use(0, 1, 2, 3), use(1, 4, 2, 3))
    (finding,) = told(history)
    assert ("TR302", late.launch, 5) == (finding["code"], finding["launch"], finding["resource_id"])
    assert finding["sentence"].endswith("what is there is from before the history, and not of this life")


def test_a_skip_is_one_within_a_generation_whatever_the_stream() -> None:
    """Against the furthest of all earlier uses, not the last one; what computes nothing does not count."""

    def column(*values: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.array(values, np.int64)

    #           gen 1, stream 1       | stream 2 | gen 2
    seq = column(1, 2, 4, 6, 3, 7, 8)
    none = np.zeros(7, np.int64)
    uses = Uses(
        seq=seq,
        row=none,
        generation=column(1, 1, 1, 1, 1, 1, 2),
        stream=column(1, 1, 1, 1, 2, 2, 1),
        start=column(0, 4, 5, 12, 4, 9, 20),
        end=column(4, 5, 9, 12, 12, 10, 21),
        walked=none,
        depth=none,
        whole=none,
    )
    found = skips(uses)
    assert [] == found.use.tolist()
    found = skips(uses._replace(end=column(4, 5, 9, 12, 6, 10, 21)))
    assert [(3, 2, 9, 12)] == list(zip(*(values.tolist() for values in found), strict=True))
