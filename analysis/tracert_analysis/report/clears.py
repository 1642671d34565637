"""The clear of a page that ran in time, over the wrong positions: it is its range that must change.

One left positions of the page that a launch then met stale; another reached into what was valid already.
"""

from typing import NamedTuple

from tracert_analysis.load import Dump
from tracert_analysis.report.acts import Acts
from tracert_analysis.report.again import SCHEMA, Left, checked_again, of_dump, rows, schema
from tracert_analysis.report.questions import Questions, Row
from tracert_analysis.report.stories.content import WrongRange

SPARED = """
SELECT s.launch, s.clear_first AS first, s.clear_end AS "end", s.first AS wrong_first, s."end" AS wrong_end,
    false AS reaches
FROM _spared s WHERE s.page = $page AND s.life = $life AND s.seq = $seq ORDER BY s.first LIMIT 1"""

REACHED = """
SELECT l.launch, w.first, w."end", w.wiped_first AS wrong_first, w.wiped_end AS wrong_end, true AS reaches
FROM _wiping w JOIN launch l ON l.seq = w.clear_seq
WHERE w.reaches AND w.page = $page AND w.life = $life AND w.clear_seq = $seq LIMIT 1"""

# What clears should have cleared of a page, and left somebody to meet.
WIDER = """
CREATE TABLE _range AS
SELECT clear_seq, page, life, clear_first AS first, clear_end AS "end",
    least(clear_first, min(first)) AS from_, greatest(clear_end, max("end")) AS upto
FROM main._spared GROUP BY clear_seq, page, life, clear_first, clear_end"""

WIPINGS = """
SELECT clear_seq, page, life, first, "end", wiped_first, wiped_end FROM main._wiping WHERE reaches"""

Wiping = tuple[int, ...]

# The same less what they wiped, which may lie in the middle.
NARROWER = """
CREATE TABLE _range AS
WITH w AS (
    FROM (VALUES {wipings}) AS w (clear_seq, page, life, first, "end", wiped_first, wiped_end)
)
SELECT clear_seq, page, life, first, "end", first AS from_, wiped_first AS upto FROM w
UNION ALL
SELECT clear_seq, page, life, first, "end", wiped_end, "end" FROM w"""

EVENTS = """
CREATE TABLE _target AS
SELECT t.seq, list(
        CASE WHEN r.page IS NULL THEN t.x ELSE [t.x[1], t.x[2], r.from_::BIGINT, r.upto::BIGINT] END
    ) AS target
FROM (
    SELECT seq, unnest(target) AS x FROM main.event
    WHERE kind = 'clear' AND seq IN (SELECT clear_seq FROM _range)
) AS t
LEFT JOIN _range AS r
    ON t.seq = r.clear_seq AND t.x[1] = r.page AND t.x[3] = r.first AND t.x[4] = r."end"
WHERE r.page IS NULL OR r.from_ < r.upto GROUP BY t.seq;
CREATE VIEW event AS
SELECT e.* REPLACE (CASE
    WHEN e.kind = 'clear' AND e.seq IN (SELECT clear_seq FROM _range) THEN coalesce(t.target, [])
    ELSE e.target
END AS target)
FROM main.event AS e LEFT JOIN _target AS t ON e.seq = t.seq"""

ROUNDS = 8
"""What a clear wipes once more, for a copy brought the zeros of another, shows when that one is mended."""

TIMES = "SELECT count(DISTINCT clear_seq) AS times FROM main._spared"


def wrong_range(questions: Questions, acts: Acts, row: Row | None) -> WrongRange | None:
    """Of a finding of the view, the clear whose range is wrong; None where its range is not what is wrong."""
    if row is None or row["code"] not in ("TR104", "TR301", "TR302"):
        return None
    reaches = row["code"] == "TR104"
    where = {"page": row["resource_id"], "life": row["life"], "seq": row["seq"]}
    about = f"which clear of page {where['page']} for life {where['life']} had the wrong range"
    found = questions.rows(REACHED if reaches else SPARED, **where)
    if not found:
        return None
    told = questions.ask(about, REACHED if reaches else SPARED, **where)
    act, _ = acts.launch(found[0]["launch"])
    if act is None:
        return None
    return WrongRange(
        act=act,
        page=row["resource_id"],
        life=row["life"],
        query=told.query,
        **{name: value for name, value in found[0].items() if name != "launch"},
    )


class Ranged(NamedTuple):
    """What came of clears with the right range."""

    sentence: str
    left: Left


def with_right_range(dump: Dump, found: WrongRange) -> Ranged:
    """What is left of the findings when every such clear has the right range."""
    if found.reaches:
        left, times = _narrowed(dump)
        what = f"leaving {found.wrong} out"
    else:
        times = rows(dump, TIMES)[0]["times"]
        left = checked_again(dump, (WIDER, EVENTS))
        what = f"reaching {found.wrong}"
    where = "" if times == 1 else f" (and {times - 1} more like it)"
    return Ranged(left.told(f"with the clear of launch {found.act.launch} {what}{where},"), left)


def _narrowed(dump: Dump) -> tuple[Left, int]:
    """What is left when clears leave what they had wiped, and of how many pages that is."""
    own = schema(dump)
    known: dict[tuple[int, int], Wiping] = {}
    fresh = _wipings(dump, own)
    for _ in range(ROUNDS):
        known |= {(wiping[0], wiping[1]): wiping for wiping in fresh}
        fresh, wipings = [], ", ".join(map(str, known.values()))
        left = checked_again(
            dump,
            (NARROWER.format(wipings=wipings), EVENTS),
            found_out=lambda met=fresh: met.extend(_wipings(dump, SCHEMA)),  # type: ignore[misc]
        )
        fresh = [wiping for wiping in fresh if (wiping[0], wiping[1]) not in known]
        if not fresh:
            break
    return left, len(known)


def _wipings(dump: Dump, where: str) -> list[Wiping]:
    return dump.connection.execute(of_dump(WIPINGS, where)).fetchall()
