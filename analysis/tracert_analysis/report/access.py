"""The act that a report tells of: the launch that broke the rule, or what the host did."""

from tracert_analysis.report.acts import Acts
from tracert_analysis.report.consequence import kept_room
from tracert_analysis.report.facts import FenceFact
from tracert_analysis.report.questions import Questions
from tracert_analysis.report.report import Access, HostAct
from tracert_analysis.report.scene import Scene

USE = """
SELECT u.start, u."end", u.walked FROM (
    SELECT unnest(uses, recursive := true) FROM event WHERE kind = 'launch' AND launch = $launch
) u WHERE u."row" = $row LIMIT 1"""

EVENT = "SELECT kind FROM event WHERE seq = $seq"

REQUEST = "SELECT id FROM request WHERE request = $request"


def access(questions: Questions, acts: Acts, scene: Scene) -> Access | None:
    """How the launch in question uses its row, and what it lacks order with; None without a launch."""
    if scene.act is None:
        return None
    root = scene.shown.row if scene.shown else {}
    row = root.get("row", scene.act.row)
    use = questions.ask(
        f"how launch {scene.act.launch} uses row {row}", USE, launch=scene.act.launch, row=row
    )
    found = use.first or {}
    request = root.get("request")
    fence: FenceFact | None = None
    fence_query = 0
    if scene.other is not None and scene.other.stream != scene.act.stream:
        earlier, later = sorted((scene.act, scene.other), key=lambda act: act.seq)
        fence, fence_query = acts.joining_fence(earlier, later.stream, later.seq)
    return Access(
        act=scene.act,
        request=request,
        request_id=_request_id(questions, request),
        row=row,
        generation=root.get("generation", scene.act.generation),
        positions=(0, found["end"]) if found else None,
        walked=found.get("walked"),
        other=scene.other,
        fence=fence,
        query=scene.act_query,
        fence_query=fence_query,
        why=_which(scene),
    )


def _which(scene: Scene) -> str | None:
    """Which of its repetitions the report tells of, where that is not the verdict itself."""
    if scene.shown is None or scene.shown.why is None or scene.root is None:
        return None
    number = scene.causes.number(scene.shown.row)
    root = scene.root
    if kept_room(scene.shown.row, root):
        return f"{scene.shown.why}, beside the block that launch {root['launch']} kept"
    first = f"the first is at seq {root['seq']}"
    return f"number {number:,} of {scene.causes.times:,}: {scene.shown.why}; {first}"


def host_act(questions: Questions, scene: Scene) -> HostAct | None:
    """What the host did, where a finding names no launch."""
    if scene.shown is None or scene.act is not None:
        return None
    row = scene.shown.row
    told = questions.ask(f"event {row['seq']}", EVENT, seq=row["seq"])
    return HostAct(
        seq=row["seq"],
        kind=str(told.first["kind"]) if told.first else "event",
        request=row["request"],
        request_id=_request_id(questions, row["request"]),
        other=scene.other,
        concerned=scene.concerned,
        query=told.query,
    )


def _request_id(questions: Questions, request: int | None) -> str | None:
    if request is None:
        return None
    told = questions.ask(f"request {request}", REQUEST, request=request)
    return told.first["id"] if told.first else None
