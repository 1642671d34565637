"""Through a dump and back: launches in runs, clocks as lists in a table, `happens_before` in SQL."""

import random
from pathlib import Path

import pytest

from tests.analysis.happens_before.program import Program, Step
from tests.analysis.history import History, Recorded
from tests.some import a_few


def as_history(program: Program) -> History:
    """The program as a recorder would have told it."""
    history = History()
    history.names = {stream: f"s{stream}" for stream in range(program.width)}
    history.blocking = set(program.blocking)
    fences: dict[int, Recorded] = {}
    records: dict[int, Recorded] = {}
    for number, step in enumerate(program.steps):
        match step.what:
            case "launch":
                history.forward(step.stream)
            case "record":
                fences[step.fence] = records[number] = history.record(step.stream, fences.get(step.fence))
            case "wait":
                history.wait(step.stream, None if step.record is None else records[step.record])
            case "sync":
                history.passed(fences.get(step.fence, Recorded(1 << 20, 0)))
            case "sync_stream":
                history.sync(step.stream)
            case "sync_all":
                history.sync()
            case "host_write":
                history.host_write([[1, 1, 0, 1]])
            case "external_begin":
                history.begin("nic", writes=[[1, 1, 0, 1]], transaction=step.job)
            case "external_done":
                history.end("nic", step.job)
    return history


def long_program(draw: random.Random) -> Program:
    """Runs of launches on a few streams, with fences and with writes of others between them."""
    width = draw.randint(2, 4)
    blocking = frozenset(stream for stream in range(1, width) if draw.random() < 0.4)
    program = Program(width=width, blocking=blocking)
    fences = 0
    begun: list[int] = []
    for _ in range(60):
        stream = draw.randrange(width)
        match draw.choice("LLLRWWSQHBE"):
            case "L":
                for _ in range(draw.randint(1, 4)):
                    program.launch(stream)
            case "R":
                program.record(stream)
                fences += 1
            case "W" if fences:
                program.wait(stream, fences - 1 - draw.randrange(min(fences, 3)))
            case "S" if fences and draw.random() < 0.3:
                program.sync(fences - 1 - draw.randrange(min(fences, 3)))
            case "Q" if draw.random() < 0.3:
                program.sync_stream(stream)
            case "H":
                program.host_write()
            case "B":
                begun.append(program.begin())
            case "E" if begun:
                program.end(begun.pop(0))
    return program


def launched(program: Program) -> list[Step]:
    """The launches of a program, as they come."""
    return [step for step in program.steps if step.what == "launch"]


@pytest.mark.parametrize("seed", a_few(3, range(12)))
def test_the_tables_agree_with_reachability(tmp_path: Path, seed: int) -> None:
    """Every pair of launches, by the macro that users have."""
    program = long_program(random.Random(seed))
    dump = as_history(program).read(tmp_path)
    found = dump.connection.execute(
        "SELECT a.launch, b.launch FROM launch AS a, launch AS b WHERE happens_before(a.launch, b.launch)"
    ).fetchall()
    expected = program.reaches()
    launches = {step.job: number for number, step in enumerate(launched(program), 1)}
    pairs = {
        (launches[a], launches[b])
        for b, bits in enumerate(expected)
        for a in range(len(expected))
        if bits >> a & 1 and {a, b} <= launches.keys()
    }
    assert pairs == set(found)
    outside = dump.connection.execute("SELECT count(*), count(done_seq) FROM _outside").fetchall()
    jobs = [step.what for step in program.steps if step.job >= 0]
    writes, ends = jobs.count("host_write"), jobs.count("external_done")
    assert [(writes + jobs.count("external_begin"), writes + ends)] == outside


def test_a_launch_that_is_not_there_is_unknown(tmp_path: Path) -> None:
    """Neither before nor behind anything."""
    program = Program()
    program.launch(1)
    dump = as_history(program).read(tmp_path)
    assert [(None, None)] == dump.connection.execute(
        "SELECT happens_before(1, 2), happens_before(2, 1)"
    ).fetchall()


def test_launches_of_one_segment_share_a_clock(tmp_path: Path) -> None:
    """Only what orders streams starts a segment."""
    program = Program()
    for _ in range(3):
        program.launch(1)
    program.launch(2)
    program.wait(1, program.record(2))
    program.launch(1)
    dump = as_history(program).read(tmp_path)
    assert [(0, 1), (0, 1), (0, 1), (1, 2)] == dump.connection.execute(
        """
        SELECT clock[3], dense_rank() OVER (ORDER BY segment) FROM launch WHERE stream = 1 ORDER BY seq
        """
    ).fetchall()
