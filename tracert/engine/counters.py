"""What the engine has done since it started; `/metrics` shows it."""

from dataclasses import dataclass

from tracert.engine.request import Request


@dataclass(slots=True)
class Counters:
    """Tokens, counted when a request's first token is drawn (prompt, hits) and with each (generation)."""

    prompt_tokens: int = 0
    prefix_hit_tokens: int = 0
    generation_tokens: int = 0

    def drew(self, request: Request) -> None:
        """A token was appended to `request`."""
        self.generation_tokens += 1
        if request.sampled == 1:
            self.prompt_tokens += request.prompt_tokens
            self.prefix_hit_tokens += request.cached_tokens
