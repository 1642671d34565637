"""The engine as an operating system process: started, watched, never left behind.

It gets a session of its own, so that Ctrl-C in a terminal reaches only the API process, which then stops the
engine in order. It does not survive its parent: on Linux the kernel kills it when the thread that started it
ends (PR_SET_PDEATHSIG); elsewhere, and if it was already orphaned, `ApiLink.poll` notices.
"""

import asyncio
import ctypes
import os
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress

_PR_SET_PDEATHSIG = 1


class EngineStartError(Exception):
    """The engine's command could not be run at all."""


class EngineProcess:
    """One engine process. Start it in the thread that lives as long as the API process: the main thread."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.pid = process.pid

    @classmethod
    async def start(cls, command: Sequence[str], address: str) -> "EngineProcess":
        """Run `command` with `address` as one more argument. Raises EngineStartError."""
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                address,
                stdin=asyncio.subprocess.DEVNULL,
                start_new_session=True,
                preexec_fn=_leash(os.getpid()),
            )
        except OSError as error:
            raise EngineStartError(f"cannot start the engine, {command[0]}: {error.strerror}") from error
        return cls(process)

    async def wait(self) -> int:
        """The exit status, once the process has ended and is reaped; may be awaited many times."""
        return await self._process.wait()

    async def end(self, *, grace: float, terminate: bool = False) -> int:
        """Wait `grace` seconds for it to end by itself (after SIGTERM, if `terminate`), then kill it."""
        if terminate:
            self._signal(signal.SIGTERM)
        try:
            return await asyncio.wait_for(self._process.wait(), grace)
        except TimeoutError:
            self._signal(signal.SIGKILL)
            return await self._process.wait()

    def kill(self) -> None:
        """SIGKILL, if it is still there."""
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            self._process.send_signal(number)


def _leash(parent: int) -> Callable[[], None]:
    """What the child does between fork and exec: ask to be killed with its parent.

    The library is loaded here, before the fork, so that the child only makes two system calls.
    """
    prctl = getattr(ctypes.CDLL(None), "prctl", None)

    def tie() -> None:
        if prctl is not None:
            prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

    return tie
