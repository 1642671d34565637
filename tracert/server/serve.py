"""Runs the API process: a port, an engine under supervision, HTTP between them, an orderly end."""

import asyncio
import contextlib
import errno
import json
import signal
import socket
import sys
import time
from collections.abc import Iterator, Sequence

import structlog
import uvicorn

from tracert.messages.messages import Ready
from tracert.messages.transport import remove_stale_folders
from tracert.server.app import create_app
from tracert.server.config import AppConfig
from tracert.server.inflight import EngineLostError
from tracert.server.metrics import Metrics
from tracert.server.service import Service
from tracert.server.supervisor import Observe, Recover, Supervisor
from tracert.server.tokenizer import Tokenizer

_BACKLOG = 2048


def serve(
    config: AppConfig,
    command: Sequence[str],
    tokenizer: Tokenizer,
    recover: Recover,
    observe: Observe | None = None,
) -> int:
    """Serve until SIGINT or SIGTERM (0), or until it makes no sense (1, with a line on standard error).

    `command` starts the engine; the address to connect to is appended to it. `recover` writes the dump of a
    dead engine, `observe` that of one that lives and does not answer. The port is taken before the engine is
    started; the one line on standard output comes when the engine is ready. A second signal kills the engine,
    which leaves its ring.
    """
    try:
        listening = _listen(config.host, config.port)
    except (OSError, UnicodeError) as error:  # UnicodeError: the text cannot be the name of a host
        _complain(config, _port_problem(config, error))
        return 1
    remove_stale_folders()
    with listening:
        return asyncio.run(_serve(config, command, tokenizer, recover, observe, listening))


async def _serve(
    config: AppConfig,
    command: Sequence[str],
    tokenizer: Tokenizer,
    recover: Recover,
    observe: Observe | None,
    listening: socket.socket,
) -> int:
    announced = False

    def announce(ready: Ready) -> None:
        nonlocal announced
        if not announced:
            announced = True
            print(_serves(config, _url(config.host, listening)), flush=True)

    metrics = Metrics()
    supervisor = Supervisor(
        metrics,
        command,
        recover,
        on_ready=announce,
        rapid_deaths=config.rapid_deaths,
        hang_seconds=config.hang_seconds,
        stop_seconds=config.stop_seconds,
        observe=observe,
    )
    service = Service(config, metrics, supervisor, tokenizer, created=int(time.time()))
    server = _Server(
        uvicorn.Config(
            create_app(service),
            lifespan="off",
            ws="none",
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=int(config.drain_seconds + config.stop_seconds) + 5,
        )
    )
    ending: set[asyncio.Task[None]] = set()

    def on_signal() -> None:
        if ending:
            server.force_exit = True
            supervisor.stop()
            supervisor.stop()
        else:
            server.should_exit = True
            structlog.get_logger("tracert.server").info(
                "shutting down",
                in_flight=len(supervisor.inflight),
                up_to_s=config.drain_seconds + config.stop_seconds,
            )
            ending.add(asyncio.create_task(_drain(supervisor, config.drain_seconds)))

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, on_signal)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    problem = await supervisor.run()
    server.should_exit = True
    await serving
    if problem:
        _complain(config, problem)
    return 0 if problem is None else 1


class _Server(uvicorn.Server):
    """Signals are ours: uvicorn would raise them again when it has shut down."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def _drain(supervisor: Supervisor, seconds: float) -> None:
    """Let what is in flight finish for a while, then stop the engine."""
    deadline = time.monotonic() + seconds
    while supervisor.inflight and time.monotonic() < deadline:
        await asyncio.sleep(0.05)
    supervisor.inflight.fail_all(EngineLostError("the server is shutting down", code="shutting_down"))
    supervisor.stop()


def _listen(host: str, port: int) -> socket.socket:
    """A listening socket. Raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    # "localhost" has both; clients that have only IPv4 are still many.
    family, kind, protocol, _, address = min(found, key=lambda entry: entry[0] != socket.AF_INET)
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(_BACKLOG)
    except OSError:
        listening.close()
        raise
    return listening


def _port_problem(config: AppConfig, error: OSError | UnicodeError) -> str:
    where = f"port {config.port} of {config.host}"
    if isinstance(error, socket.gaierror | UnicodeError):
        why = error if isinstance(error, UnicodeError) else error.strerror
        return f"there is no address named {config.host!r}: {why}; choose another with --host"
    option = "--host" if error.errno == errno.EADDRNOTAVAIL else "--port"
    return f"cannot listen on {where}: {error.strerror}; choose another with {option}"


def _serves(config: AppConfig, url: str) -> str:
    """The one line on standard output."""
    if config.json_lines:
        return json.dumps({"event": "serving", "model": config.model, "url": url})
    return f"tracert serves {config.model} at {url}"


def _url(host: str, listening: socket.socket) -> str:
    port = listening.getsockname()[1]
    return f"http://[{host}]:{port}/v1" if ":" in host else f"http://{host}:{port}/v1"


def _complain(config: AppConfig, line: str) -> None:
    text = json.dumps({"event": line, "level": "error"}) if config.json_lines else f"tracert: {line}"
    print(text, file=sys.stderr, flush=True)
