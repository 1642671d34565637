"""Assembles an engine with its black box, in this process. Imports torch."""

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import msgspec
from tracert_kernels.dispatch import for_device
from tracert_kernels.kv_types import KV_TYPES

from tracert.cli.options import EngineOptions, flags, parse_size
from tracert.cli.prefix_debug import PrefixDebug, as_json, as_text
from tracert.device.open import open_device
from tracert.engine.config import ConfigError, EngineConfig
from tracert.engine.loop import WriteDump
from tracert.engine.step import Engine, kv_layout
from tracert.faults.catalog import find_fault
from tracert.memory.layout import KvLayout
from tracert.messages.messages import Ready
from tracert.models.config import ModelConfig
from tracert.models.decoder import Decoder
from tracert.models.fetch import resolve
from tracert.models.load import load_model
from tracert.record.dump import dump_path, keep_newest, write_dump
from tracert.record.layout import Geometry
from tracert.record.recorder import NullRecorder, Recorder
from tracert.record.ring import Ring, ring_path
from tracert.record.ring_recorder import RingRecorder


@dataclass(frozen=True)
class Assembly:
    """An engine and how to write down what happened to it; `ring` None when nothing is recorded."""

    engine: Engine
    ring: Ring | None
    ready: Ready
    write_dump: WriteDump

    def discard_ring(self) -> None:
        """Remove the ring file: nothing went wrong, nobody will ask."""
        if self.ring is not None:
            _discard(self.ring)


def assemble(options: EngineOptions, *, json_lines: bool = False) -> Assembly:
    """The engine that `options` describe, with their fault planted. Errors are one line each.

    `json_lines`: what --prefix-cache-debug says is JSON.
    """
    fault = find_fault(options.fault) if options.fault else None
    source = resolve(options.model)
    kind = _device_kind(options)
    if kind == "cuda" and not options.preflight:
        raise ConfigError(
            "--no-preflight needs the simulated device, where a launch can wait for room; use --device cpu, "
            "or leave it out"
        )
    _require_fp8(options, kind)
    model = load_model(source, options.dtype, kind)
    config = _config(options, model, kind)
    about = _about(options, config, model, source.name)
    ring = _ring(options, config, about) if options.record else None
    recorder: Recorder = RingRecorder(ring) if ring else NullRecorder()
    debug: PrefixDebug | None = None
    if options.prefix_cache_debug:
        recorder = debug = PrefixDebug(
            recorder,
            config.prefix_cache,
            source.name,
            config.page_size,
            form=as_json if json_lines else as_text,
        )
    with _discarded_on_error(ring):
        device = open_device(
            recorder,
            options.device,
            schedule=options.schedule,
            hang_seconds=options.hang_seconds,
            progress=ring.progress if ring else None,
        )
        engine = Engine(recorder, config, device, model, for_device(kind), source.name)
        if debug:
            debug.watch(engine.cache)
        if ring:
            ring.describe({**about, "device": {"name": device.name}})
            for stream in device.streams():
                ring.name_stream(stream.id, stream.name, blocking=stream.blocking)
        if fault:
            fault.plant(engine)
    ready = Ready(
        model=source.name,
        max_model_len=config.context_limit,
        ring=str(ring.path) if ring else None,
        pid=os.getpid(),
        asked_model_len=config.max_model_len,
        kv_pages=config.kv_pages,
        kv_tokens=(config.kv_pages - 1) * config.page_size,
        kv_bytes=engine.arena.layout.nbytes,
    )

    def dump(reason: str, error: dict[str, Any] | None) -> str | None:
        if ring is None:
            return None
        ring.device_state(device.state)
        target = dump_path(Path(options.record_dir), reason)
        written = write_dump(ring.path, target, reason=reason, error=error)
        keep_newest(Path(options.record_dir), options.keep_dumps)
        if reason != "request":
            # The last dump has it all: engines that die one after the other must not fill the disk.
            _discard(ring)
        return str(written.path)

    return Assembly(engine, ring, ready, dump)


@contextmanager
def _discarded_on_error(ring: Ring | None) -> Iterator[None]:
    """An engine that could not be assembled, or was told to end meanwhile, has no history to keep."""
    try:
        yield
    except BaseException:
        if ring is not None:
            _discard(ring)
        raise


def _discard(ring: Ring) -> None:
    ring.close()
    ring.path.unlink(missing_ok=True)


def _device_kind(options: EngineOptions) -> str:
    """Where the weights go: torch's name for the device that `open_device` will open."""
    import torch

    if options.device == "cpu" or options.schedule != "eager":
        return "cpu"
    return "cuda" if torch.cuda.is_available() else "cpu"


def _require_fp8(options: EngineOptions, kind: str) -> None:
    """ConfigError where pages are to hold what the GPU does not know: e4m3 came with capability 8.9."""
    import torch

    if options.kv_dtype == "fp8" and kind == "cuda" and torch.cuda.get_device_capability() < (8, 9):
        major, minor = torch.cuda.get_device_capability()
        raise ConfigError(
            f"--kv-dtype fp8: a type which a GPU knows from compute capability 8.9, and this one has "
            f"{major}.{minor}; use int8 or bf16"
        )


def _config(options: EngineOptions, model: Decoder, kind: str) -> EngineConfig:
    shape = model.config
    longest = options.max_model_len or shape.max_position
    if longest > shape.max_position:
        raise ConfigError(
            f"--max-model-len {longest} is more than the model's context of {shape.max_position} tokens; "
            "give at most that, or leave it out"
        )
    page_bytes = kv_layout(model, options.page_size, 2, options.kv_dtype).page_bytes
    return EngineConfig(
        kv_pages=_kv_pages(options, page_bytes, kind),
        page_size=options.page_size,
        max_model_len=longest,
        max_num_seqs=options.max_num_seqs,
        max_num_batched_tokens=options.max_num_batched_tokens,
        max_prefill_tokens=options.max_prefill_tokens or options.max_num_batched_tokens,
        max_waiting=options.max_waiting,
        kv_dtype=options.kv_dtype,
        prefix_cache=options.prefix_cache,
        stage_copies=options.stage_copies,
        retain=options.retain,
        snapshots=options.snapshots,
        dedicated_snapshots=options.dedicated_snapshots,
        stale_pages=options.stale_pages,
        audit=options.audit,
        host_slots=_host_slots(options, page_bytes),
        workspace=None if options.workspace is None else parse_size(options.workspace, "--workspace"),
        preflight=options.preflight,
        overlap=options.overlap,
        poison_rows=options.poison_rows,
        guard=options.guard,
    )


def _kv_pages(options: EngineOptions, page_bytes: int, kind: str) -> int:
    """As many as were asked for, or as the memory holds. ConfigError where the device has not so much."""
    if options.kv_pages is not None:
        _require_memory(f"--kv-pages {options.kv_pages}", options.kv_pages * page_bytes, kind)
        return options.kv_pages
    nbytes = parse_size(options.kv_memory, "--kv-memory")
    _require_memory(f"--kv-memory {options.kv_memory}", nbytes, kind)
    if nbytes < 2 * page_bytes:
        raise ConfigError(
            f"--kv-memory {options.kv_memory}: a page has {page_bytes} bytes, and there must be room for one "
            "beside the reserved one; give more"
        )
    return nbytes // page_bytes


def _require_memory(asked: str, nbytes: int, kind: str) -> None:
    """ConfigError where so much was asked for that no such machine, or GPU, has it."""
    import torch

    if kind == "cuda":
        whole, where = torch.cuda.get_device_properties(0).total_memory, "the GPU"
    else:
        whole, where = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), "this machine"
    if nbytes > whole:
        raise ConfigError(
            f"{asked} is {nbytes / 2**30:.1f} GiB, and {where} has {whole / 2**30:.1f} GiB of memory; "
            "ask for less"
        )


def _host_slots(options: EngineOptions, page_bytes: int) -> int:
    """How many pages the host tier keeps. ConfigError when it was asked for and can keep none."""
    if options.host_kv is None:
        return 0
    if options.prefix_cache == "none":
        raise ConfigError(
            "--host-kv keeps what the prefix cache evicts, and there is none: give --prefix-cache hash or "
            "radix"
        )
    nbytes = parse_size(options.host_kv, "--host-kv")
    _require_memory(f"--host-kv {options.host_kv}", nbytes, "cpu")
    slots = nbytes // page_bytes
    if not slots:
        raise ConfigError(f"--host-kv {options.host_kv}: a page has {page_bytes} bytes, give more")
    return slots


def _ring(options: EngineOptions, config: EngineConfig, about: dict[str, Any]) -> Ring:
    geometry = Geometry(
        slots=options.ring_events,
        pages=config.kv_pages,
        page_size=config.page_size,
        rows=config.max_num_seqs,
        row_width=config.row_width,
    )
    ring = Ring.create(ring_path(Path(options.record_dir)), geometry, about)
    if options.sync_ring:
        ring.sync_every(options.sync_ring)
    return ring


def _about(options: EngineOptions, config: EngineConfig, model: Decoder, name: str) -> dict[str, Any]:
    """What a dump's header says of this engine. Only `fault` names the fault: readers can be spared it."""
    layout = kv_layout(model, config.page_size, config.kv_pages, config.kv_dtype)
    asked = msgspec.to_builtins(options)
    del asked["fault"]
    return {
        "config": {
            **asked,
            **asdict(config),
            "rows": config.max_num_seqs,
            "row_width": config.row_width,
            "kv_dtype": _kv_type(layout),
            "layout": layout.describe(),
            "command": _command(options),
        },
        "model": {"name": name, **_shape(model.config)},
        "fault": options.fault,
    }


def _kv_type(layout: KvLayout) -> str:
    """The name that `--kv-dtype` has for what pages hold."""
    return next(name for name, dtype in KV_TYPES.items() if dtype == layout.dtype)


def _command(options: EngineOptions) -> str:
    """How to serve like this again, the planted fault and the place of the dumps apart."""
    default = EngineOptions(fault=options.fault, record_dir=options.record_dir)
    names = [field.name for field in msgspec.structs.fields(EngineOptions)]
    changed = {
        name: getattr(options, name) for name in names if getattr(options, name) != getattr(default, name)
    }
    return shlex.join(["tracert", "serve", *flags(changed)])


def _shape(shape: ModelConfig) -> dict[str, Any]:
    names = ("architecture", "layers", "hidden", "heads", "kv_heads", "head_dim", "vocab", "max_position")
    return {name: getattr(shape, name) for name in names}
