"""The reports' clients against a real `tracert serve` on `tiny-random`: what they read off it is right."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tracert_analysis.load import open_dump
from tracert_analysis.report.as_json import as_json
from tracert_analysis.report.build import build

from tests.cli.serving import Server
from tests.seeds import flare, ninfer, pypto
from tests.seeds.client import Client, tell
from tests.seeds.flare import METRICS, Pair, alternate
from tests.seeds.ninfer import session
from tests.seeds.pypto import line, probe, texts
from tests.some import a_few


def _dumped(server: Server) -> dict[str, Any]:
    """The report of what a running server has done so far."""
    return as_json(build(open_dump(Client(server.root).post("/debug/dump", {}).body["dump"])))


@pytest.fixture(scope="module")
def pages_of_128(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A sound server with seed 1's page size."""
    server = Server(tmp_path_factory.mktemp("pypto"), "--page-size", "128", "--kv-pages", "32")
    yield server
    server.stop()


def test_the_probe_has_the_report_s_shape(pages_of_128: Server) -> None:
    """Cold and hit take two pages and the hit finds one; the miss takes three and finds none."""
    probed = probe(Client(pages_of_128.root), ("cold", "hit", "miss"))
    assert ["cold", "hit", "miss"] == [one.label for one in probed]
    assert [233, 233, 262] == [one.answer.prompt_tokens for one in probed]
    assert [0, 128, 0] == [one.answer.cached_tokens for one in probed]
    assert all(re.fullmatch(r"\w+ +\d+\.\d{3}s finish=length .* text='..'", line(one)) for one in probed)
    assert [] == _dumped(pages_of_128)["findings"]


def test_the_probe_s_texts_can_be_sent_too(pages_of_128: Server) -> None:
    """The second begins as the first does, and finds it; the third finds little more than the first words."""
    cold, hit, miss = probe(Client(pages_of_128.root), ("cold", "hit", "miss"), texts(6, 6))
    assert cold.answer.prompt_tokens - 64 < hit.answer.cached_tokens < hit.answer.prompt_tokens
    assert miss.answer.cached_tokens <= len("Probe round 1")


@pytest.mark.parametrize("options", a_few(1, [("--prefix-cache", "radix", "--retain", "4"), ()]))
def test_an_agent_s_session_finds_its_history_cached(tmp_path: Path, options: tuple[str, ...]) -> None:
    """Tools, results, thoughts given back, a second lane: nearly all is found, no rule broken."""
    server = Server(tmp_path, "--preserve-thinking", "--max-num-seqs", "2", *options)
    try:
        told = session(Client(server.root), tasks=3, max_tokens=8)
        assert told.error is None
        assert 9 == len(told.prompt_tokens)
        assert sorted(told.prompt_tokens) == told.prompt_tokens
        # All of the prompt before is in this one, up to the page that the answer began in.
        before = told.prompt_tokens[:-1]
        assert all(
            cached > tokens - 16 for cached, tokens in zip(told.cached_tokens[1:], before, strict=True)
        )
        assert told.side_requests > 1
        report = _dumped(server)
        assert [] == report["findings"]
        assert "none" == report["verdict"]["confidence"]
    finally:
        server.stop()


@pytest.mark.slow  # the scenario of this bug is the fast suite's
def test_an_agent_s_session_with_the_bug_is_proven_wrong(tmp_path: Path) -> None:
    """The device runs everything in order, so the answers come; the history tells all the same."""
    server = Server(
        tmp_path, "--preserve-thinking", "--max-num-seqs", "2", "--fault", "ninfer-unordered-publish"
    )
    try:
        told = session(Client(server.root), tasks=2, max_tokens=6)
        assert told.error is None
        verdict = _dumped(server)["verdict"]
        assert ("TR102", "proven") == (verdict["code"], verdict["confidence"])
    finally:
        server.stop()


@pytest.mark.slow
def test_an_agent_s_session_crashes_as_the_report_s_did(tmp_path: Path) -> None:
    """Rows poisoned, the device free in its order: after some good requests an error that names a dump."""
    server = Server(
        tmp_path,
        *("--max-num-seqs", "2", "--fault", "ninfer-unordered-publish", "--schedule", "random:1"),
        "--poison-rows",
    )
    try:
        told = session(Client(server.root), tasks=40, max_tokens=8)
        assert told.error is not None
        assert "LAUNCH_FAILURE" == told.error["code"]
        verdict = as_json(build(open_dump(told.error["dump"])))["verdict"]
        assert ("TR102", "row") == (verdict["code"], verdict["resource"]["kind"])
    finally:
        server.stop()


def test_alternating_prompts_fill_the_pool(tmp_path: Path) -> None:
    """Each prompt is found by its second send; the pool fills up; nothing fails; the figures add up."""
    server = Server(tmp_path, "--kv-pages", "128", "--max-model-len", "1000")
    try:
        pairs = list(alternate(Client(server.root), short=300, long=600, count=6, warm_tokens=8))
        assert [("ok", "ok")] * 6 == [(pair.prime, pair.warm) for pair in pairs]
        assert all(set(METRICS) == set(pair.metrics) for pair in pairs)
        assert all(pair.cached_tokens > 0.8 * pair.tokens for pair in pairs)
        assert [127] * 6 == [_pages(pair) for pair in pairs]
        free = [pair.metrics["tracert_free_kv_pages"] for pair in pairs]
        assert free[0] > 90
        assert min(free) < 30
        assert 0 == pairs[-1].metrics["tracert_requests_failed_total"]
        assert [] == _dumped(server)["findings"]
    finally:
        server.stop()


def _pages(pair: Pair) -> float:
    return pair.metrics["tracert_free_kv_pages"] + pair.metrics["tracert_cached_kv_pages"]


@pytest.mark.parametrize("client", [pypto, flare, ninfer])
def test_no_server_is_one_line(
    client: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its address, and no traceback, of the second lane's thread neither."""
    monkeypatch.setattr(sys, "argv", ["client", "--url", "http://127.0.0.1:1"])
    assert 1 == tell(client.main)
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith("http://127.0.0.1:1: Connection refused; start tracert serve there")


def test_a_failure_ends_each_client(tmp_path: Path) -> None:
    """What does not fit is refused: the probe shows why, the load stops at that pair."""
    server = Server(tmp_path, "--kv-pages", "8", "--max-model-len", "100")
    try:
        client = Client(server.root)
        (failed,) = probe(client, ("miss", "cold"))
        assert "miss   HTTP 400 context_length_exceeded: " in line(failed)
        (pair,) = alternate(client, short=300, long=600, count=6)
        assert pair.prime.startswith("HTTP 400 context_length_exceeded")
        assert "context_length_exceeded" == (session(client, 1, 4).error or {})["code"], json.dumps(pair)
    finally:
        server.stop()
