"""Servers to test against: one that all share, and as many more as a test needs."""

from collections.abc import Iterator
from typing import Any, Protocol

import openai
import pytest

from tests.server.running import Running


class StartServer(Protocol):
    """Starts a server of one's own; it is ended with the test."""

    def __call__(self, *engine_options: str, **config: Any) -> Running:
        """The fake engine's options, and AppConfig's fields."""


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server that nobody breaks for good."""
    running = Running(tmp_path_factory.mktemp("server"))
    yield running
    running.close()


@pytest.fixture
def client(server: Running) -> Iterator[openai.OpenAI]:
    """OpenAI's client to the shared server."""
    with server.openai() as client:
        yield client


@pytest.fixture
def start_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StartServer]:
    """Makes servers of one's own."""
    started: list[Running] = []

    def start(*engine_options: str, **config: Any) -> Running:
        running = Running(tmp_path_factory.mktemp("server"), *engine_options, **config)
        started.append(running)
        return running

    yield start
    for running in started:
        running.close()
