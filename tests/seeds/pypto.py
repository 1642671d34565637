"""Seed 1's probe: one prompt cold, again with another ending (a hit), then another prompt (a miss).

`python -m tests.seeds.pypto --url http://127.0.0.1:8000 [--only miss | --only cold,miss]`

The report's prompts are texts, of 233, 233 and 262 tokens with its model's tokenizer, on pages of 128: cold
and hit take two pages, the hit finds one, the miss takes three and finds none. With `--text` they are the
report's texts; otherwise token ids that have this shape with any tokenizer.
"""

import argparse
import sys
from typing import NamedTuple

from tests.seeds.client import Answer, Client, tell

PAGE, SHORT, LONG = 128, 233, 262
HIT = "Huawei is a leading global technology company. "
MISS = "The Forbidden City is an ancient imperial palace. "


class Probed(NamedTuple):
    """A request of the probe and its answer."""

    label: str
    answer: Answer


def prompts(client: Client) -> dict[str, list[int]]:
    """Token ids: hit and cold share their first page and no more; the miss shares nothing with them."""
    shared = client.tokens("Probe round 1. " + HIT * PAGE)[:PAGE]
    made = {
        label: shared + client.tokens(f"{label.title()} answer: " + HIT * PAGE)[: SHORT - PAGE]
        for label in ("cold", "hit")
    }
    return {**made, "miss": client.tokens("A miss of round 1. " + MISS * LONG)[:LONG]}


def texts(hit_repeat: int, miss_repeat: int) -> dict[str, str]:
    """The report's own prompts."""
    hit, miss = "Probe round 1. " + HIT * hit_repeat, "Probe round 1 miss. " + MISS * miss_repeat
    return {"cold": f"{hit} First answer:", "hit": f"{hit} Second answer:", "miss": f"{miss} Third answer:"}


def probe(client: Client, only: tuple[str, ...], text: dict[str, str] | None = None) -> list[Probed]:
    """One after the other, greedy, two tokens each, up to the first that fails."""
    made = text or prompts(client)
    probed = []
    for label in only:
        body = {"prompt": made[label], "max_tokens": 2, "temperature": 0.0}
        probed.append(Probed(label, client.post("/v1/completions", body)))
        if not probed[-1].answer.ok:
            break
    return probed


def line(one: Probed) -> str:
    """As the report's script prints it."""
    label, answer = one
    if not answer.ok:
        return f"{label:<6} {answer.problem}"
    (choice,) = answer.body["choices"]
    return (
        f"{label:<6} {answer.seconds:7.3f}s finish={choice['finish_reason']} prompt={answer.prompt_tokens} "
        f"hit={answer.cached_tokens} text={choice['text']!r}"
    )


def main() -> int:
    """Probe a server; 1 when a request failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--only", default="cold,hit,miss", help="which requests, in this order")
    parser.add_argument("--text", action="store_true", help="the report's texts instead of exact lengths")
    parser.add_argument("--hit-repeat", type=int, default=22)
    parser.add_argument("--miss-repeat", type=int, default=26)
    options = parser.parse_args()
    text = texts(options.hit_repeat, options.miss_repeat) if options.text else None
    probed = probe(Client(options.url), tuple(options.only.split(",")), text)
    for one in probed:
        print(line(one))
    return 0 if probed[-1].answer.ok else 1


if __name__ == "__main__":
    sys.exit(tell(main))
