"""Prefix-heavy serving on SmolLM2 in bf16: 16 conversations of 3 turns over one shared prefix, all at once.

A conversation's next turn comes as soon as its last answer has ended, and begins with all that was said
before. Beside it, in the same run, transformers' `generate` with a cache of its own: the prefix is
computed once and repeated for a batch of all conversations, which keep their cache from turn to turn.
Rounds of the two alternate.
"""

import random
import statistics
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
import transformers
from rich.console import Console
from rich.table import Table

from tests.bench.serving import open_engine
from tests.models.reference import reference_smollm2
from tracert.engine.step import Engine
from tracert.messages.messages import Generate, Sampling, Tokens
from tracert.models.fetch import resolve
from tracert.models.load import load_model
from tracert.record.recorder import NullRecorder

CONVERSATIONS, TURNS, PREFIX, ASKED, ANSWER = 16, 3, 1024, 32, 48
ROUNDS = 3


class Round(NamedTuple):
    """A whole workload: output tokens a second, and seconds to the first token of each request."""

    tokens_per_second: float
    first_token: list[float]
    cached: list[int]
    """Prompt tokens of each request that were not computed again."""


class Said(NamedTuple):
    """What the users say: the shared beginning, and each conversation's turns."""

    prefix: list[int]
    turns: list[list[list[int]]]


def say(seed: int) -> Said:
    """Random token ids, none of them special; a round's prefix is its own."""
    draw = random.Random(seed)

    def some(count: int) -> list[int]:
        return draw.choices(range(1000, 40_000), k=count)

    return Said(some(PREFIX), [[some(ASKED) for _ in range(TURNS)] for _ in range(CONVERSATIONS)])


def run(console: Console) -> dict[str, Any]:
    """Measure, print, and return medians over rounds."""
    model = load_model(resolve("smollm2"), "bf16")
    engine = open_engine(NullRecorder(), model, kv_pages=2048, prefix_cache="hash")
    rival = reference_smollm2(resolve("smollm2")).to(torch.bfloat16)
    rounds: dict[str, list[Round]] = {"tracert": [], "transformers generate": []}
    for seed in range(ROUNDS):
        said = say(seed)
        rounds["tracert"].append(serve(engine, said))
        rounds["transformers generate"].append(generate(rival, said))
    figures = {who: _figures(told) for who, told in rounds.items()}
    table = Table(
        f"{CONVERSATIONS} conversations of {TURNS} turns, prefix {PREFIX}, {ANSWER} tokens a turn", *figures
    )
    for name in figures["tracert"]:
        table.add_row(name, *(str(figure[name]) for figure in figures.values()))
    console.print(table)
    return figures


def _figures(rounds: Sequence[Round]) -> dict[str, float]:
    first = [seconds for told in rounds for seconds in told.first_token]
    return {
        "output tokens a second, median of rounds": round(
            statistics.median(told.tokens_per_second for told in rounds), 1
        ),
        "time to first token, median, s": round(statistics.median(first), 3),
        "time to first token, 95 %, s": round(sorted(first)[int(0.95 * len(first))], 3),
        "prompt tokens not computed again, %": round(
            100 * statistics.mean(sum(told.cached) for told in rounds) / _prompt_tokens(), 1
        ),
    }


def _prompt_tokens() -> int:
    """All prompts of a round."""
    each = sum(PREFIX + turn * (ASKED + ANSWER) + ASKED for turn in range(TURNS))
    return CONVERSATIONS * each


def serve(engine: Engine, said: Said) -> Round:
    """All conversations at once, each turn as soon as the one before has ended."""
    histories = [list(said.prefix) for _ in said.turns]
    sent: dict[str, float] = {}
    first: dict[str, float] = {}
    cached: dict[str, int] = {}
    sampling = Sampling(max_tokens=ANSWER, temperature=0.0, ignore_eos=True)

    def ask(conversation: int, turn: int) -> None:
        histories[conversation] += said.turns[conversation][turn]
        name = f"{conversation}/{turn}"
        sent[name] = time.perf_counter()
        refused = engine.add(Generate(id=name, tokens=list(histories[conversation]), sampling=sampling))
        assert refused is None, refused

    start = time.perf_counter()
    for conversation in range(CONVERSATIONS):
        ask(conversation, 0)
    while engine.busy:
        for told in engine.step():
            assert isinstance(told, Tokens), told
            first.setdefault(told.id, time.perf_counter() - sent[told.id])
            conversation, turn = map(int, told.id.split("/"))
            histories[conversation] += told.tokens
            if told.finish_reason is not None:
                cached[told.id] = told.cached_tokens
                if turn + 1 < TURNS:
                    ask(conversation, turn + 1)
    seconds = time.perf_counter() - start
    return Round(CONVERSATIONS * TURNS * ANSWER / seconds, list(first.values()), list(cached.values()))


class _FirstToken(transformers.StoppingCriteria):
    """Notes when the first token of a batch is there; stops nothing."""

    def __init__(self) -> None:
        self.at: float | None = None

    def __call__(self, input_ids: torch.Tensor, scores: Any, **more: Any) -> torch.Tensor:
        if self.at is None:
            self.at = time.perf_counter()
        return torch.zeros(len(input_ids), dtype=torch.bool)


def generate(model: Any, said: Said) -> Round:
    """The same with transformers: one batch, whose turns all begin when the longest answer has ended."""
    cache = transformers.DynamicCache(config=model.config)
    first: list[float] = []
    cached: list[int] = []
    start = time.perf_counter()
    with torch.inference_mode():
        model(torch.tensor([said.prefix]), past_key_values=cache, use_cache=True, logits_to_keep=1)
        cache.batch_repeat_interleave(CONVERSATIONS)
        tokens = torch.tensor([said.prefix] * CONVERSATIONS)
        for turn in range(TURNS):
            asked = torch.tensor([conversation[turn] for conversation in said.turns])
            tokens = torch.cat((tokens, asked), dim=1)
            began = start if turn == 0 else time.perf_counter()
            cached += [cache.get_seq_length()] * CONVERSATIONS
            clock = _FirstToken()
            tokens = model.generate(
                tokens,
                attention_mask=torch.ones_like(tokens),
                past_key_values=cache,
                max_new_tokens=ANSWER,
                min_new_tokens=ANSWER,
                do_sample=False,
                stopping_criteria=transformers.StoppingCriteriaList([clock]),
            )
            assert clock.at is not None
            first += [clock.at - began] * CONVERSATIONS
    seconds = time.perf_counter() - start
    return Round(CONVERSATIONS * TURNS * ANSWER / seconds, first, cached)
