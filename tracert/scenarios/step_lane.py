"""Lanes of a workload under way in this process: what each asks next, and what it makes of the answer."""

from collections.abc import Sequence
from typing import Protocol

from tracert.messages.messages import Generate, Sampling
from tracert.scenarios.history import History
from tracert.scenarios.workload import Conversation, Script
from tracert.server.chat_body import Prompt, encode_chat
from tracert.server.chat_message import message_of
from tracert.server.dialect import MARKS
from tracert.server.tokenizer import Tokenizer

PAUSE_STEPS = 2
"""Between the end of an answer and the conversation's next turn."""


class StepLane(Protocol):
    """A conversation or a script. `due`: the step of its next request; None while one runs."""

    name: str
    beside: str | None
    due: int | None

    @property
    def request(self) -> str:
        """The name of the request that is to be sent, or runs."""

    @property
    def over(self) -> bool:
        """Has it had its last answer?"""

    def ask(self) -> Generate:
        """The next request."""

    def heard(self, tokens: Sequence[int], step: int) -> None:
        """The answer has ended, in this step."""

    def end(self) -> None:
        """A request failed: nothing more comes of this lane."""


class ConversationLane:
    """One conversation: prompts are rendered as the server would."""

    def __init__(
        self,
        conversation: Conversation,
        tokenizer: Tokenizer,
        starts: int | None,
        answer_tokens: int,
        preserve_thinking: bool,
    ) -> None:
        self.name = conversation.name
        self.beside = conversation.beside
        self.due = starts
        self._conversation = conversation
        self._tokenizer = tokenizer
        self._answer_tokens = answer_tokens
        self._preserve_thinking = preserve_thinking
        self._history = History(conversation)
        self._prompt: Prompt | None = None
        self._failed = False

    @property
    def request(self) -> str:
        """Conversation and turn."""
        return self._history.request

    @property
    def over(self) -> bool:
        """Has it had its last answer, or a failure?"""
        return self._failed or self._history.over

    def ask(self) -> Generate:
        """The next turn, greedy."""
        self.due = None
        self._prompt = encode_chat(
            self._history.ask(),
            [dict(tool) for tool in self._conversation.tools],
            None,
            self._tokenizer,
            preserve_thinking=self._preserve_thinking,
        )
        sampling = Sampling(max_tokens=self._answer_tokens, temperature=0, seed=0)
        return Generate(id=self.request, tokens=self._prompt.tokens, sampling=sampling)

    def heard(self, tokens: Sequence[int], step: int) -> None:
        """Take the answer apart as the server would, and put it into the history."""
        assert self._prompt is not None
        stream, reader = self._tokenizer.stream(keep=MARKS), self._prompt.reader(one_call=False)
        text = stream.push(tokens) + stream.finish()
        self._history.answered(message_of([*reader.push(text), *reader.finish()]))
        self.due = step + PAUSE_STEPS

    def end(self) -> None:
        """The history makes no sense any more."""
        self._failed = True


class ScriptLane:
    """One script of raw completions."""

    def __init__(self, script: Script, tokenizer: Tokenizer) -> None:
        self.name = script.name
        self.beside = script.beside
        self.due = None if script.beside else script.starts
        self._tokenizer = tokenizer
        self._requests = script.requests()
        self._at = 0

    @property
    def request(self) -> str:
        """The name of the send."""
        return self._requests[self._at][0]

    @property
    def over(self) -> bool:
        """Has it had its last answer, or a failure?"""
        return self._at >= len(self._requests)

    def ask(self) -> Generate:
        """The next send."""
        self.due = None
        name, send = self._requests[self._at]
        made = send.prompt if isinstance(send.prompt, str) else send.prompt(self._tokenizer)
        sampling = Sampling(
            max_tokens=send.max_tokens,
            temperature=send.temperature,
            seed=send.seed,
            ignore_eos=send.ignore_eos,
        )
        tokens = self._tokenizer.encode(made) if isinstance(made, str) else made
        return Generate(id=name, tokens=tokens, sampling=sampling, cache_salt=send.cache_salt)

    def heard(self, tokens: Sequence[int], step: int) -> None:
        """Go on to the next one."""
        self._at += 1
        if not self.over:
            self.due = step + self._requests[self._at][1].pause

    def end(self) -> None:
        """As the reports' clients do: the first failure is the last request."""
        self._at = len(self._requests)
