"""Keeps an engine process serving: starts it, watches it, has its history saved, starts it again.

The order at a death is fixed: the process has ended, then `recover` has run (it writes the dump, if the
engine did not), then the requests in flight are told, then a new engine starts. Knows nothing of HTTP, of
rings and of dumps but their paths. Everything but `recover` runs in one event loop.
"""

import asyncio
import math
import secrets
import time
from collections.abc import Callable, Sequence
from typing import Any, Literal

import msgspec
import structlog

from tracert.messages.messages import (
    Died,
    Dumped,
    DumpNow,
    Failed,
    FromEngine,
    Generate,
    Ready,
    Stats,
    Stop,
    ToEngine,
    Tokens,
)
from tracert.messages.transport import EngineLink
from tracert.server.death import EngineDeath
from tracert.server.inflight import EngineLostError, Inbox, Inflight
from tracert.server.metrics import Metrics
from tracert.server.process import EngineProcess, EngineStartError

Recover = Callable[[EngineDeath], str | None]
"""Given a death without a dump of its own, write one and return its path; None if there is nothing to write.
Runs in a thread."""

Observe = Callable[[str], str]
"""Given the ring of an engine that lives, and does not answer, write a dump of it from outside and return its
path. Runs in a thread."""

State = Literal["starting", "ready", "down", "stopping", "stopped"]


class Supervisor:
    """Runs one engine after another. `await run()` in a task; then `submit`, `dump`, `stop`."""

    def __init__(
        self,
        metrics: Metrics,
        command: Sequence[str],
        recover: Recover,
        *,
        on_ready: Callable[[Ready], None] = lambda ready: None,
        rapid_deaths: int = 5,
        backoff_seconds: float = 0.5,
        backoff_seconds_max: float = 10.0,
        hang_seconds: float | None = None,
        stop_seconds: float = 10.0,
        settle_seconds: float = 2.0,
        observe: Observe | None = None,
    ) -> None:
        """`on_ready` is told of each engine that serves.

        After `rapid_deaths` engines in a row that died without one token, it gives up. With `hang_seconds` an
        engine that has requests and says nothing for so long is killed. Without it, its own deadlines rule.
        An engine that said `Died`, or hung up, has `settle_seconds` to end before it is killed. `observe`
        writes the dumps that an engine is asked for and does not get to.
        """
        self.state: State = "starting"
        self.ready: Ready | None = None
        """What the last engine said when it was ready; kept while the next one starts."""
        self.last_lost: EngineLostError | None = None
        self.inflight = Inflight(metrics, self._send)
        self._metrics = metrics
        self._command = command
        self._recover = recover
        self._on_ready = on_ready
        self._rapid_deaths = rapid_deaths
        self._backoff_seconds = backoff_seconds
        self._backoff_seconds_max = backoff_seconds_max
        self._hang_seconds = hang_seconds
        self._stop_seconds = stop_seconds
        self._settle_seconds = settle_seconds
        self._observe = observe
        self._started = time.monotonic()
        self._load_seconds = 0.0
        self._stopping = asyncio.Event()
        self._link: EngineLink | None = None
        self._process: EngineProcess | None = None
        self._dumps: dict[str, asyncio.Future[Dumped]] = {}
        self._answered = False
        self._heard = 0.0
        self._log = structlog.get_logger("tracert.server")

    async def run(self) -> str | None:
        """Serve until `stop` (returns None), or until there is no point in going on (returns why, in a line).

        An empty line means that the engine has already said why, before any engine was ready: a mistake in
        the configuration, of which there is no history to save.
        """
        fruitless = 0
        try:
            while True:
                self._answered = False
                try:
                    death = await self._live()
                except EngineStartError as error:
                    return str(error)
                if death is None:
                    return None
                if self.ready is None and death.explained:
                    return ""
                told = await self._mourn(death)
                if self.ready is None:
                    return f"{told.message}; it never got ready to serve"
                fruitless = 0 if self._answered else fruitless + 1
                if fruitless >= self._rapid_deaths:
                    return f"giving up: {fruitless} engines in a row died without one token; {told.message}"
                if await self._rest(fruitless):
                    return None
        finally:
            self.state = "stopped"
            self._metrics.engine_lost()
            self.inflight.fail_all(EngineLostError("the server is shutting down", code="shutting_down"))

    def submit(self, requests: Sequence[Generate]) -> Inbox:
        """Send requests to the engine. Raises EngineLostError when none is serving."""
        self._require_engine()
        return self.inflight.submit(requests)

    async def dump(self, timeout: float = 60.0, patience: float = 5.0) -> Dumped:
        """Have a dump written while the engine serves on, and return what the engine says of it.

        An engine that has not answered after `patience` seconds, because it hangs or a step takes so long, is
        left alone: the dump is written from its ring, from outside. Raises EngineLostError, and TimeoutError
        when neither comes to an end.
        """
        self._require_engine()
        ring = self.ready.ring if self.ready is not None else None
        token = secrets.token_hex(8)
        answer: asyncio.Future[Dumped] = asyncio.get_running_loop().create_future()
        self._dumps[token] = answer
        self._send(DumpNow(token=token))
        try:
            if self._observe is None or ring is None:
                return await asyncio.wait_for(answer, timeout)
            done, _ = await asyncio.wait({answer}, timeout=patience)
            if done:
                return answer.result()
            self._log.warning("the engine does not answer; the dump is written from its ring", ring=ring)
            try:
                path = await asyncio.wait_for(asyncio.to_thread(self._observe, ring), timeout)
            except TimeoutError:
                raise
            except Exception as failed:
                # It has ended meanwhile, and its ring with it: whoever mourns it has the better answer.
                return (
                    answer.result() if answer.done() else Dumped(token=token, path=None, problem=str(failed))
                )
            self._log.info("dump written", path=path, reason="request")
            return Dumped(token=token, path=path)
        finally:
            self._dumps.pop(token, None)

    def stop(self) -> None:
        """Ask `run` to stop the engine and return; asked again, it kills the engine."""
        if self._stopping.is_set() and self._process is not None:
            self._process.kill()
        self._stopping.set()

    def lost(self) -> EngineLostError:
        """Why nothing can be submitted now, to be raised."""
        if self.state in ("stopping", "stopped"):
            return EngineLostError("the server is shutting down", code="shutting_down")
        if self.last_lost is None:
            return EngineLostError(
                "the engine is loading the model; try again soon",
                code="engine_starting",
                retry_after=self._retry_after(),
            )
        last = self.last_lost
        return EngineLostError(
            f"the engine is being started again; {last.message}",
            code="engine_restarting",
            dump=last.dump,
            retry_after=self._retry_after(),
        )

    def _retry_after(self) -> int:
        """In how many seconds an engine may serve, as long as the last one took to load; at least 1."""
        gone = time.monotonic() - self._started if self.state == "starting" else 0.0
        return max(1, math.ceil(self._load_seconds - gone))

    def _require_engine(self) -> None:
        if self.state != "ready":
            raise self.lost()

    def _send(self, message: ToEngine) -> None:
        if self._link is not None:
            self._link.send(message)

    async def _live(self) -> EngineDeath | None:
        """One engine from start to end; None when it ended because we stopped it."""
        self._metrics.engine_started()
        self.state = "starting"
        self._started = time.monotonic()
        link = EngineLink()
        try:
            process = await EngineProcess.start(self._command, link.address)
            self._log.info("engine started", pid=process.pid)
            self._link, self._process = link, process
            try:
                return await self._watch(link, process)
            finally:
                self._link = self._process = None
                process.kill()
        finally:
            await link.close()

    async def _watch(self, link: EngineLink, process: EngineProcess) -> EngineDeath | None:
        hearing = asyncio.create_task(self._hear(link))
        ended = asyncio.create_task(process.wait())
        stopping = asyncio.create_task(self._stopping.wait())
        hung = asyncio.create_task(self._hang())
        tasks: list[asyncio.Task[Any]] = [hearing, ended, stopping, hung]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            was_ready = self.state == "ready"
            if stopping.done() and not (hearing.done() or ended.done()):
                self.state = "stopping"
                if was_ready:
                    link.send(Stop())
                await process.end(grace=self._stop_seconds, terminate=not was_ready)
                await _last_words(hearing, link)
                return None
            self.state = "down"
            is_hung = hung.done() and not (hearing.done() or ended.done())
            what = "the engine made no progress and is killed" if is_hung else "the engine has failed"
            self.last_lost = EngineLostError(
                f"{what}; its history is being saved", code="HANG" if is_hung else "engine_down"
            )
            if is_hung:
                self._log.error(
                    "engine hangs", pid=process.pid, silent_s=self._hang_seconds, failed=len(self.inflight)
                )
                process.kill()
            status = await process.end(grace=self._settle_seconds)
            words = await _last_words(hearing, link)
            return EngineDeath(
                pid=process.pid,
                ring=self.ready.ring if self.ready is not None and was_ready else None,
                exit_status=status,
                words=words,
                hung=is_hung,
            )
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _hear(self, link: EngineLink) -> Died | None:
        """Pass on what the engine says, until its last words or the end of the link."""
        try:
            async for message in link.messages():
                if isinstance(message, Died):
                    return message
                self._take(message)
        except msgspec.MsgspecError as error:
            return Died(code=0, name="BAD_MESSAGE", message=f"it sent what is no message: {error}", dump=None)
        return None

    def _take(self, message: FromEngine) -> None:
        self._heard = time.monotonic()
        match message:
            case Tokens() | Failed():
                self._answered = True
                self.inflight.deliver(message)
            case Stats():
                self._metrics.report(message)
            case Dumped():
                if message.path is not None:
                    reason = "request" if message.token else "exit"
                    self._log.info("dump written", path=message.path, reason=reason)
                answer = self._dumps.pop(message.token, None)
                if answer is not None and not answer.done():
                    answer.set_result(message)
            case Ready():
                self.ready = message
                self.state = "ready"
                self._metrics.engine_up.set(1)
                self._load_seconds = time.monotonic() - self._started
                self._log_ready(message)
                self._on_ready(message)

    def _log_ready(self, ready: Ready) -> None:
        self._log.info(
            "engine ready",
            pid=ready.pid,
            model=ready.model,
            ring=ready.ring,
            kv_pages=ready.kv_pages,
            kv_tokens=ready.kv_tokens,
            kv_mib=round(ready.kv_bytes / 2**20, 1),
            max_model_len=ready.max_model_len,
        )
        if ready.asked_model_len > ready.max_model_len:
            self._log.warning(
                "the KV pages hold no sequence as long as the context: give --kv-pages or --kv-memory more, "
                "or a shorter --max-model-len",
                longest=ready.max_model_len,
                context=ready.asked_model_len,
            )

    async def _hang(self) -> None:
        """Return when the engine owes an answer and has been silent for too long."""
        if self._hang_seconds is None:
            await asyncio.Event().wait()
            return
        idle_since = time.monotonic()
        while True:
            await asyncio.sleep(self._hang_seconds / 10)
            if self.state != "ready" or not self.inflight:
                idle_since = time.monotonic()
            elif time.monotonic() - max(idle_since, self._heard) > self._hang_seconds:
                return

    async def _mourn(self, death: EngineDeath) -> EngineLostError:
        """Have the history saved, then tell everybody who waits."""
        self._metrics.engine_deaths.inc()
        if death.reason == "device-error":
            self._metrics.device_errors.inc()
        self._metrics.engine_lost()
        dump = death.words.dump if death.words is not None else None
        if dump is None:
            try:
                dump = await asyncio.to_thread(self._recover, death)
            except Exception as error:
                self._log.error(
                    "the dead engine's history could not be saved", error=str(error), pid=death.pid
                )
        where = f"; its history is in {dump}, read it with: tracert postmortem {dump}" if dump else ""
        lost = EngineLostError(
            f"{death.sentence}{where}", code=death.name, dump=dump, retry_after=self._retry_after()
        )
        self.last_lost = lost
        self._log.error(
            "engine died",
            name=lost.code,
            why=death.sentence,
            pid=death.pid,
            failed=len(self.inflight),
            dump=dump,
            next=f"tracert postmortem {dump}" if dump else None,
        )
        self.inflight.fail_all(lost)
        for answer in self._dumps.values():
            if not answer.done():
                answer.set_exception(lost)
        self._dumps.clear()
        return lost

    async def _rest(self, fruitless: int) -> bool:
        """Wait before the next engine, the longer the more died for nothing; True when stopped meanwhile.

        After a first death nobody waits.
        """
        seconds = min(self._backoff_seconds * 2.0 ** (fruitless - 2), self._backoff_seconds_max)
        try:
            await asyncio.wait_for(self._stopping.wait(), seconds if fruitless > 1 else 0.001)
        except TimeoutError:
            return False
        return True


async def _last_words(hearing: asyncio.Task[Died | None], link: EngineLink) -> Died | None:
    """What an engine that has ended still had to say. A link that never came up has nothing to deliver."""
    done, _ = await asyncio.wait({hearing}, timeout=5.0 if link.connected else 0.2)
    return hearing.result() if done else None
