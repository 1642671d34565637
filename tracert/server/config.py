"""What the HTTP side is told once, at start."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class AppConfig:
    """Times are in seconds, sizes in bytes."""

    model: str
    """The name that `/v1/models` shows and requests give."""
    host: str
    port: int
    """0 takes any free one; the ready line says which."""
    max_waiting: int
    """Requests for which no token has come yet; one more is refused with 503 and Retry-After."""
    api_key: str | None = None
    preserve_thinking: bool = False
    """Keep the reasoning of earlier turns in the prompts that conversations make."""
    max_body_bytes: int = 16 * 2**20
    drain_seconds: float = 5.0
    """How long requests in flight may go on when the server is told to stop."""
    stop_seconds: float = 10.0
    """How long the engine may then take to exit before it is killed."""
    hang_seconds: float | None = None
    """Kill an engine that owes an answer and says nothing for so long; None leaves it to the engine."""
    json_lines: bool = False
    """Say on standard output as JSON, too, where the server is."""
    rapid_deaths: int = 5
    """Give up after so many engines in a row that died without one token."""
