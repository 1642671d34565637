"""Runs a scenario here: assembles its engine, drives it by step, writes its dump. Imports torch."""

import tempfile
from pathlib import Path
from typing import Any

import msgspec

from tracert.cli.assemble import assemble
from tracert.cli.errors import CommandError
from tracert.cli.options import EngineOptions
from tracert.models.fetch import resolve
from tracert.models.load import load_tokenizer
from tracert.record.dump import write_dump
from tracert.scenarios.catalog import Chosen, find_scenario
from tracert.scenarios.scenario import Scenario
from tracert.scenarios.step_driver import drive


def run(
    name: str | Scenario,
    *,
    variant: str | None = None,
    workload: str | None = None,
    planted: bool,
    schedule: str,
    model: str = "tiny-random",
    dump: Path | None = None,
    options: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """What happened: answers by request, the error if one ended it, the schedule that ran, the dump.

    `name` may be a scenario that no catalog has; `options` come before the scenario's own. CommandError,
    before anything runs, when the folder of `dump` is not there. Without one it goes where all dumps go.
    """
    chosen = find_scenario(name, variant, workload)
    fault = chosen.fault if planted else None
    folder = Path(EngineOptions().record_dir)
    if dump is None:
        folder.mkdir(exist_ok=True)
    target = dump or folder / f"{chosen.label}-{'fault' if planted else 'sound'}.jsonl"
    if not target.parent.is_dir():
        raise CommandError(
            f"{target.parent} is no folder: make it, or give --dump a path in one that is there"
        )
    with tempfile.TemporaryDirectory(prefix="tracert-") as directory:
        assembly = assemble(_options(chosen, model, schedule, directory, fault, options or {}))
        tokenizer = load_tokenizer(resolve(model))
        outcome = drive(assembly.engine, tokenizer, chosen.workload)
        reason, error = outcome.failure or ("exit", None)
        assert assembly.ring is not None
        assembly.ring.device_state(assembly.engine.device.state)
        write_dump(assembly.ring.path, target, reason=reason, error=error)
        assembly.ring.close()
    return {
        "scenario": chosen.scenario.name,
        "variant": chosen.variant_name,
        "workload": workload,
        "fault": fault,
        "requests": chosen.workload.requests,
        "answers": {name: tokenizer.decode(tokens) for name, tokens in outcome.answers.items()},
        "tokens": outcome.answers,
        "cached_tokens": outcome.cached,
        "failed": {
            name: {"status": failed.status, "code": failed.code, "message": failed.message}
            for name, failed in outcome.failed.items()
        },
        "error": error,
        "schedule": assembly.engine.device.schedule_string(),
        "dump": str(target),
    }


def _options(
    chosen: Chosen,
    model: str,
    schedule: str,
    directory: str,
    fault: str | None,
    given: dict[str, Any],
) -> EngineOptions:
    return msgspec.convert(
        {
            "model": model,
            "dtype": "fp32",
            "device": "cpu",
            "schedule": schedule,
            "ring_events": 2**16,
            "record_dir": directory,
            "fault": fault,
            **given,
            **chosen.options,
        },
        EngineOptions,
    )
