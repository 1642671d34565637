"""Whose ring a file is: of a process that lives, is gone, or had the number before."""

import os
from dataclasses import replace
from pathlib import Path

from tests.record.rings import disown, new_recorder
from tracert.record.owner import dead_rings, lives


def test_a_process_that_runs_lives_and_others_do_not(tmp_path: Path) -> None:
    """By number, boot and age: a number that is another process's by now is no life."""
    header = new_recorder(tmp_path).ring.header
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    zombie = replace(header, pid=child)
    assert [True, False] == [lives(header), lives(zombie)]
    os.waitpid(child, 0)
    assert not lives(zombie)
    assert not lives(replace(header, boot_id="of another day"))
    assert not lives(replace(header, unix_ns=header.unix_ns - 10**15))


def test_rings_of_the_dead_are_found(tmp_path: Path) -> None:
    """Not those of who lives, nor what is no ring."""
    living = new_recorder(tmp_path).ring.path
    (tmp_path / "1-1.ring").write_bytes(b"no ring")
    assert [] == dead_rings(tmp_path / "nowhere")
    assert [] == dead_rings(tmp_path)
    dead = tmp_path / "0-0.ring"
    dead.write_bytes(living.read_bytes())
    disown(dead)
    assert [dead] == dead_rings(tmp_path)
