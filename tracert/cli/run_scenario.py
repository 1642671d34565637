"""Runs a scenario here: assembles its engine, drives it by step, writes its dump. Imports torch."""

import tempfile
from pathlib import Path
from typing import Any

import msgspec

from tracert.cli.assemble import assemble
from tracert.cli.options import EngineOptions
from tracert.models.fetch import resolve
from tracert.models.load import load_tokenizer
from tracert.record.dump import write_dump
from tracert.scenarios.catalog import find_scenario
from tracert.scenarios.step_driver import drive


def run(
    name: str,
    *,
    variant: str | None = None,
    planted: bool,
    schedule: str,
    model: str = "tiny-random",
    dump: Path | None = None,
) -> dict[str, Any]:
    """What happened: answers by request, the error if one ended it, the schedule that ran, the dump."""
    scenario, chosen = find_scenario(name, variant)
    target = dump or Path(f"{name}-{chosen}-{'fault' if planted else 'sound'}.jsonl")
    with tempfile.TemporaryDirectory(prefix="tracert-") as directory:
        options = msgspec.convert(
            {
                "model": model,
                "dtype": "fp32",
                "device": "cpu",
                "schedule": schedule,
                "ring_events": 2**16,
                "record_dir": directory,
                "fault": scenario.fault if planted else None,
                **scenario.options,
                **scenario.variants[chosen],
            },
            EngineOptions,
        )
        assembly = assemble(options)
        tokenizer = load_tokenizer(resolve(model))
        outcome = drive(assembly.engine, tokenizer, scenario.workload)
        reason, error = outcome.failure or ("exit", None)
        assert assembly.ring is not None
        assembly.ring.device_state(assembly.engine.device.state)
        write_dump(assembly.ring.path, target, reason=reason, error=error)
        assembly.ring.close()
    return {
        "scenario": scenario.name,
        "variant": chosen,
        "fault": scenario.fault if planted else None,
        "requests": scenario.workload.requests,
        "answers": {name: tokenizer.decode(tokens) for name, tokens in outcome.answers.items()},
        "tokens": outcome.answers,
        "failed": outcome.failed,
        "error": error,
        "schedule": assembly.engine.device.schedule_string(),
        "dump": str(target),
    }
