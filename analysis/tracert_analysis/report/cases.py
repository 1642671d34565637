"""Which of the cases that the pages of findings tell of is the one at hand."""

from tracert_analysis.report.questions import Questions, Row
from tracert_analysis.report.stories.content import BytesStory
from tracert_analysis.report.stories.workspace import WorkspaceStory

# The host had mapped another page than the one that the launch found in the entry.
MEANT_OTHER = """
SELECT count(*) AS found FROM _misplaced
WHERE seq = $seq AND "row" = $row AND generation = $generation AND page = $page AND life = $life"""

# Nothing had ever been published in the entry that the launch follows.
UNPUBLISHED = """
SELECT count(*) AS found FROM _unpublished WHERE seq = $seq AND "row" = $row AND generation = $generation"""

# Somebody had given the page back by then.
GIVEN_BACK = """
SELECT count(*) AS found FROM holding WHERE page = $page AND life = $life AND until_seq <= $seq"""

# The page is nobody's.
RESERVED = """
SELECT count(*) AS found FROM page_life
WHERE page = $page AND life = $life AND owner LIKE 'reserved:%'"""

# The hit names a life that ended when the page was granted to another.
ANEW = "SELECT count(*) AS found FROM event WHERE seq = $granted AND kind = 'alloc'"

# The launch reads as one part of a sequence what was computed as another.
OTHER_POSITIONS = "SELECT count(*) AS found FROM _foreign WHERE seq = $seq AND page = $page AND life = $life"

# The planned copy brought less than was planned: the finding names its target.
STOPPED_SHORT = """
SELECT count(*) AS found FROM event
WHERE kind = 'copy_plan' AND seq = $planned
    AND list_contains(list_transform(target, lambda t: t[1:2]), [$page, $life])"""

# The source was written in its own life, by what comes before the launch that copies it.
WRITTEN_OVER = """
SELECT count(*) AS found FROM launch AS c JOIN launch AS w ON w.seq = $seq
WHERE c.launch = $copied AND w.seq < c.seq AND (w.stream = c.stream OR w.ordinal <= c.clock[w.stream + 1])"""

# The launch goes on from what stands where it stores.
IN_PLACE = "SELECT count(*) AS found FROM _in_place WHERE seq = $seq AND page = $page AND life = $life"


def cases(
    questions: Questions,
    root: Row,
    workspace: WorkspaceStory | None,
    content: BytesStory | None,
    meant: bool,
) -> dict[str, bool]:
    """Whether each is, by the words that its item begins with; those that can't be told are left out.

    `root` of the view `finding` is the verdict; `meant`: its bytes are taken for valid.
    """
    code = root["code"]
    if code == "TR104":
        # Where it is, the history says it better.
        return {"Where its range is what is wrong": False}
    if code == "TR302":
        return {"Where it is behind what is valid": not meant, "Where it is meant to be valid": meant}
    if code == "TR303":
        return _of_copy(questions, root)
    if code == "TR301":
        in_place = _is_told(questions, IN_PLACE, root)
        at_hand = {
            "Where a state is gone on from": in_place,
            "Where more is loaded than is valid": not in_place,
        }
        if content is not None:
            rows = any(run.content == "rows" and run.stale for run in content.runs)
            at_hand["Where state rows are what is stale"] = rows and not in_place
        return at_hand
    if code == "TR402":
        meant_other = _is_told(questions, MEANT_OTHER, root) or _is_told(questions, UNPUBLISHED, root, "row")
        return {
            "Where the host means another page": meant_other,
            "Where the row names what was given back": not meant_other
            and _is_told(questions, GIVEN_BACK, root),
            "Where it names a reserved page": not meant_other and _is_told(questions, RESERVED, root),
        }
    if code == "TR501":
        other = _is_told(questions, OTHER_POSITIONS, root)
        return {
            "Where other positions stand there": other,
            "Where it was hit by a name": root["launch"] is None,
            "Where a slot of the host tier has another page": root["launch"] is not None and not other,
        }
    if code == "TR503":
        anew = questions.rows(ANEW, granted=root["other_seq"])[0]["found"] > 0
        return {"Where the page is granted anew": anew}
    if code == "TR701" and workspace is not None:
        return _of_room(root, workspace)
    return {}


def _of_copy(questions: Questions, root: Row) -> dict[str, bool]:
    page, life, planned = root["resource_id"], root["life"], root["other_seq"]
    short = questions.rows(STOPPED_SHORT, page=page, life=life, planned=planned)[0]["found"] > 0
    over = questions.rows(WRITTEN_OVER, seq=root["seq"], copied=root["other_launch"])[0]["found"] > 0
    return {
        "Where its source changes too early": not short and not over,
        "Where the source is written over before the copy": over,
        "Where the copy stops short": short,
    }


def _of_room(root: Row, workspace: WorkspaceStory) -> dict[str, bool]:
    kept = root["launch"] == root["other_launch"]
    planned, capacity = workspace.planned, workspace.capacity
    large = planned is not None and capacity is not None and planned > capacity
    beside = bool(workspace.live)
    return {
        "Where a block is kept": kept,
        "Where steps in flight have the room": beside and not kept and not large,
        "Where nothing is live": not beside and not kept and not large,
        "Where the plan is larger than the whole workspace": large,
    }


def _is_told(questions: Questions, sql: str, root: Row, of: str = "page") -> bool:
    """Does a private table have it that the finding was made of? No, where that is not about an `of`."""
    if root["resource_kind"] != of:
        return False
    where = {name: root[name] for name in ("seq", "row", "generation", "life")}
    return bool(questions.rows(sql, page=root["resource_id"], **where)[0]["found"])
