"""What if the bytes had been right? Every rule is checked again with that.

The page is cleared before its first use, or kernels load no more than is valid, or the clear that ran in time
has the right range. Where nobody computed them, the launch that started behind them starts earlier.
"""

from tracert_analysis.load import Dump
from tracert_analysis.report.added import COUNTED, clears, with_added
from tracert_analysis.report.again import Edited, checked_again, count
from tracert_analysis.report.clears import with_right_range
from tracert_analysis.report.questions import Row
from tracert_analysis.report.stories.content import WrongRange

# A clear of each page that a finding names, before the first launch that uses it in that life.
CLEARS = clears("""
    SELECT f.resource_id AS page, f.life::BIGINT AS life, min(s.first_seq) AS seq
    FROM main.finding f JOIN main._span s ON s.page = f.resource_id AND s.life = f.life
    WHERE f.code IN ('TR301', 'TR302') GROUP BY f.resource_id, f.life""")

NARROWED = """
CREATE VIEW event AS
SELECT e.* REPLACE (list_transform(e.uses, lambda u: {
    'row': u."row", 'generation': u.generation, 'start': u.start, 'end': u."end",
    'walked': least(u.walked, ceil(u."end" / w.page_size)::UINTEGER), 'covers': 'valid'
}) AS uses) FROM main.event AS e, main._window AS w"""

# Each launch that left positions of a sequence out computes them, too.
STARTED = """
CREATE VIEW event AS
SELECT e.* REPLACE (list_transform(e.uses, lambda u: {
    'row': u."row", 'generation': u.generation, 'start': coalesce(list_filter(
        s.skips, lambda k: k."row" = u."row" AND k.generation = u.generation
    )[1].first, u.start), 'end': u."end", 'walked': u.walked, 'covers': u.covers
}) AS uses)
FROM main.event AS e LEFT JOIN (
    SELECT k.seq, list({'row': k."row", 'generation': k.generation, 'first': k.first}) AS skips
    FROM main._skip AS k GROUP BY k.seq
) AS s ON e.seq = s.seq"""

# The verdict's bytes are of this life, and of the other kind.
MIXED = """
SELECT count(*) FROM main.finding AS f JOIN main._met AS m
    ON f.resource_id = m.page AND f.life = m.life AND f.seq = m.seq AND f.code = 'TR301'
WHERE f.finding = $verdict AND m.kind = 'mixed'"""

# The verdict is about positions that a launch takes for valid.
MEANT = """
SELECT count(*) FROM main.finding AS f
JOIN main._met AS m ON f.seq = m.seq AND f.resource_id = m.page AND f.life = m.life
WHERE f.finding = $verdict AND f.code IN ('TR301', 'TR302')
    AND m.kind IN ('stale', 'unwritten', 'blank', 'untold') AND m.meant"""

LEFT_OUT_OF_ROW = f"{MEANT} AND m.before_seq IS NOT NULL"

SKIPS = "SELECT count(*) FROM main._skip"

WHOLE = "SELECT count(*) FROM main._use WHERE covers = 'page'"

MUST_CHANGE = "no fence and no clear would have helped: what must change is {what}"
MIXED_UP = MUST_CHANGE.format(what="where state rows are stored")
UNCOMPUTED = MUST_CHANGE.format(
    what="which positions are computed, or brought, before a launch takes them for valid"
)


def are_mixed(dump: Dump, root: Row) -> bool:
    """Does the verdict tell of state rows that are read as keys and values, or of the reverse?"""
    return count(dump, MIXED, root) > 0


def right_bytes(dump: Dump, root: Row, wrong: WrongRange | None) -> Edited:
    """What is left of the findings when the verdict's bytes are right; or why nothing was tried.

    `wrong`: the clear that ran in time over the wrong positions, where one did.
    """
    if count(dump, LEFT_OUT_OF_ROW, root):
        times = count(dump, SKIPS, root)
        where = "" if times == 1 else f" (in all {times} places where one starts late)"
        left = checked_again(dump, (STARTED,))
        what = f"with the launch started where the one before it had ended{where},"
        return Edited(left.told(what), left.same(root) is None, left=left)
    if are_mixed(dump, root):
        return Edited(MIXED_UP, None)
    if count(dump, MEANT, root):
        return Edited(UNCOMPUTED, None)
    left = checked_again(dump, (CLEARS, with_added(COUNTED)))
    sentence = left.told("with a clear of the page added to the recorded history before its first use,")
    tried = {"clear": left}
    if count(dump, WHOLE, root):
        tried["narrow"] = narrowed = checked_again(dump, (NARROWED,))
        sentence = f"{sentence}; with kernels that load valid positions only, {narrowed.what}"
    if wrong is not None:
        told, tried["range"] = with_right_range(dump, wrong)
        sentence = f"{sentence}; {told}"
    helps = {name: left for name, left in tried.items() if left.same(root) is None}
    fails = tuple(name for name in tried if name not in helps) if len(tried) > 1 else ()
    return Edited(sentence, bool(helps), fails=fails, helps=tuple(helps), lefts=tuple(helps.values()))
