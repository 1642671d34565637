"""The engine process: `python -m tracert.cli.engine_process OPTIONS FORM ADDRESS`, started by the API.

OPTIONS is EngineOptions as JSON, FORM that of the log, text or json. What can't be assembled is one line on
standard error and exit code 1.
"""

import json
import os
import signal
import sys

import msgspec

from tracert.cli.errors import explain_failure
from tracert.cli.options import EngineOptions


def main() -> int:
    """Assemble, connect, serve; the exit code."""
    options, (form, address) = msgspec.json.decode(sys.argv[1], type=EngineOptions), sys.argv[2:]
    # The API process decides when to stop, and says so; it is what a terminal's Ctrl-C is for.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        from tracert.cli.assemble import assemble
        from tracert.engine.loop import serve
        from tracert.messages.transport import ApiLink

        # Told to end while it loads, it ends as an error does that leaves nothing behind.
        signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
        assembly = assemble(options, json_lines=form == "json")
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        link = ApiLink(address)
        try:
            return serve(assembly.engine, link, assembly.ready, assembly.write_dump)
        finally:
            link.close()
    except Exception as error:
        if os.environ.get("TRACERT_TRACEBACK"):
            raise
        line, code = explain_failure(error)
        told = f"tracert: {line}" if form == "text" else json.dumps({"event": line, "level": "error"})
        print(told, file=sys.stderr)
        return code


if __name__ == "__main__":
    sys.exit(main())
