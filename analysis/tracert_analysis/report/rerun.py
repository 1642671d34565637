"""How to run again what was recorded: the command and the schedule, from the header's configuration.

Neither the planted fault nor a scenario's name is read: a report says what the history says.
"""

import shlex
from typing import Any

from tracert_analysis.report.report import Reproduce

OPTIONS = {
    "model": "--model",
    "device": "--device",
    "page_size": "--page-size",
    "kv_pages": "--kv-pages",
    "kv_dtype": "--kv-dtype",
    "max_model_len": "--max-model-len",
    "max_num_seqs": "--max-num-seqs",
    "max_num_batched_tokens": "--max-num-batched-tokens",
    "max_prefill_tokens": "--max-prefill-tokens",
    "prefix_cache": "--prefix-cache",
    "schedule": "--schedule",
}
"""Fields of the configuration that are options of `tracert serve`."""

DTYPES = {"float32": "fp32", "bfloat16": "bf16", "float16": "fp16"}
"""Types as the option has them, by their names in torch."""


def reproduce(config: dict[str, Any]) -> Reproduce:
    """The command that serves with this configuration, recorded or derived; the requests are the user's."""
    schedule = config.get("schedule")
    recorded = config.get("command")
    if isinstance(recorded, str) and recorded:
        return Reproduce(recorded, schedule if isinstance(schedule, str) else None)
    words = ["tracert", "serve"]
    for field, option in OPTIONS.items():
        value = config.get(field)
        if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
            words += [option, DTYPES.get(str(value), str(value))]
    return Reproduce(shlex.join(words), schedule if isinstance(schedule, str) else None)
