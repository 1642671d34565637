"""One answer in the making: tokens in, text and log-probabilities out, in step with each other."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tracert.messages.messages import FinishReason, TokenLogprobs, Tokens
from tracert.server.speech import Part, SpeechReader
from tracert.server.stops import StopFilter
from tracert.server.tokenizer import TextStream


class Entry(NamedTuple):
    """A token's log-probabilities, and where its text begins in the answer."""

    offset: int
    logprobs: TokenLogprobs


@dataclass(frozen=True, slots=True)
class Delta:
    """What an answer has more; `finish_reason` when there is no more to come."""

    answer: int
    """The index of the answer in its request."""
    text: str
    """As the model wrote it; empty where a reader takes it apart."""
    entries: Sequence[Entry]
    finish_reason: FinishReason | None
    parts: Sequence[Part] = ()
    """What a reader made of it."""

    @property
    def empty(self) -> bool:
        """Nothing that a client would see."""
        return not (self.text or self.parts or self.entries or self.finish_reason)


class Choice:
    """Knows nothing of the engine and of HTTP. A token's entry is let out with the first of its text, so that
    entries end where the text ends; those of a stop string are dropped with it, and so is EOS."""

    def __init__(
        self,
        index: int,
        stream: TextStream,
        stops: Sequence[str],
        eos_ids: Collection[int],
        reader: SpeechReader | None = None,
    ) -> None:
        self.index = index
        self.tokens = 0
        """Tokens generated so far, up to the one that completed a stop string."""
        self.stopped = False
        """A stop string has been found: the engine need not go on."""
        self._stream = stream
        self._stops = StopFilter(stops)
        self._eos_ids = eos_ids
        self._reader = reader
        self._pending: list[Entry] = []
        self._decoded = 0
        self._shown = 0

    def push(self, message: Tokens) -> Delta:
        """Take over new tokens."""
        text = "".join(self._text_of(message))
        self._shown += len(text)
        self.stopped = self._stops.found
        finish: FinishReason | None = "stop" if self.stopped else message.finish_reason
        ready = [entry for entry in self._pending if entry.offset < self._shown]
        if finish is not None and not self.stopped:
            ready = self._pending
        self._pending = self._pending[len(ready) :]
        if self._reader is None:
            return Delta(self.index, text, ready, finish)
        parts = self._reader.push(text)
        if finish is not None:
            parts += self._reader.finish()
        if self._reader.ended:
            finish = "stop"
        return Delta(self.index, "", ready, finish, parts)

    def _text_of(self, message: Tokens) -> list[str]:
        shown: list[str] = []
        ends = len(message.tokens) - 1 if message.finish_reason == "stop" else -1
        for number, token in enumerate(message.tokens):
            self.tokens += 1
            if number == ends and token in self._eos_ids:
                break
            if message.logprobs is not None:
                self._pending.append(Entry(self._decoded, message.logprobs[number]))
            piece = self._stream.push([token])
            self._decoded += len(piece)
            shown.append(self._stops.push(piece))
            if self._stops.found:
                return shown
        if message.finish_reason is not None:
            shown.append(self._stops.push(self._stream.finish()))
            shown.append(self._stops.finish())
        return shown
