"""The engine process serves until told to stop; a failure is recorded and dumped before it is told."""

from collections import deque
from pathlib import Path
from typing import Any

import pytest

from tests.engine.conftest import greedy
from tracert.device.device import DeviceError
from tracert.engine.loop import serve
from tracert.messages.messages import Abort, Died, Dumped, DumpNow, Ready, Stats, Stop, Tokens
from tracert.record.errors import NoRoomError

READY = Ready(model="tiny-random", max_model_len=512, ring=None, pid=1)


class ScriptedLink:
    """Hands out one batch of messages a poll; remembers what was sent, and in which order with dumps."""

    def __init__(self, *batches: list[Any]) -> None:
        self.batches = deque(batches)
        self.sent: list[Any] = []

    def poll(self, timeout: float) -> list[Any]:
        if self.batches:
            return self.batches.popleft()
        # Work that is under way is left to finish; then it is over.
        return [Stop()] if timeout else []

    def send(self, *messages: Any) -> None:
        self.sent += messages

    def write_dump(self, reason: str, error: dict[str, Any] | None) -> str:
        self.sent.append((reason, error))
        return f"dump-{reason}"

    def of(self, kind: type) -> list[Any]:
        return [message for message in self.sent if isinstance(message, kind)]


def test_requests_are_answered_until_stop(make_engine, plain):
    """Ready first, every token told, statistics, and a last dump."""
    link = ScriptedLink([greedy("a", [1, 2, 3], 5)])
    assert serve(make_engine(), link, READY, link.write_dump) == 0
    assert link.sent[0] == READY
    assert [token for told in link.of(Tokens) for token in told.tokens] == plain([1, 2, 3], 5)
    assert link.of(Stats)
    assert link.sent[-2:] == [("exit", None), Dumped(token="", path="dump-exit")]


def test_an_abort_and_a_dump_on_request_change_nothing_else(make_engine, plain):
    """The aborted request falls silent, the other goes on, the dump is answered with its token."""
    link = ScriptedLink(
        [greedy("a", [1, 2], 40), greedy("b", [3, 4], 6)], [Abort(id="a"), DumpNow(token="t")]
    )
    assert serve(make_engine(), link, READY, link.write_dump) == 0
    assert link.of(Dumped)[:-1] == [Dumped(token="t", path="dump-request")]
    told = link.of(Tokens)
    assert [t for message in told if message.id == "b" for t in message.tokens] == plain([3, 4], 6)
    assert len([message for message in told if message.id == "a"]) == 1


@pytest.mark.parametrize(
    ("raised", "reason", "code", "name"),
    [
        (
            DeviceError(719, "LAUNCH_FAILURE", "unspecified launch failure", stream=1),
            "device-error",
            719,
            "LAUNCH_FAILURE",
        ),
        (ZeroDivisionError("division by zero"), "exception", -1, "ZeroDivisionError"),
    ],
)
def test_a_failure_is_dumped_before_it_is_told(make_engine, raised, reason, code, name):
    """The last words name the dump, which has been written by then."""
    engine = make_engine()

    def fail() -> None:
        raise raised

    engine.step = fail
    link = ScriptedLink([greedy("a", [1, 2, 3], 5)])
    assert serve(engine, link, READY, link.write_dump) == 1
    (told_reason, error), died = link.sent[-2:]
    assert (told_reason, error["code"], error["name"]) == (reason, code, name)
    assert died == Died(
        code=code, name=name, message=str(raised), dump=f"dump-{reason}", detail=error["detail"]
    )


class FullDisk(ScriptedLink):
    """No dump can be written."""

    def write_dump(self, reason: str, error: dict[str, Any] | None) -> str:
        raise NoRoomError(Path(f"dump-{reason}.jsonl"), 64, "No space left on device")


def test_a_dump_on_request_that_cannot_be_written_ends_nothing(make_engine, plain):
    """The asker is told why; the request in flight is answered to its end."""
    engine = make_engine()
    link = FullDisk([greedy("a", [1, 2], 6)], [DumpNow(token="t")])
    with pytest.raises(NoRoomError):
        serve(engine, link, READY, link.write_dump)  # the last dump, at Stop
    (dumped,) = link.of(Dumped)
    assert dumped.path is None
    assert "No space left on device" in dumped.problem
    assert [token for told in link.of(Tokens) for token in told.tokens] == plain([1, 2], 6)
    assert not link.of(Died)


def test_a_failure_is_told_even_when_its_dump_cannot_be_written(make_engine):
    """The error that ended the engine is not replaced by the one about its dump."""
    engine = make_engine()

    def fail() -> None:
        raise DeviceError(719, "LAUNCH_FAILURE", "unspecified launch failure", stream=1)

    engine.step = fail
    link = FullDisk([greedy("a", [1, 2, 3], 5)])
    assert serve(engine, link, READY, link.write_dump) == 1
    (died,) = link.of(Died)
    assert (died.code, died.name, died.dump) == (719, "LAUNCH_FAILURE", None)
