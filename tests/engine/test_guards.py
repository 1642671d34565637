"""A guarded engine gives the tokens of a plain one, and says of a row what the device's memory says of it."""

import random
from collections.abc import Sequence
from typing import Any

import pytest
import torch

from tests.engine.conftest import greedy, run
from tracert.messages.messages import Failed
from tracert.record.recorder import NullRecorder

PROMPTS = {f"r{seed}": random.Random(seed).choices(range(256), k=20 + 9 * seed) for seed in range(3)}


class Told(NullRecorder):
    """Keeps what is told of guards, values and errors."""

    def __init__(self) -> None:
        self.guards: list[dict[str, Any]] = []
        self.nonfinites: list[tuple[Any, ...]] = []
        self.errors: list[tuple[Any, ...]] = []

    def guard(
        self, launch: int, row: int, generation: int, walked: int, entries: Sequence[Any], **bad: int
    ) -> int:
        """See `Recorder.guard`."""
        self.guards.append({"launch": launch, "row": row, "walked": walked, "entries": list(entries), **bad})
        return 0

    def nonfinite(self, *told: Any) -> int:
        """See `Recorder.nonfinite`."""
        self.nonfinites.append(told)
        return 0

    def error(self, *told: Any) -> int:
        """See `Recorder.error`."""
        self.errors.append(told)
        return 0


def served(engine: Any) -> dict[str, list[int]]:
    """The answers to the prompts."""
    for name, prompt in PROMPTS.items():
        engine.add(greedy(name, prompt, 12))
    return run(engine)[0]


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"overlap": True, "schedule": "random:3", "max_prefill_tokens": 7},
        {"stale_pages": "clear-tail", "kv_dtype": "int8", "prefix_cache": "radix"},
        {"kv_pages": 9, "prefix_cache": "none", "poison_rows": True},
    ],
    ids=["plain", "overlapping chunks", "whole int8 pages", "preemption"],
)
def test_a_guard_changes_no_token_and_sees_what_was_meant(make_engine, config):
    """Every row of every forward is told of, with no entry that should not be and no value that is wrong."""
    told = Told()
    guarded = make_engine(told, guard=True, **config)
    assert served(make_engine(**config)) == served(guarded)
    assert all(seen["entries"] == [] and "page" not in seen for seen in told.guards)
    assert {-(-length // 16) for length in range(20, 32)} <= {seen["walked"] for seen in told.guards}
    assert not told.nonfinites
    assert not told.errors


@pytest.mark.parametrize("overlap", [False, True])
def test_a_row_that_names_no_page_ends_its_request_alone(make_engine, overlap):
    """Without a guard the device fails and all are lost; with it the others get the answers they should."""
    told = Told()
    engine, plain = make_engine(told, guard=True, overlap=overlap), make_engine(overlap=overlap)
    for each in (engine, plain):
        for name, prompt in PROMPTS.items():
            each.add(greedy(name, prompt, 12))
        for _ in range(4):
            each.step()
    victim, pages = engine._requests["r1"], list(engine._requests["r1"].pages)
    row = victim.row.row
    engine.table.memory._tensor[row, 1] = 2**31 - 1
    left_alone = engine.arena.cache._tensor[victim.pages].clone()
    # With overlap a step was in flight, which had looked at the row before.
    (failed,) = [each for _ in range(1 + overlap) for each in engine.step() if isinstance(each, Failed)]
    assert overlap or torch.equal(left_alone, engine.arena.cache._tensor[pages])
    answers, _ = run(engine)
    assert ("r1", "invalid_page", 500) == (failed.id, failed.code, failed.status)
    assert (
        f"entry 1 of row {row} names 2147483647, which is no page, and the kernels left the row out; the "
        "request was stopped"
    ) == failed.message
    expected = run(plain)[0]
    assert {name: expected[name][-len(answers[name]) :] for name in ("r0", "r2")} == answers
    wrong = [seen for seen in told.guards if seen["entries"]]
    assert {"row": row, "entries": [(1, 2**31 - 1)], "page": 2**31 - 1, "position": 16}.items() <= wrong[
        0
    ].items()
    assert {row} == {seen["row"] for seen in wrong}
    (error,) = told.errors
    assert (9, "INVALID_PAGE") == error[:2]
    assert (1, 2**31 - 1) == (error[5]["entry"], error[5]["page"])


def test_a_row_that_names_another_page_ends_its_request_too(make_engine):
    """What the device's row held is what is told, and the step that went by it counts for nothing."""
    told = Told()
    engine = make_engine(told, guard=True)
    for name, prompt in PROMPTS.items():
        engine.add(greedy(name, prompt, 12))
    engine.step()
    row, other = engine._requests["r1"].row.row, engine._requests["r2"].pages[0]
    engine.table.memory._tensor[row, 0] = other
    _, last = run(engine)
    assert "stale_row" == last["r1"].code
    assert f"entry 0 of row {row} named page {other} to the kernels" in last["r1"].message
    (wrong,) = [seen for seen in told.guards if seen["entries"]]
    assert [(0, other)] == wrong["entries"]
    assert "page" not in wrong


def test_the_first_value_that_is_not_finite_is_told_of_where_it_appears(make_engine):
    """A NaN in a page that layer 1 alone reads shows in what attention gives there, and layer 0 is well."""
    told = Told()
    engine = make_engine(told, guard=True)
    for name, prompt in PROMPTS.items():
        engine.add(greedy(name, prompt, 12))
    engine.step()
    request = engine._requests["r2"]
    engine.arena.cache._tensor[request.pages[1], 1, 1, 3] = float("nan")
    row, position = request.row.row, request.computed
    _, last = run(engine)
    assert "invalid_distribution" == last["r2"].code
    (wrong,) = told.nonfinites
    assert (request.number, row, position) == wrong[1:4]
    assert (1, "attention") == wrong[6:]
    assert {"layer": 1, "class": "attention", "value_position": position}.items() <= told.errors[0][5].items()


def test_a_chunk_that_nothing_is_drawn_from_is_looked_at_as_well(make_engine):
    """Without a guard the rest of the prompt would be computed before anybody knew."""
    told = Told()
    engine = make_engine(told, guard=True, max_prefill_tokens=16)
    engine.add(greedy("long", random.Random(1).choices(range(256), k=60), 4))
    engine.step()
    request = engine._requests["long"]
    engine.arena.cache._tensor[request.pages[0], 0, 1, 5] = float("nan")
    (failed,) = engine.step()
    assert "invalid_distribution" == failed.code
    assert (16, 0, "attention") == (told.nonfinites[0][3], *told.nonfinites[0][6:])
    engine.check()
    assert not engine.busy
