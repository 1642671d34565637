"""Two tenants with the same system prompt: the second one starts on pages that the first one computed.

The kind of vllm-project/vllm#42125, where an adapter that was replaced under its name kept the pages of the
one before: the key by which cached pages are found says less than what must be equal. The tokens are equal
here, and so are the bytes, so that no answer is wrong; but how much was cached tells a tenant what the other
one asked.
"""

from tracert.scenarios.prompts import exactly, joined
from tracert.scenarios.scenario import Scenario, Variant
from tracert.scenarios.workload import Script, Send, Workload

_FRONT = exactly(
    "The clerk answers in one sentence, names the form that is asked for, and adds no more. ", 70
)
_ASK = exactly("Which form does a ferry need to sail on a Sunday? ", 20)
_TELL = exactly("The office moved to the old customs house in spring. ", 20)


def _sends(first: str, second: str) -> tuple[Send, ...]:
    return (
        Send("first", joined(_FRONT, _ASK), max_tokens=6, cache_salt=first),
        Send("again", joined(_FRONT, _TELL), max_tokens=6, cache_salt=first),
        Send("other", joined(_FRONT, _ASK), max_tokens=6, cache_salt=second),
    )


PREFIX_HIT_WRONG_SALT = Scenario(
    name="prefix-hit-wrong-salt",
    summary="a tenant's prompt hits pages that were cached for another one",
    fault="prefix-hit-wrong-salt",
    workload=Workload(scripts=(Script("tenants", _sends("harbour", "school")),)),
    options={"max_num_seqs": 2, "max_model_len": 256, "kv_pages": 48},
    variants={"hash": Variant({"prefix_cache": "hash"}, "silent", note="the bytes are right, and another's")},
    controls={"one-tenant": Workload(scripts=(Script("tenant", _sends("harbour", "harbour")),))},
)
