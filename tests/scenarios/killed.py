"""A process that runs a planted scenario and is gone at its end without a word, as after kill -9."""

import os
import signal

import tracert.cli.run_scenario as running
from tracert.scenarios.step_driver import drive


def main(name: str, schedule: str, record_dir: str) -> None:
    """Never returns: the ring file in `record_dir` is all that is left."""

    def drive_and_die(*args: object) -> None:
        drive(*args)  # type: ignore[arg-type]
        os.kill(os.getpid(), signal.SIGKILL)

    running.drive = drive_and_die  # type: ignore[assignment]
    running.run(name, planted=True, schedule=schedule, options={"record_dir": record_dir})
