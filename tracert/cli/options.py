"""The options of an engine, as the command line takes them and as they travel to the engine process.

The defaults and the help stand here and nowhere else; a command that assembles an engine gets them all
with `takes_engine_options`.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
import typer
from tracert_kernels.kv_names import KvTypeOption

UNITS = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
PAGE_SIZES = (16, 32, 64, 128, 256)


class Range(NamedTuple):
    """What an option's value must lie within."""

    least: float | None = None
    most: float | None = None


COUNT = Range(1, 2**31 - 1)
"""Of what is counted or indexed in 32 bits."""


class EngineOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that an engine process needs to know to assemble itself."""

    model: Annotated[str, "smollm2, a Hugging Face DIR, a FILE.gguf, or tiny-random"] = "smollm2"
    dtype: Annotated[
        Literal["auto", "fp32", "bf16", "fp16"], "type of weights, and of KV pages unless --kv-dtype"
    ] = "auto"
    device: Annotated[Literal["auto", "cpu", "cuda"], "where it runs"] = "auto"
    schedule: Annotated[
        str, "order in which the simulated device runs launches: eager, fifo, random:SEED, replay:STRING"
    ] = "eager"
    hang_seconds: Annotated[float, "give up on a synchronise after so long", Range(least=0.001)] = 60.0
    page_size: Annotated[int, "tokens a KV page: 16, 32, 64, 128 or 256"] = 16
    kv_pages: Annotated[int | None, "KV pages, the reserved one included", Range(2, 2**31 - 1)] = None
    kv_memory: Annotated[str, "memory for KV pages when --kv-pages is not given"] = "512M"
    kv_dtype: Annotated[
        KvTypeOption,
        "type of KV pages; auto: the weights'; fp8 is e4m3, int8 has a scale a token and head",
    ] = "auto"
    max_model_len: Annotated[
        int | None, "longest prompt and answer; the model's own when not given", COUNT
    ] = None
    max_num_seqs: Annotated[int, "sequences that run at once", Range(1, 4096)] = 16
    max_num_batched_tokens: Annotated[int, "tokens a step", COUNT] = 2048
    max_prefill_tokens: Annotated[int | None, "tokens of one prompt a step", COUNT] = None
    max_waiting: Annotated[int, "requests that may wait; more get a 503", COUNT] = 1024
    prefix_cache: Annotated[Literal["none", "hash", "radix"], "share pages of common prefixes"] = "hash"
    prefix_cache_debug: Annotated[
        bool, "say on standard error what the prefix cache matches, keeps and evicts"
    ] = False
    stage_copies: Annotated[
        bool, "copy the page in which a shared prefix ends on a stream of its own, over two steps"
    ] = False
    retain: Annotated[
        int, "finished turns whose pages are kept for the next turn to go on in", Range(0, 2**31 - 1)
    ] = 0
    host_kv: Annotated[
        str | None, "pinned host memory for pages that the prefix cache evicts; none when not given"
    ] = None
    snapshots: Annotated[
        int, "prompts whose state is kept, so that the same prompt needs no forward", Range(0, 2**31 - 1)
    ] = 0
    dedicated_snapshots: Annotated[
        bool, "keep what snapshots know on pages of their own, and not in the bytes of free KV pages"
    ] = False
    stale_pages: Annotated[
        Literal["inert", "zero", "clear-tail"],
        "against a page's old bytes: kernels touch tokens only, or it is cleared whole, or behind its tokens",
    ] = "inert"
    audit: Annotated[bool, "check before every launch that each page has one role"] = False
    workspace: Annotated[
        str | None,
        "memory for what launches need while they run; measured for the largest step when not given",
    ] = None
    preflight: Annotated[bool, "refuse a launch that does not fit the workspace before it starts"] = True
    overlap: Annotated[bool, "launch a step before the one before it is learnt"] = False
    poison_rows: Annotated[bool, "overwrite released block-table rows with an id outside the pool"] = False
    guard: Annotated[
        bool, "let kernels check the pages that rows name, and tell where a value is first not finite"
    ] = False
    record: Annotated[bool, "keep the history in a ring file"] = True
    record_dir: Annotated[str, "where ring files and dumps go"] = "tracert-records"
    keep_dumps: Annotated[
        int, "dumps written unasked that are kept in --record-dir, the newest; 0: all", Range(0, 2**31 - 1)
    ] = 16
    ring_events: Annotated[int, "records that the ring holds, a power of two; 64 bytes each", COUNT] = 2**20
    sync_ring: Annotated[
        float,
        "write the ring to disk every so many seconds, against power loss; 0: never",
        Range(least=0),
    ] = 0.0
    fault: Annotated[str | None, "plant this bug (see `tracert scenario list`)"] = None


def takes_engine_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with an option for each field of EngineOptions; it gets them as argument `options`."""
    own = inspect.signature(command).parameters
    fields = {field.name: field for field in msgspec.structs.fields(EngineOptions)}

    def with_options(**given: Any) -> Any:
        values = {name: given.pop(name) for name in fields}
        return command(options=make_options(values), **given)

    parameters = [parameter for name, parameter in own.items() if name != "options"]
    for name, annotation in inspect.get_annotations(EngineOptions).items():
        kind, (text, *bounds) = annotation.__origin__, annotation.__metadata__
        least, most = bounds[0] if bounds else Range()
        option = typer.Option(help=text, rich_help_panel="The engine", min=least, max=most)
        parameters.append(
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=fields[name].default,
                annotation=Annotated[kind, option],
            )
        )
    with_options.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    with_options.__doc__ = command.__doc__
    with_options.__name__ = command.__name__
    return with_options


def make_options(values: dict[str, Any]) -> EngineOptions:
    """Options checked as far as it goes without a model; typer.BadParameter says what is wrong."""
    for name in ("kv_memory", "workspace", "host_kv"):
        if values.get(name) is not None:
            parse_size(values[name], f"--{name.replace('_', '-')}")
    _check_page_size(values.get("page_size", EngineOptions().page_size))
    _check_schedule(values.get("schedule", EngineOptions().schedule), values.get("device", "auto"))
    ring = values.get("ring_events", EngineOptions().ring_events)
    if ring < 1024 or ring & (ring - 1):
        raise typer.BadParameter(f"--ring-events {ring} is no power of two of at least 1024; try 1048576")
    return msgspec.convert(values, EngineOptions)


def _check_page_size(size: int) -> None:
    if size not in PAGE_SIZES:
        known = f"{', '.join(map(str, PAGE_SIZES[:-1]))} or {PAGE_SIZES[-1]}"
        raise typer.BadParameter(f"--page-size {size} is none that there is; give {known}")


def _check_schedule(schedule: str, device: str) -> None:
    """A schedule can be read without a device; only the simulated one has any but eager."""
    from tracert.device.replay import ScheduleError
    from tracert.device.schedule import parse_schedule

    try:
        parse_schedule(schedule)
    except ScheduleError as error:
        raise typer.BadParameter(f"--schedule: {error}") from None
    if device == "cuda" and schedule != "eager":
        raise typer.BadParameter(
            f"--schedule {schedule[:40]} needs the simulated device; use --device cpu or no --schedule"
        )


def flags(values: Mapping[str, Any]) -> list[str]:
    """The words of a command line that set these fields; a field that is None is left out."""
    words: list[str] = []
    for name, value in values.items():
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{flag}" if value else f"--no-{flag}")
        elif value is not None:
            words += [f"--{flag}", str(value)]
    return words


def parse_size(text: str, option: str) -> int:
    """Bytes of `2G`, `512M`, `64K`, `1T` or a plain number; typer.BadParameter names `option`."""
    unit = UNITS.get(text[-1:].upper(), 1)
    try:
        size = int(float(text if unit == 1 else text[:-1]) * unit)
    except (ValueError, OverflowError):
        size = 0
    if size <= 0:
        raise typer.BadParameter(
            f"{option} {text!r} is no size; write 64K, 512M, 2G, 1T or a number of bytes"
        )
    return size
