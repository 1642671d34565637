"""Positions that the verdict's launch takes for valid and that nobody computed: what was left out, by whom.

What stands there, an earlier life's bytes, zeros or nobody's, is chance: a clear changes it and the answer
stays wrong. So the fix is another one than for bytes behind a sequence.
"""

from tracert_analysis.report.acts import Acts
from tracert_analysis.report.consequence import BYTES
from tracert_analysis.report.facts import Act
from tracert_analysis.report.questions import Questions, Row
from tracert_analysis.report.stories.content import Uncomputed

MET = """
SELECT skip_first, skip_end, start, before_seq, request, kind = 'blank' AS blank,
    (SELECT launch FROM launch l WHERE l.seq = m.before_seq) AS before_launch
FROM _met m
WHERE page = $page AND life = $life AND seq = $seq AND kind IN ('stale', 'unwritten', 'blank', 'untold')
    AND meant
ORDER BY before_seq IS NULL LIMIT 1"""

MASKS = (
    "Clearing the page (`--stale-pages zero` or `clear-tail`): zeros stand then where keys and values "
    "should, and the answer stays wrong.",
    "Replacing what is not finite in the output.",
)
"""What only hides it, for nothing is computed by it."""


def uncomputed(questions: Questions, acts: Acts, root: Row | None, act: Act | None) -> Uncomputed | None:
    """What the finding's launch takes for valid; None unless the finding is about such positions."""
    if root is None or root["code"] not in BYTES or act is None:
        return None
    told = questions.ask(
        f"did anybody compute what launch {act.launch} takes for valid in page {root['resource_id']}?",
        MET,
        page=root["resource_id"],
        life=root["life"],
        seq=root["seq"],
    )
    found = told.first
    if found is None:
        return None
    before, _ = acts.launch(found["before_launch"])
    return Uncomputed(
        act=act,
        request=found["request"],
        start=found["start"],
        before=before,
        first=found["skip_first"],
        end=found["skip_end"],
        blank=found["blank"],
        query=told.query,
    )
