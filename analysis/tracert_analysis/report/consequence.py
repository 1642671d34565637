"""Why a finding is a consequence of another: a page, a row, a launch or a request is no accident.

One follows from another by what it is about: a page in its life or the next one, a row in its
generation, the launch that broke the first rule. A shared number alone ties nothing: a page of another life,
or another row of the same launch, may be another bug.
"""

from tracert_analysis.report.questions import Row

PREFIX = ("TR501", "TR503")
"""A cache gave a request what it must not: all that the request does with it follows."""
ENDINGS = ("TR201", "TR203", "TR205", "TR303", "TR503")
"""A life ended too early, or is not the only one: whoever gets the page next is hit."""
BYTES = ("TR301", "TR302")
"""What a launch met in a page must not have been there."""
REACHING = ("order", "lifetime", "content")
"""Classes of findings that what went wrong in a page's life can bring upon the next."""


def follows(row: Row, cause: Row) -> str | None:
    """Why a later finding is a consequence of an earlier one; None when nothing ties them together."""
    if row["seq"] < cause["seq"]:
        return "the clear of its page came behind it" if _clears_too_late(cause, row) else None
    symptom = row["class"] == "symptom"
    if cause["class"] == "symptom" and not symptom:
        return None
    same_row = row["row"] is not None and (row["row"], row["generation"]) == (
        cause["row"],
        cause["generation"],
    )
    same_life, next_life = _lives(row, cause)
    # A launch may use other rows and other pages, too.
    shows = symptom and (same_row or None in (row["row"], cause["row"]))
    same_launch = shows or same_life or (same_row and cause["class"] != "content")
    if row["launch"] is not None and row["launch"] == cause["launch"] and same_launch:
        return f"the same launch {row['launch']}"
    if row["code"] == "TR204":
        # Whoever keeps a page keeps it, whatever else went wrong with it; but a leak leads to no other.
        return None
    if same_row and (symptom or _through_row(row, cause)):
        return f"row {row['row']} in the same generation"
    if same_life:
        return f"page {row['resource_id']} again"
    if next_life and cause["code"] in ENDINGS and row["class"] in REACHING:
        return f"page {row['resource_id']} in its next life"
    if (
        row["other_launch"] is not None
        and row["other_launch"] == cause["launch"]
        and row["class"] == "content"
    ):
        return f"what launch {row['other_launch']} stored"
    if (
        row["request"] is not None
        and row["request"] == cause["request"]
        and (symptom or cause["code"] in PREFIX)
    ):
        return f"the same request {row['request']}"
    return None


def too_late_first(rows: list[Row]) -> list[Row]:
    """In the order of causes: a clear that comes too late before what met bytes that it should wipe."""
    late = {
        row["finding"]
        for row in rows
        if row["code"] == "TR104"
        and any(_clears_too_late(row, other) for other in rows if other["code"] in BYTES)
    }
    return sorted(rows, key=lambda row: row["finding"] not in late)


def _clears_too_late(clear: Row, met: Row) -> bool:
    """Is the clear that of the page and life in which bytes were met before that it should have wiped?"""
    return (
        clear["code"] == "TR104"
        and met["code"] in BYTES
        and met["seq"] < clear["seq"]
        and _lives(met, clear)[0]
        and clear["life"] is not None
    )


def kept_room(row: Row, cause: Row) -> bool:
    """Did a launch find no room beside the block that the cause's launch kept? That is no repetition."""
    return (
        row["class"] == "resource"
        and row["launch"] != cause["launch"] == row["other_launch"]
        and (row["resource_kind"], row["resource_id"]) == (cause["resource_kind"], cause["resource_id"])
    )


def _lives(row: Row, cause: Row) -> tuple[bool, bool]:
    """Is it the same page in the same life, or in the next one that the findings tell of?"""
    if row["resource_kind"] != "page" or cause["resource_kind"] != "page":
        return False, False
    if row["resource_id"] != cause["resource_id"] or row["resource_id"] is None:
        return False, False
    if row["life"] is None or cause["life"] is None:
        return row["life"] == cause["life"], False
    return row["life"] == cause["life"], row["life"] == cause["life"] + 1


def _through_row(row: Row, cause: Row) -> bool:
    """Can what is wrong with a row, or with what it names, have brought this about?"""
    if cause["class"] == "mapping" or cause["code"] in ("TR102", "TR103"):
        return row["class"] in ("mapping", "lifetime") or row["code"] in ("TR102", "TR103")
    return (cause["class"], row["class"]) == ("lifetime", "mapping")
