"""What holds for every fault, read from its source."""

import ast
from pathlib import Path

import tracert.faults


def test_faults_neither_record_nor_raise():
    """Planting changes what the engine does; nothing in the folder can tell the recorder or fake an error."""
    for path in Path(tracert.faults.__path__[0]).glob("*.py"):
        names = {
            getattr(node, "attr", None) or getattr(node, "id", None) or getattr(node, "name", None)
            for node in ast.walk(ast.parse(path.read_text()))
        }
        assert not names & {"recorder", "_recorder", "Recorder", "DeviceError", "record_failure"}, path
