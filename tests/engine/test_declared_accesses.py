"""What a launch declares is what its kernel touches: the reader's history rests on it."""

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import pytest
import torch
from tracert_kernels.dispatch import for_device

from tests.engine.conftest import greedy, run
from tests.some import a_few
from tracert.device.device import Kernel, Launch, Stream
from tracert.device.simulated import SimDevice
from tracert.engine.config import EngineConfig
from tracert.engine.step import Engine
from tracert.record.access import Access, Clear, Copy, Extent, Load, Offload, Publish
from tracert.record.recorder import NullRecorder

PAGE = 16


class SuspiciousDevice(SimDevice):
    """Runs each kernel with everything poisoned that it did not declare to read, and looks what it wrote."""

    engine: Engine | None = None
    checked: Counter[str]
    """Launches that were run so, by kernel."""

    def launch(self, stream: Stream, kernel: Kernel, *args: Any, access: Access) -> Launch:
        if self.engine is None:
            return super().launch(stream, kernel, *args, access=access)
        reads, writes = _declared(self.engine, access)
        # As bytes: 0xFF is NaN as any float, and as the scale of int8 codes.
        arena = self.engine.arena.cache._tensor.view(torch.uint8)
        table = self.engine.table.memory._tensor

        def suspicious(*tensors: Any) -> None:
            readable = _mask(arena, reads)
            writable = _mask(arena, writes)
            kept = arena.clone()
            arena[~(readable | writable)] = 0xFF
            table_before = table.clone()
            before = arena.clone()
            kernel(*tensors)
            changed = arena != before
            assert not (changed & ~writable).any(), f"{kernel.__name__} wrote what it did not declare"
            _assert_table(table_before, table, access, kernel)
            arena[~(readable | writable)] = kept[~(readable | writable)]
            self.checked[kernel.__name__] += 1

        suspicious.__name__ = kernel.__name__
        return super().launch(stream, suspicious, *args, access=access)


def _declared(engine: Engine, access: Access) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """(page, position) pairs that the access reads and writes, through the rows as they were published."""
    if isinstance(access, Offload | Load):
        whole = [(page, at) for page in access.pages for at in range(PAGE)]
        return (whole, []) if isinstance(access, Offload) else ([], whole)
    if isinstance(access, Publish):
        return [], []
    if isinstance(access, Copy):
        return _positions(access.source), _positions(access.target)
    if isinstance(access, Clear):
        return [], _positions(access.target)
    reads, writes = _positions(access.reads), _positions(access.writes)
    for use in access.uses:
        pages = [page for page, _ in engine.table.published(use.row)]
        assert use.walked == -(-use.end // PAGE)
        end = use.walked * PAGE if use.covers == "page" else use.end
        reads += [(pages[at // PAGE], at % PAGE) for at in range(end)]
        writes += [(pages[at // PAGE], at % PAGE) for at in range(use.start, use.end)]
    return reads, writes


def _positions(extents: Sequence[Extent]) -> list[tuple[int, int]]:
    return [(page, at) for page, _, first, end in extents for at in range(first, end)]


def _mask(arena: torch.Tensor, positions: Iterable[Sequence[int]]) -> torch.Tensor:
    mask = torch.zeros(arena.shape, dtype=torch.bool)
    for page, at in positions:
        mask[page, :, :, at] = True
    return mask


def _assert_table(before: torch.Tensor, after: torch.Tensor, access: Access, kernel: Kernel) -> None:
    expected = before.clone()
    if isinstance(access, Publish):
        expected[access.row, access.first : access.first + len(access.pages)] = torch.tensor(access.pages)
    assert torch.equal(expected, after), f"{kernel.__name__} wrote the block table otherwise than declared"


@pytest.fixture
def suspicious(model):
    """An engine on the suspicious device, and the device."""

    def make(**config: Any) -> tuple[Engine, SuspiciousDevice]:
        device = SuspiciousDevice(NullRecorder())
        device.checked = Counter()
        settings = {"kv_pages": 24, "max_model_len": 256, "max_num_seqs": 3, **config}
        engine = Engine(
            NullRecorder(), EngineConfig(**settings), device, model, for_device("cpu"), "tiny-random"
        )
        device.engine = engine
        return engine, device

    return make


@pytest.mark.parametrize(
    "config",
    [{}, {"max_prefill_tokens": 7}, {"poison_rows": True}, {"kv_pages": 9, "prefix_cache": "none"}],
    ids=["plain", "chunked", "poisoned rows", "preemption"],
)
def test_kernels_touch_what_their_launch_declares(suspicious, plain, config):
    """Poison around the declared reads changes no token, and nothing outside the declared writes changes."""
    engine, device = suspicious(**config)
    prompts = {f"r{seed}": random.Random(seed).choices(range(256), k=21 + 9 * seed) for seed in range(4)}
    for name, prompt in prompts.items():
        engine.add(greedy(name, prompt, 12))
    answers, _ = run(engine)
    assert {name: plain(prompt, 12) for name, prompt in prompts.items()} == answers
    assert device.checked.total() > 24


_UNALIGNED = random.Random(9).choices(range(256), k=2 * PAGE + 5)


@pytest.mark.parametrize("kv_dtype", a_few(1, ["fp8", "fp32"]))
@pytest.mark.parametrize(
    ("config", "kernels"),
    [
        ({"prefix_cache": "hash"}, {"copy_pages"}),
        ({"prefix_cache": "radix", "stage_copies": True}, {"copy_pages"}),
        (
            {"prefix_cache": "hash", "kv_pages": 6, "host_slots": 40, "stale_pages": "clear-tail"},
            {"offload_pages", "load_pages"},
        ),
        ({"prefix_cache": "none", "snapshots": 3}, {"store_row", "load_row", "copy_pages"}),
        (
            {"prefix_cache": "none", "snapshots": 3, "stale_pages": "zero", "stage_copies": True},
            {"store_row", "load_row", "copy_pages", "clear_pages"},
        ),
        ({"prefix_cache": "none", "snapshots": 3, "dedicated_snapshots": True}, {"store_row", "load_row"}),
        ({"prefix_cache": "none", "retain": 2}, set()),
    ],
    ids=["tails", "staged tails", "host tier", "snapshots", "snapshots, zeroed", "dedicated", "turns"],
)
def test_what_keeps_fronts_touches_what_it_declares(suspicious, make_engine, config, kernels, kv_dtype):
    """Prompts that share a front of no whole number of pages, each sent twice, one behind the other."""
    engine, device = suspicious(kv_dtype=kv_dtype, **config)
    other = make_engine(kv_pages=64, max_model_len=256, kv_dtype=kv_dtype, prefix_cache="none")
    prompts = [_UNALIGNED + random.Random(seed).choices(range(256), k=3 + 11 * seed) for seed in range(3)]
    for turn, prompt in enumerate([*prompts, *prompts]):
        name = f"r{turn}"
        for each in (engine, other):
            each.add(greedy(name, prompt, 6))
        assert run(other)[0] == run(engine)[0]
    assert kernels <= device.checked.keys()


@pytest.mark.parametrize("kv_dtype", ["bf16", "fp16", "fp8", "int8"])
def test_narrow_pages_are_touched_as_declared(suspicious, make_engine, kv_dtype):
    """The same with pages whose numbers, and in int8 scales, are NaN where they are not declared."""
    engine, device = suspicious(kv_dtype=kv_dtype, max_prefill_tokens=7)
    other = make_engine(kv_dtype=kv_dtype, max_prefill_tokens=7)
    for seed in range(3):
        for each in (engine, other):
            each.add(greedy(f"r{seed}", random.Random(seed).choices(range(256), k=21 + 9 * seed), 12))
    assert run(other)[0] == run(engine)[0]
    assert device.checked.total() > 24


@pytest.mark.parametrize("kv_dtype", ["fp32", "fp8", "int8"])
@pytest.mark.parametrize("stale_pages", ["zero", "clear-tail"])
def test_whole_pages_are_read_as_declared(suspicious, make_engine, kv_dtype, stale_pages):
    """Decode that covers whole pages declares them to their end, and nothing else has influence."""
    config = {"kv_dtype": kv_dtype, "stale_pages": stale_pages}
    engine, device = suspicious(**config)
    other = make_engine(**config)
    for seed in range(3):
        for each in (engine, other):
            each.add(greedy(f"r{seed}", random.Random(seed).choices(range(256), k=21 + 9 * seed), 12))
    assert run(other)[0] == run(engine)[0]
    assert device.checked.total() > 24


def test_the_suspicion_is_not_idle(suspicious):
    """A kernel that reads one position more than declared gives another answer, or none."""
    engine, _ = suspicious()
    attend = engine.model.kernels.paged_attention

    class Greedy:
        def __getattr__(self, name: str) -> Any:
            return getattr(for_device("cpu"), name)

        def paged_attention(self, out, query, cache, table, rows, start, context, scale, **options):
            attend(out, query, cache, table, rows, start, context, scale, **options)
            out += cache[table[0, 0].item(), 0, -1].mean() * 0

    engine.model.kernels, kept = Greedy(), engine.model.kernels
    try:
        engine.add(greedy("a", [1, 2, 3], 2))
        _, last = run(engine)
    finally:
        engine.model.kernels = kept
    assert getattr(last["a"], "code", None) == "invalid_distribution"
