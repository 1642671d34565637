"""Seed 3's load: distinct prompts of two lengths in turn, each sent once to be cached and once more to go on
from it.

`python -m tests.seeds.flare --url http://127.0.0.1:8000 [--short 500 --long 1000 --count 20] [--csv FILE]`

The first send has max_tokens 1, the second 64, temperature 1.0, one request at a time; `/metrics` is read
after each pair, and the first failure ends it. The report's prompts are of low entropy, of 16k and 32k
tokens.
"""

import argparse
import csv
import itertools
import sys
from collections.abc import Iterator
from typing import NamedTuple

from tests.seeds.client import Client, tell

METRICS = (
    "tracert_free_kv_pages",
    "tracert_cached_kv_pages",
    "tracert_free_snapshots",
    "tracert_requests_failed_total",
)


class Pair(NamedTuple):
    """A prompt's two sends: `ok` or the failure; the metrics as they stand afterwards."""

    number: int
    tokens: int
    prime: str
    warm: str
    seconds: float
    cached_tokens: int
    """That the second send found."""
    metrics: dict[str, float]


def prompt(client: Client, number: int, tokens: int) -> str:
    """Of little entropy, distinct from its beginning, and about `tokens` tokens long."""
    head = f"List number {number}: "
    item = f"item {number} is the same as item {number}; "
    each = len(client.tokens(item * 8)) / 8
    return head + item * max(int((tokens - len(client.tokens(head))) / each), 1)


def alternate(client: Client, short: int, long: int, count: int, warm_tokens: int = 64) -> Iterator[Pair]:
    """Pairs as they end; the last may be one that failed."""
    for number, tokens in zip(range(count), itertools.cycle((short, long)), strict=False):
        messages = [{"role": "user", "content": prompt(client, number, tokens)}]
        sends = []
        for max_tokens in (1, warm_tokens):
            body = {"messages": messages, "max_tokens": max_tokens, "temperature": 1.0}
            sends.append(client.post("/v1/chat/completions", body))
        prime, warm = (answer.problem or "ok" for answer in sends)
        cached = sends[1].cached_tokens if sends[1].ok else 0
        seconds = sum(answer.seconds for answer in sends)
        yield Pair(number, tokens, prime, warm, round(seconds, 2), cached, client.metrics(METRICS))
        if (prime, warm) != ("ok", "ok"):
            return


def main() -> int:
    """Drive a server; 1 when a request failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--short", type=int, default=500)
    parser.add_argument("--long", type=int, default=1000)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--csv", default="/dev/stdout")
    options = parser.parse_args()
    failed = False
    with open(options.csv, "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["i", "tokens", "prime", "warm", "seconds", "cached", *METRICS])
        for pair in alternate(Client(options.url), options.short, options.long, options.count):
            table.writerow([*pair[:6], *(pair.metrics.get(name) for name in METRICS)])
            file.flush()
            failed = (pair.prime, pair.warm) != ("ok", "ok")
    return int(failed)


if __name__ == "__main__":
    sys.exit(tell(main))
