"""Where a failure stops being an exception and becomes part of the history.

Knows neither processes nor files: it says what the recorder and the dump's header must hold.
"""

from typing import Any, NamedTuple

from tracert.device.device import DeviceError
from tracert.record.recorder import Recorder


class Failure(NamedTuple):
    """`reason` and `error` as the dump's header has them."""

    reason: str
    error: dict[str, Any]


def record_failure(recorder: Recorder, raised: Exception) -> Failure:
    """Record what ended the engine. A device error keeps the runtime's own code, name and sub-codes."""
    if isinstance(raised, DeviceError):
        failure = Failure(
            "device-error",
            {
                "code": raised.code,
                "name": raised.name,
                "message": raised.message,
                "stream": raised.stream,
                "observed_at": raised.observed_at,
                "detail": raised.detail,
            },
        )
    else:
        failure = Failure(
            "exception",
            {
                "code": -1,
                "name": type(raised).__name__,
                "message": str(raised),
                "stream": None,
                "observed_at": "engine",
                "detail": {},
            },
        )
    recorder.error(**failure.error)
    return failure
