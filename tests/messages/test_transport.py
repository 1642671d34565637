"""The link between the two processes, with a real second process at its other end."""

import asyncio
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tracert.messages.messages import (
    Abort,
    Died,
    FromEngine,
    Generate,
    Ready,
    Sampling,
    Stop,
    TokenLogprobs,
    Tokens,
)
from tracert.messages.transport import ApiGoneError, ApiLink, EngineLink, remove_stale_folders

READY = Ready(model="m", max_model_len=8, ring=None, pid=7)

PRELUDE = """
import os, sys, time
from tracert.messages.messages import *
from tracert.messages.transport import ApiGoneError, ApiLink
"""


def start(body: str, address: str) -> subprocess.Popen[bytes]:
    """A process that runs `body` with the address as its only argument."""
    return subprocess.Popen([sys.executable, "-c", PRELUDE + body, address], stdout=subprocess.PIPE)


async def collect(messages: AsyncIterator[FromEngine]) -> list[FromEngine]:
    """All messages until the link ends, within ten seconds."""

    async def run() -> list[FromEngine]:
        return [message async for message in messages]

    return await asyncio.wait_for(run(), 10)


def test_messages_come_back_as_they_were_sent() -> None:
    """Every field of a message survives the way, both ways, in order."""
    body = """
link = ApiLink(sys.argv[1])
got = []
while not got or not isinstance(got[-1], Stop):
    got += link.poll(1.0)
generate = got[0]
link.send(
    Tokens(id=generate.id, tokens=generate.tokens,
           logprobs=[TokenLogprobs(token=5, logprob=-0.5, top=[(5, -0.5)])],
           finish_reason=generate.cache_salt, prompt_tokens=generate.sampling.seed, cached_tokens=len(got)),
    Died(code=719, name="LAUNCH_FAILURE", message=got[1].id, dump=None, detail={"a": [1, {"b": None}]}))
link.close()
"""

    async def scenario() -> list[FromEngine]:
        link = EngineLink()
        process = start(body, link.address)
        link.send(
            Generate(
                id="r", tokens=[1, 2, 70000], sampling=Sampling(max_tokens=4, seed=-9), cache_salt="stop"
            )
        )
        link.send(Abort(id="gone"))
        link.send(Stop())
        got = await collect(link.messages())
        await link.close()
        process.wait(5)
        return got

    expected = [
        Tokens(
            id="r",
            tokens=[1, 2, 70000],
            logprobs=[TokenLogprobs(token=5, logprob=-0.5, top=[(5, -0.5)])],
            finish_reason="stop",
            prompt_tokens=-9,
            cached_tokens=3,
        ),
        Died(code=719, name="LAUNCH_FAILURE", message="gone", dump=None, detail={"a": [1, {"b": None}]}),
    ]
    assert expected == asyncio.run(scenario())


def test_nothing_is_lost_when_the_engine_connects_late() -> None:
    """Messages sent a while before the engine connects are all there when it does."""
    body = """
time.sleep(0.5)
link = ApiLink(sys.argv[1])
got = []
while not got or not isinstance(got[-1], Stop):
    got += link.poll(1.0)
link.send(*[Tokens(id=m.id, tokens=[]) for m in got[:-1]])
link.close()
"""

    async def scenario() -> list[FromEngine]:
        link = EngineLink()
        for number in range(1000):
            link.send(Abort(id=str(number)))
        link.send(Stop())
        process = start(body, link.address)
        got = await collect(link.messages())
        await link.close()
        process.wait(5)
        return got

    assert [Tokens(id=str(number), tokens=[]) for number in range(1000)] == asyncio.run(scenario())


def test_last_words_arrive_though_the_engine_exits_at_once() -> None:
    """After `close` the process may end: all frames are read before the iterator ends."""
    body = """
link = ApiLink(sys.argv[1])
for number in range(5000):
    link.send(Tokens(id=str(number), tokens=[number] * 50))
link.send(Died(code=1, name="N", message="m", dump="d"))
link.close()
os._exit(3)
"""

    async def scenario() -> list[FromEngine]:
        link = EngineLink()
        process = start(body, link.address)
        got = await collect(link.messages())
        await link.close()
        process.wait(5)
        return got

    got = asyncio.run(scenario())
    assert len(got) == 5001
    assert Died(code=1, name="N", message="m", dump="d") == got[-1]


def test_the_iterator_ends_when_the_engine_is_killed() -> None:
    """kill -9 ends the iterator at once, after the messages that were handed over."""
    body = """
link = ApiLink(sys.argv[1])
link.send(Ready(model="m", max_model_len=8, ring=None, pid=7))
time.sleep(60)
"""

    async def scenario() -> tuple[list[FromEngine], float]:
        link = EngineLink()
        process = start(body, link.address)
        got: list[FromEngine] = []
        killed = 0.0
        async for message in link.messages():
            got.append(message)
            assert link.connected
            process.send_signal(signal.SIGKILL)
            killed = time.monotonic()
        ended = time.monotonic() - killed
        await link.close()
        process.wait(5)
        return got, ended

    got, ended = asyncio.run(scenario())
    assert got == [READY]
    assert ended < 1.0


def test_a_million_token_prompt_passes() -> None:
    """A prompt of a million ids, several megabytes, arrives whole."""
    body = """
link = ApiLink(sys.argv[1])
(generate,) = link.poll(10.0)
link.send(Tokens(id=generate.id, tokens=[len(generate.tokens), sum(generate.tokens)]))
link.close()
"""
    prompt = list(range(1_000_000))

    async def scenario() -> list[FromEngine]:
        link = EngineLink()
        process = start(body, link.address)
        link.send(Generate(id="big", tokens=prompt, sampling=Sampling(max_tokens=1)))
        got = await collect(link.messages())
        await link.close()
        process.wait(5)
        return got

    assert [Tokens(id="big", tokens=[1_000_000, sum(prompt)])] == asyncio.run(scenario())


def test_the_socket_is_private_and_removed() -> None:
    """Only the owner may enter the socket's folder, and closing leaves nothing behind."""

    async def scenario() -> tuple[int, bool]:
        link = EngineLink()
        folder = Path(link.address.removeprefix("ipc://")).parent
        mode = stat.S_IMODE(folder.stat().st_mode)
        await link.close()
        await link.close()
        return mode, folder.exists()

    assert asyncio.run(scenario()) == (0o700, False)


def test_folders_of_killed_processes_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their lock is free. Not those in use, new ones, nor what is no such folder."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    names = {"dead": True, "new": True, "other": False}
    for name, locked in names.items():
        folder = tmp_path / f"tracert-{name}"
        folder.mkdir()
        (folder / ("lock" if locked else "dump.jsonl")).touch()
        (folder / "engine.sock").touch()
        if name != "new":
            os.utime(folder, (1e9, 1e9))

    async def scenario() -> bool:
        link = EngineLink()
        folder = Path(link.address.removeprefix("ipc://")).parent
        os.utime(folder, (1e9, 1e9))
        remove_stale_folders()
        kept = folder.exists()
        await link.close()
        return kept

    assert asyncio.run(scenario())
    assert ["tracert-new", "tracert-other"] == sorted(path.name for path in tmp_path.iterdir())


def test_a_long_temporary_folder_does_not_break_the_socket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A TMPDIR too long for a socket's name falls back to a short one."""
    long = tmp_path / ("x" * 120)
    long.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(long))

    async def scenario() -> int:
        link = EngineLink()
        length = len(link.address.removeprefix("ipc://"))
        await link.close()
        return length

    assert asyncio.run(scenario()) <= 107
    assert list(long.iterdir()) == []


def test_poll_waits_no_longer_than_told(make_link: Callable[[], ApiLink]) -> None:
    """Without messages, poll(0) returns at once and poll(0.2) after 0.2 s, both empty."""
    link = make_link()
    begin = time.monotonic()
    assert link.poll() == []
    assert time.monotonic() - begin < 0.1
    begin = time.monotonic()
    assert link.poll(0.2) == []
    assert 0.15 < time.monotonic() - begin < 1.0


def test_poll_raises_when_the_parent_has_gone(
    make_link: Callable[[], ApiLink], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine whose parent process changed has been orphaned: poll says so."""
    link = make_link()
    monkeypatch.setattr(os, "getppid", lambda: 1)
    with pytest.raises(ApiGoneError, match="API process has gone"):
        link.poll()


@pytest.fixture
def make_link(tmp_path: Path) -> Callable[[], ApiLink]:
    """Makes an engine's end whose API process never comes."""
    return lambda: ApiLink(f"ipc://{tmp_path}/nobody.sock")
