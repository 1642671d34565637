"""The supervisor against a real engine process that lives, dies in every way, hangs and is stopped."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import psutil  # type: ignore[import-untyped]
import pytest

from tests.server.fake_engine import KV_PAGES
from tracert.messages.messages import Dumped, Failed, Generate, Ready, Sampling, Tokens
from tracert.server.death import EngineDeath
from tracert.server.inflight import EngineLostError, Inbox
from tracert.server.metrics import Metrics
from tracert.server.supervisor import Supervisor

T = TypeVar("T")
FAKE = [sys.executable, "-m", "tests.server.fake_engine"]


def no_dump(death: EngineDeath) -> str | None:
    """There is never anything to save."""
    return None


class Bench:
    """A supervisor that runs, and what it was asked and told."""

    def __init__(self, options: list[str], recover: Callable[[EngineDeath], str | None], **how: Any) -> None:
        self.metrics = Metrics()
        self.readies: list[Ready] = []
        self.deaths: list[EngineDeath] = []
        self._recover = recover
        self.supervisor = Supervisor(
            self.metrics, [*FAKE, *options], self._save, on_ready=self.readies.append, **how
        )
        self.running = asyncio.create_task(self.supervisor.run())

    def _save(self, death: EngineDeath) -> str | None:
        self.deaths.append(death)
        return self._recover(death)

    async def ready(self, number: int = 1) -> Ready:
        """Wait until the engine has been ready `number` times."""
        deadline = time.monotonic() + 10
        while len(self.readies) < number:
            assert time.monotonic() < deadline, "the engine did not get ready"
            await asyncio.sleep(0.01)
        return self.readies[-1]

    def submit(self, text: str, id: str = "r", max_tokens: int = 8) -> Inbox:
        """A greedy request for the bytes of a text."""
        sampling = Sampling(max_tokens=max_tokens, temperature=0.0)
        return self.supervisor.submit([Generate(id=id, tokens=list(text.encode()), sampling=sampling)])

    async def lose(self, text: str) -> EngineLostError:
        """Send what kills the engine, and return what the request is told."""
        with pytest.raises(EngineLostError) as caught:
            await asyncio.wait_for(self.submit(text, id="lost").next(), 10)
        return caught.value

    async def stop(self) -> str | None:
        """Stop, and return what `run` returned."""
        self.supervisor.stop()
        return await asyncio.wait_for(self.running, 15)

    def value(self, name: str) -> float:
        """A metric's value."""
        for line in self.metrics.text().decode().splitlines():
            if line.startswith(name + " "):
                return float(line.split()[1])
        raise AssertionError(f"no metric {name}")


def drive(
    scenario: Callable[[Bench], Awaitable[T]],
    *options: str,
    recover: Callable[[EngineDeath], str | None] = no_dump,
    **how: Any,
) -> T:
    """Run a scenario with a bench of its own, and leave no process behind."""

    async def main() -> T:
        bench = Bench(list(options), recover, **how)
        try:
            return await asyncio.wait_for(scenario(bench), 30)
        finally:
            if not bench.running.done():
                await bench.stop()

    before = set(psutil.Process().children())
    result = asyncio.run(main())
    assert before == set(psutil.Process().children())
    return result


def test_a_request_is_answered_token_by_token() -> None:
    """Tokens arrive in order and the last one says why it was the last."""

    async def scenario(bench: Bench) -> list[Tokens | Failed]:
        await bench.ready()
        got: list[Tokens | Failed] = []
        with bench.submit("hey") as inbox:
            while inbox.open or not got:
                got.append(await inbox.next())
            while len(got) < 4:
                got.append(await inbox.next())
        return got

    expected = [(104, None), (101, None), (121, None), (256, "stop")]
    got = drive(scenario)
    assert expected == [(m.tokens[0], m.finish_reason) for m in got if isinstance(m, Tokens)]


def test_requests_are_refused_before_the_engine_is_ready() -> None:
    """While the model loads there is nobody to submit to, and the error says so."""

    async def scenario(bench: Bench) -> str:
        with pytest.raises(EngineLostError) as caught:
            bench.submit("hey")
        assert bench.supervisor.state == "starting"
        return caught.value.code

    assert drive(scenario, "--load-seconds", "0.5") == "engine_starting"


@pytest.mark.parametrize(
    ("word", "reason", "code", "device_errors"),
    [
        ("!sigkill", "killed", "SIGKILL", 0),
        ("!segv", "killed", "SIGSEGV", 0),
        ("!exit3", "exit", "EXIT_3", 0),
        ("!died lingers", "device-error", "LAUNCH_FAILURE", 1),
        ("!raised", "exception", "ZeroDivisionError", 0),
    ],
)
def test_every_death_is_saved_told_and_survived(
    word: str, reason: str, code: str, device_errors: int
) -> None:
    """However the engine dies: the dump is named to the client, and a new engine answers."""

    async def scenario(bench: Bench) -> EngineLostError:
        first = await bench.ready()
        lost = await bench.lose(word)
        second = await bench.ready(2)
        assert first.pid != second.pid
        assert bench.deaths[0].pid == first.pid
        assert bench.deaths[0].ring == first.ring
        assert bench.deaths[0].reason == reason
        message = await asyncio.wait_for(bench.submit("ok").next(), 5)
        assert isinstance(message, Tokens)
        assert bench.value("tracert_device_errors_total") == device_errors
        assert bench.value("tracert_engine_deaths_total") == 1
        assert bench.value("tracert_requests_failed_total") == 1
        return lost

    lost = drive(scenario, recover=lambda death: f"/dumps/{death.reason}.jsonl", settle_seconds=0.3)
    assert lost.code == code
    assert lost.dump == f"/dumps/{reason}.jsonl"
    assert f"/dumps/{reason}.jsonl" in lost.message


def test_the_dump_that_the_engine_wrote_is_named_and_no_other_written() -> None:
    """Died carries a path: there is nothing to recover."""

    async def scenario(bench: Bench) -> EngineLostError:
        await bench.ready()
        lost = await bench.lose("!died-dumped")
        assert bench.deaths == []
        return lost

    assert drive(scenario, recover=lambda death: "/dumps/second.jsonl").dump == "/dumps/own.jsonl"


def test_nobody_is_told_before_the_dump_is_written_and_the_process_is_gone() -> None:
    """While recover runs, the client still waits and the engine is already reaped."""
    alive: list[bool] = []

    async def scenario(bench: Bench) -> bool:
        await bench.ready()
        waiting = asyncio.create_task(bench.submit("!sigkill").next())
        while not alive:
            await asyncio.sleep(0.01)
        was_waiting = not waiting.done()
        with pytest.raises(EngineLostError):
            await waiting
        return was_waiting

    def recover(death: EngineDeath) -> str | None:
        alive.append(psutil.pid_exists(death.pid))
        time.sleep(0.3)
        return None

    assert drive(scenario, recover=recover)
    assert alive == [False]


def test_a_failing_recover_does_not_stop_the_server() -> None:
    """If the history cannot be saved, the client is told without a dump, and serving goes on."""

    async def scenario(bench: Bench) -> EngineLostError:
        await bench.ready()
        lost = await bench.lose("!sigkill")
        await bench.ready(2)
        return lost

    def recover(death: EngineDeath) -> str | None:
        raise OSError("disk full")

    lost = drive(scenario, recover=recover)
    assert lost.dump is None
    assert lost.message == "the engine was killed by SIGKILL"


def test_a_hung_engine_is_killed_when_it_owes_an_answer() -> None:
    """Silence with a request in flight is a death named HANG; silence without one is rest."""

    async def scenario(bench: Bench) -> EngineLostError:
        await bench.ready()
        await asyncio.sleep(1.0)
        assert len(bench.readies) == 1
        return await bench.lose("!hang")

    lost = drive(scenario, hang_seconds=0.5)
    assert lost.code == "HANG"


def test_it_gives_up_after_deaths_without_a_token() -> None:
    """An engine that dies on every request is not started for ever; the line names the last death."""

    async def scenario(bench: Bench) -> str | None:
        for number in range(1, 4):
            await bench.ready(number)
            await bench.lose("!sigkill")
        return await asyncio.wait_for(bench.running, 5)

    line = drive(scenario, rapid_deaths=3, backoff_seconds=0.01)
    assert line == "giving up: 3 engines in a row died without one token; the engine was killed by SIGKILL"


def test_tokens_between_deaths_reset_the_count() -> None:
    """Deaths of engines that did answer do not add up to giving up."""

    async def scenario(bench: Bench) -> int:
        for number in range(1, 5):
            await bench.ready(number)
            await bench.submit("ok").next()
            await bench.lose("!sigkill")
        await bench.ready(5)
        return len(bench.deaths)

    assert drive(scenario, rapid_deaths=2) == 4


@pytest.mark.parametrize(
    ("option", "line"),
    [
        ("--refuse", ""),
        ("--die-loading", "the engine was killed by SIGKILL; it never got ready to serve"),
        (
            "--words-loading",
            "the engine failed: OUT_OF_MEMORY (2), no room for one page; it never got ready to serve",
        ),
    ],
)
def test_an_engine_that_never_serves_is_not_started_again(option: str, line: str) -> None:
    """One line, or the engine's own, of which no history is saved."""

    async def scenario(bench: Bench) -> tuple[str | None, bool]:
        return await asyncio.wait_for(bench.running, 10), bool(bench.deaths)

    assert drive(scenario, option) == (line, option != "--refuse")


def test_a_command_that_cannot_run_is_a_line() -> None:
    """No such program: a line, not a traceback."""

    async def main() -> str | None:
        return await Supervisor(Metrics(), ["/nonexistent/engine"], no_dump).run()

    assert asyncio.run(main()) == "cannot start the engine, /nonexistent/engine: No such file or directory"


def test_leaving_an_inbox_aborts_what_is_open(tmp_path: Path) -> None:
    """A client that goes away frees its request in the engine."""
    log = tmp_path / "log"

    async def scenario(bench: Bench) -> None:
        await bench.ready()
        with bench.submit("!endless", id="gone", max_tokens=100000) as inbox:
            await inbox.next()
        assert len(bench.supervisor.inflight) == 0
        while b'"Abort"' not in log.read_bytes():
            await asyncio.sleep(0.01)
        while bench.value("tracert_requests_running") != 0:
            await asyncio.sleep(0.01)
        assert bench.value("tracert_free_kv_pages") == KV_PAGES

    drive(scenario, "--log", str(log))
    assert b'{"type":"Abort","id":"gone"}' in log.read_bytes()


def test_one_failed_request_harms_no_other() -> None:
    """Failed ends its own request; the next one is answered by the same engine."""

    async def scenario(bench: Bench) -> Failed | Tokens:
        await bench.ready()
        with bench.submit("!fail") as inbox:
            failed = await inbox.next()
            assert not inbox.open
        assert isinstance(await bench.submit("ok", id="2").next(), Tokens)
        assert len(bench.readies) == 1
        return failed

    expected = Failed(id="r", status=400, code="no_room", message="it needs 9 pages of 4")
    assert expected == drive(scenario)


def test_a_dump_is_written_on_request() -> None:
    """DumpNow is answered with the path; without recording, with None; by a dead engine, with the death."""

    async def scenario(bench: Bench) -> str | None:
        await bench.ready()
        return (await bench.supervisor.dump()).path

    async def dying(bench: Bench) -> None:
        await bench.ready()
        bench.submit("!hang")
        asking = asyncio.create_task(bench.supervisor.dump())
        await asyncio.sleep(0.1)
        os.kill(bench.readies[0].pid, signal.SIGKILL)
        with pytest.raises(EngineLostError, match="killed by SIGKILL"):
            await asking

    path = drive(scenario)
    assert path is not None
    assert path.startswith("/dumps/")
    assert drive(scenario, "--no-record") is None
    drive(dying)


def test_a_dump_of_an_engine_that_hangs_is_written_from_its_ring() -> None:
    """It does not answer; the history is read from outside, and the engine is left alone."""

    async def scenario(bench: Bench) -> tuple[Dumped, str | None]:
        ready = await bench.ready()
        bench.submit("!hang")
        return await bench.supervisor.dump(patience=0.1), ready.ring

    dumped, ring = drive(scenario, observe=lambda ring: f"{ring}.jsonl", stop_seconds=0.2)
    assert (f"{ring}.jsonl", None) == (dumped.path, dumped.problem)


def test_a_dump_from_outside_that_fails_says_why() -> None:
    """No traceback, and no waiting for an engine that hangs."""

    def observe(ring: str) -> str:
        raise OSError("no room")

    async def scenario(bench: Bench) -> Dumped:
        await bench.ready()
        bench.submit("!hang")
        return await bench.supervisor.dump(patience=0.1)

    dumped = drive(scenario, observe=observe, stop_seconds=0.2)
    assert (None, "no room") == (dumped.path, dumped.problem)


def test_who_asks_while_a_hung_engine_is_mourned_is_told_of_the_hang() -> None:
    """Between the kill and the next engine nothing loads a model yet."""
    supervisors: list[Supervisor] = []
    told: list[EngineLostError] = []

    def recover(death: EngineDeath) -> str | None:
        told.append(supervisors[0].lost())
        return None

    async def scenario(bench: Bench) -> None:
        supervisors.append(bench.supervisor)
        await bench.ready()
        await bench.lose("!hang")

    drive(scenario, recover=recover, hang_seconds=0.3)
    assert "engine_restarting" == told[0].code
    assert "the engine made no progress and is killed; its history is being saved" in told[0].message


def test_stop_ends_the_engine_in_order_or_by_force() -> None:
    """An engine that obeys Stop exits by itself; a deaf one is killed after the time allowed."""

    async def scenario(bench: Bench) -> tuple[str | None, float, bool]:
        ready = await bench.ready()
        begin = time.monotonic()
        line = await bench.stop()
        return line, time.monotonic() - begin, psutil.pid_exists(ready.pid)

    line, seconds, alive = drive(scenario)
    assert (line, alive) == (None, False)
    assert seconds < 2.0
    line, seconds, alive = drive(scenario, "--deaf", stop_seconds=0.5)
    assert (line, alive) == (None, False)
    assert 0.5 <= seconds < 3.0


def test_stop_while_loading_does_not_wait_for_the_model() -> None:
    """Before Ready the engine does not listen: it is terminated."""

    async def scenario(bench: Bench) -> float:
        await asyncio.sleep(0.3)
        begin = time.monotonic()
        await bench.stop()
        return time.monotonic() - begin

    assert drive(scenario, "--load-seconds", "60") < 3.0


def test_stopping_fails_what_is_in_flight() -> None:
    """Whoever still waits when the server stops is told that it does."""

    async def scenario(bench: Bench) -> str:
        await bench.ready()
        inbox = bench.submit("!endless", max_tokens=10**9)
        await bench.stop()
        try:
            while True:
                await inbox.next()
        except EngineLostError as error:
            return error.code

    assert drive(scenario) == "shutting_down"


def test_counters_go_on_over_a_restart() -> None:
    """The new engine's counts are added to those of the dead one; a counter never falls."""

    async def scenario(bench: Bench) -> list[float]:
        values = []
        for number in (1, 2):
            await bench.ready(number)
            with bench.submit("four") as inbox:
                while inbox.open:
                    await inbox.next()
            await asyncio.sleep(0.2)
            values.append(bench.value("tracert_ring_events_total"))
            await bench.lose("!sigkill")
        values.append(bench.value("tracert_generation_tokens_total"))
        return values

    assert drive(scenario) == [50, 100, 10]


def test_the_engine_does_not_survive_its_parent() -> None:
    """kill -9 of the API process takes the engine with it."""
    body = (
        "import asyncio, sys\n"
        "from tracert.server.metrics import Metrics\n"
        "from tracert.server.supervisor import Supervisor\n"
        "say = lambda ready: print(ready.pid, flush=True)\n"
        "async def main():\n"
        "    await Supervisor(Metrics(), sys.argv[1:], lambda death: None, on_ready=say).run()\n"
        "asyncio.run(main())\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", body, *FAKE], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    engine = None
    while engine is None:
        line = parent.stdout.readline()
        assert line
        engine = int(line) if line.strip().isdigit() else None
    assert psutil.pid_exists(engine)
    parent.kill()
    parent.wait(5)
    deadline = time.monotonic() + 5
    while psutil.pid_exists(engine) and psutil.Process(engine).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline, "the engine outlived its parent"
        time.sleep(0.02)
    parent.stdout.close()
