"""What every endpoint is given: the parts of the API process."""

from dataclasses import dataclass

from tracert.server.config import AppConfig
from tracert.server.errors import ApiError
from tracert.server.metrics import Metrics
from tracert.server.supervisor import Supervisor
from tracert.server.tokenizer import Tokenizer


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

    def context_length(self) -> int:
        """The most tokens that a prompt and its answer may have. Raises EngineLostError without an engine."""
        ready = self.supervisor.ready
        if self.supervisor.state != "ready" or ready is None:
            raise self.supervisor.lost()
        return ready.max_model_len
