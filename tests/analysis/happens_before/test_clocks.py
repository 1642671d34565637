"""Through a dump and back: launches in runs, clocks as lists in a table, `happens_before` in SQL."""

import random
from pathlib import Path

import pytest
from tracert_analysis.happens_before import Launched, Recorded, Waited

from tests.analysis.happens_before.program import Program
from tests.analysis.history import History


def as_history(program: Program) -> History:
    """The program as a recorder would have told it."""
    history = History()
    history.names = {stream: f"s{stream}" for stream in range(program.width)}
    history.blocking = set(program.blocking)
    number = 0
    for act in program.acts:
        if isinstance(act, Launched):
            number += 1
            history.event(
                "launch", launch=number, stream=act.stream, ordinal=act.ordinal, kernel="k", phase="p", step=1
            )
        elif isinstance(act, Recorded):
            history.event("fence_record", fence=act.fence, stream=act.stream, ordinal=act.ordinal)
        elif isinstance(act, Waited):
            history.event("fence_wait", fence=1, stream=act.stream, record_seq=act.record_seq)
        else:
            device = True if act.fence is None and act.stream is None else None
            history.event("fence_passed", fence=act.fence, stream=act.stream, device=device)
    return history


def long_program(draw: random.Random) -> Program:
    """Runs of launches on a few streams with fences between them."""
    width = draw.randint(2, 4)
    blocking = frozenset(stream for stream in range(1, width) if draw.random() < 0.4)
    program = Program(width=width, blocking=blocking)
    fences = 0
    for _ in range(60):
        stream = draw.randrange(width)
        match draw.choice("LLLRWWSQ"):
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
    return program


@pytest.mark.parametrize("seed", range(12))
def test_the_tables_agree_with_reachability(tmp_path: Path, seed: int) -> None:
    """Every pair of launches, by the macro that users have."""
    program = long_program(random.Random(seed))
    dump = as_history(program).read(tmp_path)
    found = dump.connection.execute(
        "SELECT a.launch, b.launch FROM launch AS a, launch AS b WHERE happens_before(a.launch, b.launch)"
    ).fetchall()
    expected = program.reaches()
    pairs = {(a + 1, b + 1) for b, bits in enumerate(expected) for a in range(len(expected)) if bits >> a & 1}
    assert pairs == set(found)


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
