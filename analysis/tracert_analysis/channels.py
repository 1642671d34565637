"""Gives writers that have no stream streams of their own: channels.

The host writes at once, and has a channel to itself. What an external writer was asked for goes on until the
host has learned that it is done, and nothing but that orders it with anything: its acts that are open at the
same time stand on different channels, and the next one takes a channel on which all are done. So a channel is
in order, as a stream is. Acts beyond the last channel are left out.
"""

import heapq
from collections import defaultdict
from collections.abc import Iterable
from typing import Literal, NamedTuple

from tracert_analysis.happens_before import Act, launched, passed

CHANNELS_MAX = 128
"""Clocks have an ordinal for each: that many acts may be open at once."""

HOST = "host"


class Told(NamedTuple):
    """An event of a writer without a stream."""

    seq: int
    kind: Literal["host_write", "external_begin", "external_done"]
    actor: str
    transaction: int | None


class Outside(NamedTuple):
    """What such a writer did, beside the launches: from `seq` to `done_seq`, None when that isn't known."""

    seq: int
    stream: int
    """Its channel."""
    ordinal: int
    actor: str
    transaction: int | None
    done_seq: int | None


class Channels:
    """Reads what was told, by seq, into `acts` and `found`; channels are numbered from `first` on."""

    def __init__(self, told: Iterable[Told], first: int) -> None:
        self.acts: list[Act] = []
        """The acts that they are to the clocks, by seq."""
        self.first = first
        """The stream that the first channel counts as: so many streams has the device."""
        self._done: dict[int, int | None] = {}
        """By place in `_begun`: when it was known to be done."""
        self._begun: list[Outside] = []
        self._ordinals: list[int] = []
        self._idle: dict[str, list[int]] = defaultdict(list)
        """Channels on which all is done, by actor."""
        self._open: dict[tuple[str, int | None], list[int]] = defaultdict(list)
        """Places in `_begun`, by what a completion names."""
        for event in told:
            if event.kind == "external_done":
                for place in self._open.pop((event.actor, event.transaction), []):
                    self._end(place, event.seq)
            else:
                self._begin(event)

    @property
    def found(self) -> list[Outside]:
        """All that was begun, by seq."""
        return [act._replace(done_seq=self._done.get(place)) for place, act in enumerate(self._begun)]

    @property
    def width(self) -> int:
        """How many channels there are."""
        return len(self._ordinals)

    def _begin(self, event: Told) -> None:
        actor = HOST if event.kind == "host_write" else event.actor
        idle = self._idle[actor]
        if idle:
            channel = heapq.heappop(idle)
        elif len(self._ordinals) < CHANNELS_MAX:
            channel = len(self._ordinals)
            self._ordinals.append(0)
        else:
            return
        self._ordinals[channel] += 1
        stream, ordinal = self.first + channel, self._ordinals[channel]
        place = len(self._begun)
        self._begun.append(Outside(event.seq, stream, ordinal, actor, event.transaction, None))
        self.acts.append(launched(event.seq, stream, ordinal))
        if event.kind == "host_write":
            self._end(place, event.seq)
        else:
            self._open[event.actor, event.transaction].append(place)

    def _end(self, place: int, seq: int) -> None:
        act = self._begun[place]
        self._done[place] = seq
        self.acts.append(passed(seq, stream=act.stream))
        heapq.heappush(self._idle[act.actor], act.stream - self.first)
