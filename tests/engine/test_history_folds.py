"""The history folds to the state: from the dump alone, through ring and JSON."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from tests.engine.conftest import greedy
from tests.memory.fold import Fold
from tracert.engine.step import Engine
from tracert.record.access import Holder
from tracert.record.dump import write_dump
from tracert.record.layout import Geometry
from tracert.record.ring import Ring
from tracert.record.ring_recorder import RingRecorder


def _live(engine: Engine, seed: int) -> None:
    """Requests come, end, are aborted and preempted; many share fronts; the run stops in the middle."""
    draw = random.Random(seed)
    fronts = [draw.choices(range(256), k=40) for _ in range(3)]
    public_ids: list[str] = []
    for step in range(120):
        if draw.random() < 0.3:
            public_ids.append(f"r{step}")
            prompt = draw.choice(fronts)[: draw.randint(10, 40)] + draw.choices(
                range(256), k=draw.randint(1, 30)
            )
            engine.add(greedy(public_ids[-1], prompt, draw.randint(1, 40)))
        if public_ids and draw.random() < 0.05:
            engine.abort(draw.choice(public_ids))
        engine.step()
        engine.check()


def _events(
    dump: Path,
) -> tuple[list[tuple[str, dict[str, Any]]], list[dict[str, Any]], list[dict[str, Any]]]:
    """Events as `Fold` takes them, page states and lane states of a dump."""
    events, pages, lanes = [], [], []
    for line in map(json.loads, dump.read_text().splitlines()):
        kind = line.pop("kind")
        if kind == "page_state":
            pages.append(line)
        elif kind == "lane_state":
            lanes.append(line)
        elif "seq" in line:
            events.append((kind, _as_told(line)))
    return events, pages, lanes


def _as_told(line: dict[str, Any]) -> dict[str, Any]:
    fields = {name: value for name, value in line.items() if name not in ("seq", "t", "actor", "pool")}
    if "page" in fields:
        fields["pages"] = [(fields.pop("page"), fields.pop("life"))]
    elif "pages" in fields and isinstance(fields["pages"], list):
        fields["pages"] = [tuple(pair) for pair in fields["pages"]]
    if "holder" in fields:
        kind, number = fields["holder"].split(":")
        fields["holder"] = Holder(kind, int(number))
    if "entries" in fields:
        fields["entries"] = [tuple(entry) for entry in fields["entries"]]
    return fields


def assert_folds(dump: Path, engine: Engine) -> None:
    """Holders, lives, rows and nodes replayed from a dump are those of the engine; so are last facts."""
    events, pages, lanes = _events(dump)
    told = Fold(events)
    granted = [page for page in range(engine.config.kv_pages) if told.life.get(page)]
    for page in granted:
        assert (told.life[page], told.state[page]) == (engine.pool.lives([page])[0], engine.pool.state(page))
        assert told.holders[page] == engine.pool.holders(page)
    assert {line["page"]: (line["life"], line["state"]) for line in pages if line["life"]} == {
        page: (told.life[page], told.state[page]) for page in granted
    }
    for row in told.tenant:
        view = engine.table.row(row)
        assert told.tenant[row] == (view.generation, view.request)
        assert told.mapped[row] == list(zip(view.pages, view.lives, strict=True))
        assert sorted(told.device_row[row].items()) == list(enumerate(engine.table.published(row)))
    nodes = {number: [page for page, _ in held] for number, (_, _, held, _) in told.nodes.items()}
    assert engine.cache.claims() == {Holder("prefix", number): pages for number, pages in nodes.items()}
    running = {request.lane: (request.number, request.computed) for request in engine.scheduler.running}
    assert {
        line["row"]: (line["request"], line["frontier"]) for line in lanes if line["state"] == "held"
    } == running


@pytest.mark.parametrize("overlap", [False, True])
@pytest.mark.parametrize(
    ("kind", "seed"),
    [
        *(("hash", 0), ("hash", 1), ("radix", 0), ("radix", 1)),
        *(pytest.param("hash", seed, marks=pytest.mark.slow) for seed in (2, 3)),
    ],
)
def test_the_dump_folds_to_the_state(make_engine, tmp_path, kind, seed, overlap):
    """Holders, lives, rows and nodes replayed from the events are those of the engine; so are last facts."""
    geometry = Geometry(slots=2**16, pages=20, rows=3, row_width=16)
    ring = Ring.create(tmp_path / "a.ring", geometry)
    engine = make_engine(
        RingRecorder(ring),
        schedule=f"random:{seed}",
        kv_pages=20,
        max_model_len=256,
        max_num_seqs=3,
        poison_rows=seed % 2 == 0,
        prefix_cache=kind,
        overlap=overlap,
    )
    _live(engine, seed)
    write_dump(ring.path, tmp_path / "dump.jsonl", reason="request")
    assert_folds(tmp_path / "dump.jsonl", engine)
    assert engine.cache.pages()
    ring.close()
