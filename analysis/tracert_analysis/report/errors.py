"""What the words of a device error point to, and whether that is where the cause is.

A small table, by what the runtimes' own texts say. An error that is not in it is called neither misleading
nor right.
"""

import json
from typing import Any

from tracert_analysis.load import Dump
from tracert_analysis.report.acts import Acts
from tracert_analysis.report.questions import Row
from tracert_analysis.report.report import ErrorFact
from tracert_analysis.report.scene import Scene

ORDER, LIFETIME, MAPPING, CONTENT, RESOURCE = "order", "lifetime", "mapping", "content", "resource"

POINTS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("LAUNCH_FAILURE", (MAPPING,), "a kernel that touched an address it may not"),
    ("ILLEGAL_ADDRESS", (MAPPING,), "a kernel that touched an address it may not"),
    ("MISALIGNED_ADDRESS", (MAPPING,), "a kernel that computed a wrong address"),
    ("INDEXERROR", (MAPPING,), "an index out of range"),
    ("AICPU", (), "the device's control processor"),
    ("ASSERT", (MAPPING, CONTENT), "a value that a kernel's assertion refused"),
    ("INVALID_SPECULATION", (), "the drafts of speculative decoding"),
    ("INVALID_PAGE", (ORDER, MAPPING), "a row that named no page when a guarded kernel followed it"),
    (
        "STALE_ROW",
        (ORDER, LIFETIME, MAPPING),
        "a row that named other pages than the host meant, as a kernel saw it",
    ),
    ("OUT_OF_MEMORY", (RESOURCE, LIFETIME), "memory that ran out"),
    ("MEMORY_ALLOCATION", (RESOURCE, LIFETIME), "memory that ran out"),
    ("TIMEOUT", (RESOURCE,), "a launch that does not end"),
)
"""Part of the error's name, classes of findings that this can be, what it seems to say."""

EFFECTS = ("LAUNCH_FAILURE", "ILLEGAL_ADDRESS", "MISALIGNED_ADDRESS")
"""Of these the ones that tell how a launch failed: right, and no cause."""

WHERE = {
    ORDER: "in the order of two acts",
    LIFETIME: "in who holds a page, and when",
    MAPPING: "in what a row names",
    CONTENT: "in the bytes that stand in a page",
    RESOURCE: "in the room of the workspace",
}
"""Where a cause lies, by the class of its finding."""

SUBCODES = {("orch_error_code", 2): "a launch waits for room in the heap ring, and none comes"}
"""Numbers beside an error that its runtime gives a meaning: those that are known."""


def error_of(dump: Dump, acts: Acts, scene: Scene, rows: list[Row]) -> ErrorFact | None:
    """The error of the header, else the first of the history, judged by the verdict."""
    error = dump.header.get("error") or _first(dump)
    stream = error.get("stream") if isinstance(error, dict) else None
    name = acts.stream_name(stream) if isinstance(stream, int) else None
    nonfinite = any(row["code"] == "TR902" for row in rows)
    # What does not explain the error says nothing of its words.
    category = scene.root["class"] if scene.root and scene.causes.explains() else None
    return error_fact(error if isinstance(error, dict) else None, name, category, nonfinite, _idle(dump))


def _first(dump: Dump) -> dict[str, Any] | None:
    """The first error in the history: one that ended a request, and not the engine, is in no header."""
    names = ("code", "name", "message", "stream", "observed_at", "detail")
    found = dump.connection.execute(
        f"SELECT {', '.join(names)} FROM event WHERE kind = 'error' ORDER BY seq LIMIT 1"
    ).fetchone()
    if found is None:
        return None
    error = dict(zip(names, found, strict=True))
    if isinstance(error["detail"], str):
        error["detail"] = json.loads(error["detail"])
    return error


def _idle(dump: Dump) -> bool:
    """Had every launch of every stream finished? False where the progress of none is known."""
    found = dump.connection.execute("SELECT bool_and(finished >= launched) FROM stream_state").fetchone()
    return bool(found and found[0])


def error_fact(
    error: dict[str, Any] | None,
    stream_name: str | None,
    category: str | None,
    nonfinite: bool,
    idle: bool = False,
) -> ErrorFact | None:
    """The header's error, judged by the class of the verdict (None: no finding).

    `nonfinite`: the history tells of outputs that are not finite. `idle`: every launch had finished.
    """
    if not error:
        return None
    name = str(error.get("name") or "")
    misleading, remark = judge(name, category, nonfinite, idle)
    detail = error.get("detail")
    return ErrorFact(
        code=error.get("code"),
        name=name,
        message=str(error.get("message") or ""),
        stream=stream_name,
        observed_at=str(error.get("observed_at") or ""),
        detail=detail if isinstance(detail, dict) else {},
        misleading=misleading,
        remark=remark,
    )


def judge(name: str, category: str | None, nonfinite: bool, idle: bool = False) -> tuple[bool, str]:
    """Does the error's name point away from a cause of this class, and a sentence about it."""
    squeezed = name.upper().replace(" ", "_")
    if nonfinite and "INVALID_SPECULATION" in squeezed:
        cause = "the recorded history does not explain it" if category is None else _found(category)
        return True, (
            "its name points to the drafts of speculative decoding. What was refused is a distribution that "
            f"is not finite, which needs no draft; {cause}"
        )
    for part, classes, seems in POINTS:
        if part in squeezed:
            if category is None:
                return False, f"its name points to {seems}; the recorded history does not explain it"
            if category in classes:
                return False, f"its name points to {seems}, and so does the cause found"
            if part in EFFECTS:
                return True, (
                    f"as to why: its name tells of {seems}, which may be how it failed; {_found(category)}"
                )
            return True, f"its name points to {seems}; {_found(category)}"
    if category is None and squeezed == "SIGKILL":
        return False, (
            "the recorded history does not explain it; where nobody sent that signal, it was the kernel's, "
            "for want of memory: dmesg says so"
        )
    if category is None and squeezed == "HANG" and idle:
        return False, (
            "every launch had finished and the device had nothing to do: the host stalled (it was stopped, "
            "had no processor, or waited for something that is not in the history)"
        )
    if category is None:
        return False, "the recorded history does not explain it"
    return False, f"its name points to nothing in particular; {_found(category)}"


def _found(category: str) -> str:
    return f"the cause found lies {WHERE.get(category, 'elsewhere')}"
