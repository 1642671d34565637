"""What clients say: conversations of several turns, each in a lane of its own.

Knows neither engine nor HTTP: the drivers do.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Conversation:
    """A system prompt and what the user says turn after turn; the history grows by the real answers."""

    name: str
    system: str
    turns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Workload:
    """Conversations side by side; each answer is greedy and `answer_tokens` long at most."""

    conversations: tuple[Conversation, ...]
    answer_tokens: int

    @property
    def requests(self) -> int:
        """Requests that a whole run sends."""
        return sum(len(conversation.turns) for conversation in self.conversations)
