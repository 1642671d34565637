"""The parameters that completions and chat completions share."""

from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, field_validator

from tracert.messages.messages import Sampling
from tracert.server.body import Body
from tracert.server.errors import ApiError, bad_parameter
from tracert.server.service import Context

MAX_CHOICES = 128
_MAX_STOPS = 4
_MAX_STOP_LENGTH = 1024


class StreamOptions(BaseModel):
    """What a stream tells beside the text."""

    model_config = ConfigDict(strict=True, extra="ignore")

    include_usage: bool = False


class SamplingBody(Body):
    """How to answer. What is not here is refused, unless it asks for nothing."""

    hints: ClassVar[frozenset[str]] = frozenset(
        {"user", "store", "metadata", "service_tier", "safety_identifier", "prompt_cache_key"}
    )
    neutral: ClassVar[dict[str, tuple[Any, ...]]] = {
        "presence_penalty": (0,),
        "frequency_penalty": (0,),
        "repetition_penalty": (1,),
        "length_penalty": (1,),
        "min_p": (0,),
        "min_tokens": (0,),
        "logit_bias": ({},),
        "stop_token_ids": ([],),
        "use_beam_search": (False,),
        "best_of": (1,),
        "response_format": ({"type": "text"},),
    }

    model: str | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    top_k: Annotated[int, Field(ge=-1, le=2**31 - 1)] | None = None
    seed: Annotated[int, Field(ge=-(2**63), le=2**63 - 1)] | None = None
    n: Annotated[int, Field(ge=1, le=MAX_CHOICES)] | None = None
    stop: str | list[str] | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    ignore_eos: bool | None = None
    cache_salt: Annotated[str, Field(max_length=256)] | None = None

    @field_validator("stop")
    @classmethod
    def _check_stop(cls, stop: str | list[str] | None) -> str | list[str] | None:
        stops = [stop] if isinstance(stop, str) else stop or []
        if len(stops) > _MAX_STOPS:
            raise ValueError(f"at most {_MAX_STOPS} stop strings")
        if not all(stops):
            raise ValueError("a stop string may not be empty")
        if any(len(text) > _MAX_STOP_LENGTH for text in stops):
            raise ValueError(f"a stop string has at most {_MAX_STOP_LENGTH} characters")
        return stop

    @property
    def stops(self) -> list[str]:
        """The stop strings as a list."""
        return [self.stop] if isinstance(self.stop, str) else self.stop or []

    @property
    def include_usage(self) -> bool:
        """Whether a stream ends with the usage."""
        return self.stream_options is not None and self.stream_options.include_usage

    def check_stream_options(self) -> None:
        """Raises ApiError 400 for options of a stream that is none."""
        if self.stream_options is not None and not self.stream:
            raise bad_parameter("stream_options", "is only allowed with stream: true")

    def sampling(self, max_tokens: int, logprobs: int | None) -> Sampling:
        """As the engine wants it."""
        return Sampling(
            max_tokens=max_tokens,
            temperature=1.0 if self.temperature is None else self.temperature,
            top_p=1.0 if self.top_p is None else self.top_p,
            top_k=max(self.top_k or 0, 0),
            seed=self.seed,
            ignore_eos=bool(self.ignore_eos),
            logprobs=logprobs,
        )


def fit(prompt_tokens: int, asked: int | None, context: Context, default: int, param: str) -> int:
    """How many tokens to generate after a prompt.

    `default` is what to take when nothing was asked for, as far as there is room. Raises ApiError 400, with
    the counts, when the prompt or what was asked for does not fit into `context`.
    """
    room = context.tokens - prompt_tokens
    if room < 1:
        message = (
            f"The prompt is too long: it has {prompt_tokens} tokens, and {context} "
            "must also hold at least one token of the answer. Shorten the prompt."
        )
        raise ApiError(400, message, code="context_length_exceeded", param=param)
    if asked is None:
        return min(default, room)
    if asked > room:
        message = (
            f"The prompt has {prompt_tokens} tokens and {asked} were asked for: {prompt_tokens + asked} "
            f"together, more than {context}. Shorten the prompt, or ask for at most {room}."
        )
        raise ApiError(400, message, code="context_length_exceeded", param="max_tokens")
    return asked
