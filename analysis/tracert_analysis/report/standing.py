"""What of a verdict was observed, what is inferred from that, and what the evidence leaves open."""

from typing import Any

from tracert_analysis.load import Dump
from tracert_analysis.report.consequence import kept_room
from tracert_analysis.report.questions import Questions, Row
from tracert_analysis.report.report import Standing
from tracert_analysis.report.scene import Scene

# What is known of the launch in question: that it gave a value that is not finite, that it was running when
# the device failed; and of the one before it, whether it had run by then.
SEEN = """
SELECT l.state, o.state AS other_state,
    (SELECT min(e.seq) FROM event AS e WHERE e.kind = 'nonfinite' AND e.launch = l.launch) AS nonfinite_seq,
    EXISTS (FROM _wrong AS w WHERE w.seq = l.seq AND w.symptom = 'error') AS failed
FROM launch AS l LEFT JOIN launch AS o ON o.launch = $other
WHERE l.launch = $launch"""

RECORDED = {
    "order": "which act came before which, and that no call orders them",
    "cleared": "which launch came before which, and which positions of the page each cleared or put there",
    "lifetime": "who held the page, when it was given back, and which launches touched it",
    "mapping": "what was published in the row, and how far it was followed",
    "content": "which launch wrote these bytes last, and which loads them",
    "resource": "what each launch planned, took and gave back",
    "symptom": "what went wrong, and nothing that broke another rule before",
    "symptom beside": "what went wrong, and nothing tied to it that broke another rule",
}
"""What the history has, by the class of the verdict; of a clear that comes in order `cleared`."""

OF_CODE = {
    "TR303": (
        "what was to be copied, which launches copied it, and who let go of its pages when",
        "is wrong about the copy",
    ),
    "TR501": (
        "what was found for the request, and what it was stored for",
        "takes it for what was asked for",
    ),
}
"""The same, and what some line of code does, where a rule is about something else than its class."""

EFFECT = {
    "order": "what was read or written out of order",
    "cleared": "zeros in the place of what was there",
    "lifetime": "what it met in a page that was another's, or nobody's",
    "mapping": "what the row named",
    "content": "these bytes",
    "resource": "the want of room",
}
"""What is taken for the cause of a symptom, by the class of the verdict."""

CODE = {
    "order": "leaves out the call",
    "cleared": "clears what it must leave",
    "lifetime": "is wrong about the page",
    "mapping": "is wrong about the row",
    "content": "lets these bytes stand there",
    "resource": "takes or keeps the room",
}
"""What some line of code does, by the class of the verdict."""


SUSPECTED = {
    "TR204": "what the page is kept for may still come to its end",
    "TR501": "two requests may have the same tokens, of which a history has none",
}
"""Why a rule only suspects, where a history has all of its events."""

HOLES = "SELECT holes FROM _window"


def standing(questions: Questions, dump: Dump, scene: Scene, whole: bool) -> Standing | None:
    """Three kinds of sentences about the verdict; None without one.

    `whole`: nothing is missing before the last event.
    """
    if scene.shown is None or scene.root is None:
        return None
    row = scene.shown.row
    seen = _seen(questions, row)
    kind = str(row["class"])
    # Of two launches that are ordered it is no call that is missing.
    if row["code"] == "TR104" and scene.edge is None and row["other_launch"] is not None:
        kind = "cleared"
    symptom = _symptom(row, seen) if row["confidence"] != "proven" else None
    # Something else is broken, which does not explain the symptom.
    beside = kind == "symptom" and bool(scene.causes.alone())
    kept = kept_room(row, scene.root) or row["launch"] == row["other_launch"]
    recorded = RECORDED["symptom beside" if beside else kind] if kind in RECORDED else "the events"
    recorded, does = OF_CODE.get(str(row["code"]), (recorded, CODE.get(kind, "")))
    if kind == "order" and scene.edge is not None and scene.edge.misplaced is not None:
        does = "has the call in the wrong place"
    return Standing(
        scope=_scope(questions, row, symptom is not None),
        observed=tuple(
            filter(
                None,
                (f"in the history: {recorded}", _overtaken(row, kind, seen), symptom),
            )
        ),
        inferred=_inferred(row, kind, symptom, seen, _tied(scene)),
        open=(*_unexplained(scene, beside), *_open(dump, kind, does, kept, whole, beside)),
    )


def _tied(scene: Scene) -> str | None:
    """What failed, where the verdict is tied to it."""
    if scene.failure is None or not scene.causes.explains():
        return None
    return f"why {scene.failure.told}" if scene.failure.launches else f"behind {scene.failure.name}"


def _unexplained(scene: Scene, beside: bool) -> tuple[str, ...]:
    """What brought about what failed, where the verdict does not."""
    if beside:
        return ("what brought it about: no rule that the history breaks is tied to it",)
    if scene.failure is None or scene.causes.explains() or scene.causes.root["class"] == "symptom":
        return ()
    return (f"what brought about {scene.failure.name}",)


def _seen(questions: Questions, row: Row) -> dict[str, Any]:
    launch = row["launch"]
    if launch is None:
        return {}
    told = questions.ask(f"what was seen of launch {launch}?", SEEN, launch=launch, other=row["other_launch"])
    return told.first or {}


def _symptom(row: Row, seen: dict[str, Any]) -> str | None:
    """What visibly went wrong at the launch in question; None where nothing did."""
    launch = row["launch"]
    if seen.get("nonfinite_seq") is not None:
        return f"launch {launch} gave a value that is not finite (seq {seen['nonfinite_seq']})"
    if seen.get("failed") and seen.get("state") == "running":
        return f"launch {launch} had started, and not ended, when the history ended with an error"
    return None


def _overtaken(row: Row, kind: str, seen: dict[str, Any]) -> str | None:
    """Did the later launch start before the earlier one, as their streams' progress says?"""
    if kind != "order" or seen.get("other_state") != "waiting" or seen.get("state") in (None, "waiting"):
        return None
    earlier = f"launch {row['other_launch']}, which was still waiting at the end"
    return f"launch {row['launch']} started before {earlier}"


def _scope(questions: Questions, row: Row, symptom: bool) -> str:
    """What the confidence is about."""
    confidence = row["confidence"]
    if confidence == "observed" and symptom:
        return "that the rule is broken, and that a launch it concerns went wrong"
    if confidence == "observed":
        return "that the rule is broken, and what the device did by it"
    if confidence == "proven":
        return "that the rule is broken; nothing was seen to go wrong by it"
    missing = "events are missing, or not understood, that could show it otherwise"
    return missing if questions.rows(HOLES)[0]["holes"] else SUSPECTED.get(row["code"], missing)


def _inferred(
    row: Row, kind: str, symptom: str | None, seen: dict[str, Any], tied: str | None
) -> tuple[str, ...]:
    if symptom is None:
        harm = "that it can do harm: nothing that went wrong is tied to it here"
        if tied is not None:
            harm = f"that it is {tied}: they have a launch, a page or a row in common"
            if row["code"] == "TR204":
                harm = f"that it is {tied}: what is kept was wanted"
        if row["confidence"] == "observed":
            harm = "that it did harm: the history does not have what kernels computed"
        return (harm,) if kind in EFFECT else ()
    wrong = "the value is not finite" if seen.get("nonfinite_seq") is not None else "that launch did not end"
    if kind == "resource":
        return (f"that {EFFECT[kind]} is why launch {row['launch']} did not end",)
    if kind not in EFFECT:
        return ()
    verb = "are" if kind in ("content", "cleared") else "is"
    return (
        f"that {EFFECT[kind]} {verb} why {wrong}: the history does not have "
        "what a kernel computed, or at which address",
    )


def _open(dump: Dump, kind: str, does: str, kept: bool, whole: bool, beside: bool) -> list[str]:
    told = []
    if does:
        told.append(f"which code {does}: the history names launches, streams and events, no lines")
    if kind == "symptom" and not beside:
        told.append("what brought it about: the history breaks no other rule before")
    if kind == "resource" and kept:
        told.append("whether what was kept would have been given back after the last event")
    device = dump.header.get("device")
    if isinstance(device, dict) and device.get("name") == "sim":
        told.append("what a GPU would do: the device was simulated, and a seeded schedule chose the order")
    if not whole:
        told.append("what lies before the recorded window, or in records that are missing from it")
    return told
