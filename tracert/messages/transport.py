"""How messages travel: one zmq pair over an ipc socket for each life of the engine process.

The API process listens (`EngineLink`, asyncio), the engine process connects (`ApiLink`, blocking) by the
address on its command line. A frame is a msgpack list of messages, in order. Nothing is lost at start:
what is sent before the other side is there waits for it. Nothing is lost at the end either: the messages
of an engine that was killed are delivered up to the last frame that left it, and then the iterator ends.
Knows nothing of what messages mean, and nothing of processes but that a parent can die.
"""

import asyncio
import fcntl
import os
import shutil
import stat
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import msgspec
import zmq
import zmq.asyncio
from zmq.utils.monitor import recv_monitor_message

from tracert.messages.messages import FromEngine, ToEngine

_LONGEST_IPC_PATH = 100
"""The kernel allows a socket path 107 bytes."""
_PREFIX = "tracert-"
_LOCK = "lock"
_FRESH_SECONDS = 60.0

_EVENTS = zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_DISCONNECTED


class ApiGoneError(RuntimeError):
    """The process that started the engine has ended; nobody reads what the engine sends."""

    def __init__(self) -> None:
        super().__init__("the API process has gone: the engine has nobody to answer and stops")


class EngineLink:
    """The API process's end, for one engine process. Make it, and use it, inside a running event loop."""

    def __init__(self) -> None:
        self._folder, self._lock = _private_folder()
        self.address = f"ipc://{self._folder}/engine.sock"
        """What the engine's command line is given."""
        self.connected = False
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = msgspec.msgpack.Decoder(list[FromEngine])
        self._context = zmq.asyncio.Context()
        self._socket: zmq.asyncio.Socket = self._context.socket(zmq.PAIR)
        self._socket.set_hwm(0)
        self._monitor: zmq.asyncio.Socket = self._socket.get_monitor_socket(_EVENTS)
        self._gone = asyncio.Event()
        self._outbox: asyncio.Queue[ToEngine] = asyncio.Queue()
        self._socket.bind(self.address)
        self._tasks = [asyncio.create_task(self._write()), asyncio.create_task(self._watch())]

    def send(self, message: ToEngine) -> None:
        """Hand over one message; never waits, and keeps order. Sent to a dead engine, it is dropped."""
        self._outbox.put_nowait(message)

    async def messages(self) -> AsyncIterator[FromEngine]:
        """Every message of the engine, in order; ends when the engine has disconnected and all are read."""
        gone = asyncio.create_task(self._gone.wait())
        try:
            while not gone.done():
                frame = asyncio.ensure_future(self._socket.recv())
                await asyncio.wait({frame, gone}, return_when=asyncio.FIRST_COMPLETED)
                if not frame.done():
                    frame.cancel()
                    break
                # A frame can overtake the monitor's word that its sender is there.
                self.connected = True
                for message in self._decoder.decode(frame.result()):
                    yield message
            while await self._socket.poll(0):
                for message in self._decoder.decode(await self._socket.recv()):
                    yield message
        finally:
            gone.cancel()

    async def close(self) -> None:
        """Drop what was not sent, and remove the socket. May be called twice."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._gone.set()
        if not self._socket.closed:
            self._socket.disable_monitor()
            self._monitor.close(linger=0)
            self._socket.close(linger=0)
            self._context.term()
        shutil.rmtree(self._folder, ignore_errors=True)
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    async def _write(self) -> None:
        while True:
            batch = [await self._outbox.get()]
            while not self._outbox.empty():
                batch.append(self._outbox.get_nowait())
            await self._socket.send(self._encoder.encode(batch))

    async def _watch(self) -> None:
        while True:
            event = (await recv_monitor_message(self._monitor))["event"]
            if event == zmq.EVENT_HANDSHAKE_SUCCEEDED:
                self.connected = True
            elif event == zmq.EVENT_DISCONNECTED:
                self._gone.set()
                return


class ApiLink:
    """The engine process's end: blocking, for one thread.

    `poll` raises `ApiGoneError` when the process that started this one has ended (where the kernel does not
    already kill the engine for it, see `tracert.server.process`).
    """

    def __init__(self, address: str) -> None:
        self._parent = os.getppid()
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = msgspec.msgpack.Decoder(list[ToEngine])
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._socket: zmq.Socket[bytes] = self._context.socket(zmq.PAIR)
        self._socket.set_hwm(0)
        self._socket.connect(address)

    def poll(self, timeout: float = 0.0) -> list[ToEngine]:
        """All messages that are there, in order; waits up to `timeout` seconds for the first.

        Raises ApiGoneError.
        """
        if os.getppid() != self._parent:
            raise ApiGoneError
        if timeout > 0 and not self._socket.poll(int(timeout * 1000) or 1):
            return []
        messages: list[ToEngine] = []
        with suppress(zmq.Again):
            while True:
                messages.extend(self._decoder.decode(self._socket.recv(zmq.NOBLOCK)))
        return messages

    def send(self, *messages: FromEngine) -> None:
        """Hand over messages as one frame; never waits. Send a whole step's tokens in one call."""
        self._socket.send(self._encoder.encode(messages))

    def close(self, timeout: float = 5.0) -> None:
        """Wait up to `timeout` seconds until all that was sent is delivered, then disconnect."""
        self._socket.close(linger=int(timeout * 1000))
        self._context.term()


def remove_stale_folders() -> None:
    """Remove the folders of sockets that API processes of this user left behind when they were killed.

    A lock tells whether a folder is in use: the kernel lets it go when its process ends, whatever container
    that is in. What is not understood, or has just been made, is left alone.
    """
    for parent in {Path(tempfile.gettempdir()), Path("/tmp")}:
        for folder in parent.glob(f"{_PREFIX}*"):
            with suppress(OSError):
                about = folder.lstat()
                fresh = time.time() - about.st_mtime < _FRESH_SECONDS
                if stat.S_ISDIR(about.st_mode) and about.st_uid == os.getuid() and not fresh:
                    _remove_unlocked(folder)


def _remove_unlocked(folder: Path) -> None:
    """OSError, and nothing removed, where a process holds the lock or there is none."""
    lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for name in ("engine.sock", _LOCK):
            with suppress(FileNotFoundError):
                (folder / name).unlink()
        folder.rmdir()
    finally:
        os.close(lock)


def _private_folder() -> tuple[Path, int]:
    """A fresh folder that only this user may enter, with a path short enough for a socket, and its lock."""
    folder = tempfile.mkdtemp(prefix=_PREFIX)
    if len(folder) > _LONGEST_IPC_PATH - len("/engine.sock"):
        os.rmdir(folder)
        folder = tempfile.mkdtemp(prefix=_PREFIX, dir="/tmp")
    lock = os.open(f"{folder}/{_LOCK}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    return Path(folder), lock
