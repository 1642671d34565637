"""What clients say: conversations of several turns, and scripts of raw completions, in lanes side by side.

Knows neither engine nor HTTP: the drivers do.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


class PromptTokenizer(Protocol):
    """What the maker of a prompt is given: the tokenizer of the model that is served."""

    def encode(self, text: str) -> list[int]:
        """Token ids of a text, as the prompt of a completion has them."""

    def decode(self, tokens: Sequence[int], /) -> str:
        """The text of token ids."""


Prompt = str | Callable[[PromptTokenizer], str | list[int]]
"""A text; or what makes one, or its token ids, where lengths in tokens must be right for any model."""


@dataclass(frozen=True, slots=True)
class Send:
    """One raw completion. `pause` steps lie between the end of the one before and this one, by step."""

    name: str
    prompt: Prompt
    max_tokens: int
    temperature: float = 0.0
    cache_salt: str = ""
    ignore_eos: bool = False
    seed: int = 0
    pause: int = 2


@dataclass(frozen=True, slots=True)
class Script:
    """Completions one after the other, in a lane of their own; the whole `repeats` times.

    It starts at step `starts`; or, with `beside`, as soon as the request of that name of another lane is
    sent.
    """

    name: str
    sends: tuple[Send, ...]
    repeats: int = 1
    starts: int = 0
    beside: str | None = None
    stream: bool = False

    def requests(self) -> list[tuple[str, Send]]:
        """Every request in order, by a name that no other has: from the second repeat on, numbered."""
        return [
            (send.name if not repeat else f"{send.name}#{repeat + 1}", send)
            for repeat in range(self.repeats)
            for send in self.sends
        ]


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool, as an agent's history has it."""

    id: str
    name: str
    arguments: str
    """A JSON object."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What the client adds to the history before it asks, and what its history makes of the answer.

    A small model does not call tools and does not think of its own accord; the history of an agent is the
    same whoever wrote the call. `calls` and `reasoning` are added to the answer where the model gave none.
    """

    messages: tuple[Mapping[str, Any], ...]
    calls: tuple[Call, ...] = ()
    reasoning: str = ""
    system: str | None = None
    """The system prompt from now on."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A system prompt and what the user says turn after turn; the history grows by the real answers.

    A turn that is a text is what the user says. It starts at step `starts` (None: a few steps behind the
    conversation before it), or as soon as the request `beside` of another lane is sent. `fresh`: every turn
    begins with the system prompt alone.
    """

    name: str
    system: str
    turns: tuple[str | Turn, ...]
    tools: tuple[Mapping[str, Any], ...] = ()
    starts: int | None = None
    beside: str | None = None
    stream: bool = True
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class Workload:
    """Lanes side by side; the answers of conversations are greedy and `answer_tokens` long at most."""

    conversations: tuple[Conversation, ...] = ()
    answer_tokens: int = 24
    scripts: tuple[Script, ...] = ()
    preserve_thinking: bool = False
    """Keep the reasoning of earlier turns in the rendered history (`serve --preserve-thinking`)."""

    @property
    def requests(self) -> int:
        """Requests that a whole run sends."""
        turns = sum(len(conversation.turns) for conversation in self.conversations)
        return turns + sum(len(script.sends) * script.repeats for script in self.scripts)

    @property
    def lanes(self) -> list[str]:
        """Names of all lanes."""
        return [one.name for one in self.conversations] + [one.name for one in self.scripts]
