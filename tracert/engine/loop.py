"""The engine process: messages in, steps, messages out, and the boundary where a failure ends it.

Whatever goes wrong inside a step ends the process: what the device holds is not to be trusted, and the
parent starts a new one. The history is on disk before the parent is told.
"""

import time
from collections.abc import Callable
from typing import Any, Protocol

from tracert.engine.boundary import record_failure
from tracert.engine.step import Engine
from tracert.messages.messages import (
    Abort,
    Died,
    Dumped,
    DumpNow,
    Failed,
    FromEngine,
    Generate,
    Ready,
    Stop,
    ToEngine,
)

IDLE_SECONDS = 0.25
STATS_SECONDS = 0.5

WriteDump = Callable[[str, dict[str, Any] | None], str | None]
"""(reason, error as the dump's header has it) -> path of the dump; None when nothing is recorded."""


class Link(Protocol):
    """The engine's end of the connection to the API process."""

    def poll(self, timeout: float) -> list[ToEngine]:
        """Messages that have come, waiting up to `timeout` seconds for the first."""

    def send(self, *messages: FromEngine) -> None:
        """Send messages, in this order."""


def serve(engine: Engine, link: Link, ready: Ready, write_dump: WriteDump) -> int:
    """Serve until told to stop (exit code 0) or until something fails (1)."""
    try:
        link.send(ready, engine.stats())
        _loop(engine, link, write_dump)
    except Exception as raised:
        link.send(_last_words(engine, raised, write_dump))
        return 1
    last = write_dump("exit", None)
    if last is not None:
        link.send(Dumped(token="", path=last))
    return 0


def _loop(engine: Engine, link: Link, write_dump: WriteDump) -> None:
    told_at = 0.0
    while True:
        for message in link.poll(0 if engine.busy else IDLE_SECONDS):
            match message:
                case Generate():
                    failed = engine.add(message)
                    if failed is not None:
                        link.send(failed)
                case Abort():
                    engine.abort(message.id)
                case DumpNow():
                    link.send(_dumped(message, write_dump))
                case Stop():
                    return
        ended = False
        if engine.busy:
            told = engine.step()
            if told:
                link.send(*told)
            # Who has got a whole answer finds the figures as they are after it.
            ended = any(isinstance(one, Failed) or one.finish_reason for one in told)
        now = time.monotonic()
        if ended or now - told_at >= STATS_SECONDS:
            told_at = now
            link.send(engine.stats())


def _dumped(asked: DumpNow, write_dump: WriteDump) -> Dumped:
    """The dump that was asked for, or why there is none: the requests in flight go on either way."""
    try:
        return Dumped(token=asked.token, path=write_dump("request", None))
    except Exception as failed:
        return Dumped(token=asked.token, path=None, problem=str(failed))


def _last_words(engine: Engine, raised: Exception, write_dump: WriteDump) -> Died:
    """Record the failure, write the dump, and only then say what happened.

    Without a dump the failure is told all the same: the parent has the ring, and says why if it fails too.
    """
    reason, error = record_failure(engine.recorder, raised)
    try:
        dump = write_dump(reason, error)
    except Exception:
        dump = None
    return Died(
        code=error["code"], name=error["name"], message=error["message"], dump=dump, detail=error["detail"]
    )
