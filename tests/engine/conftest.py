"""An engine on `tiny-random`, in this process, and the plain way to the same tokens."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from tracert_kernels.dispatch import for_device

from tracert.device.simulated import SimDevice
from tracert.engine.config import EngineConfig
from tracert.engine.step import Engine
from tracert.memory.layout import KvLayout
from tracert.messages.messages import Failed, Generate, Sampling, Tokens
from tracert.models.batch import Batch
from tracert.models.decoder import Decoder
from tracert.models.fetch import resolve
from tracert.models.load import load_model
from tracert.record.recorder import NullRecorder, Recorder

PAGE = 16


@pytest.fixture(scope="session")
def model() -> Decoder:
    """The seeded 2-layer model in float32."""
    return load_model(resolve("tiny-random"), torch.float32, "cpu")


@pytest.fixture
def make_engine(model: Decoder) -> Callable[..., Engine]:
    """Builds an engine; keyword arguments go to its config, `schedule` to the device."""

    def make(recorder: Recorder | None = None, schedule: str = "eager", **config: Any) -> Engine:
        told = recorder or NullRecorder()
        settings = {"kv_pages": 64, "max_model_len": 512, "max_num_seqs": 4, **config}
        device = SimDevice(told, schedule=schedule)
        return Engine(told, EngineConfig(**settings), device, model, for_device("cpu"), "tiny-random")

    return make


@pytest.fixture
def plain(model: Decoder) -> Callable[[Sequence[int], int], list[int]]:
    """Greedy tokens, each by a forward over the whole sequence in pages of its own."""

    def continue_greedily(prompt: Sequence[int], count: int) -> list[int]:
        tokens = list(prompt)
        for _ in range(count):
            pages = len(tokens) // PAGE + 2
            shape = model.config
            layout = KvLayout(pages, shape.layers, PAGE, shape.kv_heads, shape.head_dim, model.dtype)
            cache = torch.zeros(layout.shape)
            table = torch.arange(1, pages, dtype=torch.int32)[None]
            length = len(tokens)
            batch = Batch(
                tokens=torch.tensor(tokens),
                position=torch.arange(length, dtype=torch.int32),
                token_row=torch.zeros(length, dtype=torch.int32),
                rows=torch.zeros(1, dtype=torch.int32),
                query_start=torch.tensor([0, length], dtype=torch.int32),
                context=torch.tensor([length], dtype=torch.int32),
                logits_index=torch.tensor([length - 1]),
            )
            tokens.append(int(model.forward(batch, cache, table)[0].argmax()))
        return tokens[len(prompt) :]

    return continue_greedily


def greedy(public_id: str, tokens: Sequence[int], count: int, **sampling: Any) -> Generate:
    """A greedy request that ignores the end-of-sequence token."""
    settings = {"temperature": 0.0, "ignore_eos": True, "max_tokens": count, **sampling}
    return Generate(id=public_id, tokens=list(tokens), sampling=Sampling(**settings))


def run(engine: Engine, *, steps: int = 10_000) -> tuple[dict[str, list[int]], dict[str, Tokens | Failed]]:
    """Step until idle; tokens by id, and the last message of each."""
    answers: dict[str, list[int]] = {}
    last: dict[str, Tokens | Failed] = {}
    for _ in range(steps):
        if not engine.busy:
            break
        for told in engine.step():
            last[told.id] = told
            if isinstance(told, Tokens):
                answers.setdefault(told.id, []).extend(told.tokens)
        engine.check()
    assert not engine.busy, "the engine did not come to rest"
    return answers, last
