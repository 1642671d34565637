"""What every endpoint is given: the parts of the API process."""

from dataclasses import dataclass
from typing import NamedTuple

from tracert.server.config import AppConfig
from tracert.server.errors import ApiError
from tracert.server.metrics import Metrics
from tracert.server.supervisor import Supervisor
from tracert.server.tokenizer import Tokenizer


class Context(NamedTuple):
    """The most tokens that a prompt and its answer may have; `model`: with KV pages enough."""

    tokens: int
    model: int

    def __str__(self) -> str:
        """Whose limit it is, for an error's message."""
        if self.tokens < self.model:
            return (
                f"the {self.tokens} tokens that all KV pages of this server hold (the model's context is "
                f"{self.model}; serve with more --kv-pages or --kv-memory)"
            )
        return f"this model's context of {self.tokens} tokens"


@dataclass(frozen=True, slots=True)
class Service:
    """Assembled once; nothing here changes but the state behind the supervisor."""

    config: AppConfig
    metrics: Metrics
    supervisor: Supervisor
    tokenizer: Tokenizer
    created: int
    """When the server started, in unix seconds."""

    def check_model(self, model: str | None) -> None:
        """Raises ApiError 404 for a model that is not served. A request need not name one."""
        if model is not None and model != self.config.model:
            message = f"The model {model!r} is not served here; this server serves {self.config.model!r}."
            raise ApiError(404, message, code="model_not_found", param="model")

    def context(self) -> Context:
        """How long a prompt and its answer may be. Raises EngineLostError without an engine."""
        ready = self.supervisor.ready
        if self.supervisor.state != "ready" or ready is None:
            raise self.supervisor.lost()
        return Context(ready.max_model_len, max(ready.asked_model_len, ready.max_model_len))
