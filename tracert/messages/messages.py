"""What passes between the API process and the engine process, as msgspec structs.

Token ids only: text stays in the API process. Knows nothing of HTTP, torch or scheduling.
"""

from typing import Any, Literal

import msgspec

FinishReason = Literal["stop", "length"]


class Sampling(msgspec.Struct, frozen=True, kw_only=True):
    """How tokens are chosen. temperature 0 is greedy; top_k 0 and top_p 1 are off."""

    max_tokens: int
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    seed: int | None = None
    ignore_eos: bool = False
    logprobs: int | None = None
    """How many alternatives to report a token; None reports nothing."""


class Message(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Base of every message; the tag is the class name."""


class Generate(Message, frozen=True):
    """API to engine: a new request. `id` is the public one."""

    id: str
    tokens: list[int]
    sampling: Sampling
    cache_salt: str = ""


class Abort(Message, frozen=True):
    """API to engine: the client has gone, or a stop string was found."""

    id: str


class DumpNow(Message, frozen=True):
    """API to engine: write a dump, go on serving."""

    token: str


class Stop(Message, frozen=True):
    """API to engine: finish, write a last dump if recording, and exit."""


class TokenLogprobs(msgspec.Struct, frozen=True, kw_only=True):
    """Log-probabilities of one sampled token and of the most likely ones."""

    token: int
    logprob: float
    top: list[tuple[int, float]] = []


class Tokens(Message, frozen=True):
    """Engine to API: new tokens of a request; `finish_reason` when they are the last."""

    id: str
    tokens: list[int]
    logprobs: list[TokenLogprobs] | None = None
    finish_reason: FinishReason | None = None
    prompt_tokens: int = 0
    cached_tokens: int = 0


class Failed(Message, frozen=True):
    """Engine to API: one request failed, the engine goes on."""

    id: str
    status: int
    code: str
    message: str


class Ready(Message, frozen=True):
    """Engine to API: the model is loaded, requests are welcome."""

    model: str
    max_model_len: int
    """Tokens of the longest sequence, prompt and answer: the model's limit or the pool's."""
    ring: str | None
    pid: int
    asked_model_len: int = 0
    """What `max_model_len` would be with KV pages enough; 0 where that is not known."""
    kv_pages: int = 0
    """Pages of the pool, the reserved one included."""
    kv_tokens: int = 0
    """Tokens that the pages of requests have room for."""
    kv_bytes: int = 0


class Stats(Message, frozen=True):
    """Engine to API, at most a few times a second: gauges and counters since start."""

    running: int
    waiting: int
    free_pages: int
    cached_pages: int
    preemptions: int
    ring_events: int
    ring_lost: int
    free_snapshots: int = 0
    kept_pages: int = 0
    free_host_slots: int = 0
    used_host_slots: int = 0


class Dumped(Message, frozen=True):
    """Engine to API: the answer to DumpNow; `path` None when not recording, or there is a `problem`.

    With an empty `token` nobody asked: it is the last dump, of an orderly end.
    """

    token: str
    path: str | None
    problem: str | None = None
    """Why the dump could not be written."""


class Died(Message, frozen=True):
    """Engine to API, its last words: the device failed or the engine raised; the dump is written."""

    code: int
    """The device's error code; not positive when it was not the device, but an exception in the engine."""
    name: str
    message: str
    dump: str | None
    """None when not recording, or when it could not be written."""
    detail: dict[str, Any] = {}


ToEngine = Generate | Abort | DumpNow | Stop
FromEngine = Tokens | Failed | Ready | Stats | Dumped | Died
