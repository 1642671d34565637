"""Which findings follow from which: the earliest that explains another is its cause.

Two findings are tied by what the second is about: a page in its life or the next one, a row in its
generation, the launch that broke the first rule, the order that both lack. A shared number alone ties
nothing: a page of another life, or another row of the same launch, may be another bug. What follows from a
consequence follows from its cause; what nothing explains stands on its own.

The verdict is the earliest finding that explains what failed: it, or what follows from it, is tied to that
(`failure`). Where none is, it is the first symptom, else the earliest finding, which then is no cause. Where
nothing failed, it is the earliest finding.
"""

from functools import cached_property

from tracert_analysis.report.failure import ENDINGS, PREFIX, Failure
from tracert_analysis.report.questions import Questions, Row

REPEATED = "the same again"

SAME_ORDER = "the same order is missing"
"""How the reason begins why a finding has the verdict's cause."""

REPAIRED = "what repairs the verdict repairs it"

SAME = ("code", "resource_kind", "resource_id", "life", "row", "generation")
"""By these a finding is the same one in another history, whichever launch is now the first to break the rule;
of the workspace, where every launch finds the same places, the launch says more."""

# `place` is the one in the code that broke the rule: who left an entry of a row is no part of the mistake,
# and what stands in positions that nobody computed is chance, and with it the code.
KERNELS = """
SELECT *, CASE
    WHEN class = 'mapping' THEN [code, stream::VARCHAR, kernel]
    WHEN skipped THEN ['skipped', stream::VARCHAR, kernel]
    ELSE [code, stream::VARCHAR, other_stream::VARCHAR, kernel, other_kernel]
END AS place
FROM (
    SELECT f.finding, f.code, f.class, f.stream, f.other_stream, late.kernel, early.kernel AS other_kernel,
        early.seq < late.seq AND early.stream <> late.stream
            AND late.clock[early.stream + 1] < early.ordinal AS loose,
        f.code IN ('TR301', 'TR302') AND EXISTS (
            FROM _met m
            WHERE m.before_seq IS NOT NULL AND m.seq = f.seq AND m.page = f.resource_id AND m.life = f.life
        ) AS skipped
    FROM finding f
    LEFT JOIN launch late ON late.launch = f.launch LEFT JOIN launch early ON early.launch = f.other_launch
)"""

# How many findings have the place of the verdict, and how many of these do not come behind a finding.
TIMES = f"""
SELECT count(DISTINCT finding) AS times, count(DISTINCT finding) FILTER (finding <= $finding) AS number
FROM ({KERNELS}) WHERE place IN (SELECT place FROM ({KERNELS}) WHERE finding = $root)"""

BYTES = ("TR301", "TR302")
REACHING = ("order", "lifetime", "content")
"""Classes of findings that what went wrong in a page's life can bring upon the next."""


class Causes:
    """Which findings are one bug, and which of these is the verdict."""

    def __init__(
        self,
        questions: Questions,
        rows: list[Row],
        failure: Failure | None = None,
    ) -> None:
        """`rows` of the view `finding`, in its order, all or some; `failure` is what they have to explain."""
        listed = ", ".join(str(row["finding"]) for row in rows) or "NULL"
        asked = f"FROM ({KERNELS}) WHERE finding IN ({listed})"
        self._questions = questions
        self._kernels = {row["finding"]: row for row in questions.rows(asked)}
        self._failure = failure
        self._clusters: list[list[Row]] = []
        self._reasons = {row["finding"]: self._place(row) for row in _too_late_first(rows)}
        self._clusters.sort(key=lambda cluster: min(row["finding"] for row in cluster))
        self._tied = {id(cluster): self._is_tied(cluster) for cluster in self._clusters}
        self._lead()

    @cached_property
    def times(self) -> int:
        """How often the same kernels break the verdict's rule on the same streams, in the whole history."""
        return max(int(self._count(self.root)["times"]), 1)

    def number(self, row: Row) -> int:
        """Which time of these it is, from 1."""
        return max(int(self._count(row)["number"]), 1)

    def _count(self, row: Row) -> Row:
        numbers = {"finding": row["finding"], "root": self.root["finding"]}
        return self._questions.rows(TIMES, **numbers)[0]

    @property
    def why(self) -> dict[int, str | None]:
        """Why each finding follows, by its number."""
        told: dict[int, str | None] = {}
        for place, cluster in enumerate(self._clusters):
            for row in cluster:
                why = self._reasons[row["finding"]]
                of = f"of {cluster[0]['code']} at seq {cluster[0]['seq']}, " if place and why else ""
                told[row["finding"]] = f"{of}{why}" if why else None
        return told

    def absorb(self, left: list[Row]) -> None:
        """`left` is what is left once the verdict is repaired: what is gone with it has its cause."""
        known = {tuple(row[name] for name in SAME) for row in left}
        for cluster in self._clusters[1:]:
            # What is not asked again may be there still.
            unasked = any(row["class"] == "symptom" or row["code"] == "TR801" for row in cluster)
            if unasked or any(tuple(row[name] for name in SAME) in known for row in cluster):
                continue
            self._reasons[cluster[0]["finding"]] = REPAIRED
            self._clusters[0] += cluster
            self._clusters.remove(cluster)

    @property
    def root(self) -> Row:
        """The verdict."""
        return self._clusters[0][0]

    def repetitions(self) -> list[Row]:
        """The verdict and its repetitions: the same rule, broken by the same kernels on the same streams."""
        return [row for row in self._clusters[0] if self._where(row) == self._where(self.root)]

    def alone(self) -> list[list[Row]]:
        """What the verdict does not explain: each a finding that stands alone, and what follows from it."""
        return self._clusters[1:]

    def independent(self) -> list[list[Row]]:
        """Of these the ones that have nothing to do with what failed; none where nothing did."""
        return [cluster for cluster in self.alone() if self._tied[id(cluster)] is False]

    def explains(self) -> bool | None:
        """Does the verdict explain what failed? None where nothing did, or the history does not say what."""
        return self._tied[id(self._clusters[0])] if self._clusters else None

    def _is_tied(self, cluster: list[Row]) -> bool | None:
        if self._failure is None:
            return None
        if any(self._failure.is_tied(row) for row in cluster):
            return bool(cluster[0]["class"] != "symptom")
        return False if self._failure.launches else None

    def _lead(self) -> None:
        """The verdict's cluster comes first."""
        first = next((cluster for cluster in self._clusters if self._tied[id(cluster)]), None)
        if first is None and self._failure is not None:
            first = next((cluster for cluster in self._clusters if cluster[0]["class"] == "symptom"), None)
        if first is None:
            return
        self._clusters = [first, *(cluster for cluster in self._clusters if cluster is not first)]
        if self._failure is None or self._failure.is_tied(first[0]):
            return
        # Of what the same act broke, it is that which is tied.
        act = (first[0]["code"], first[0]["seq"])
        again = (row for row in first if (row["code"], row["seq"]) == act and self._failure.is_tied(row))
        if (row := next(again, None)) is not None:
            first.remove(row)
            first.insert(0, row)
            number, other = row["finding"], first[1]["finding"]
            self._reasons[number], self._reasons[other] = None, self._reasons[number]

    def _place(self, row: Row) -> str | None:
        """Put it behind what explains it: what it is about says more than that its rule is broken again."""
        for reason in (self._tie, self._likeness):
            for cluster in self._clusters:
                why = reason(row, cluster)
                if why is None:
                    continue
                why = self._likeness(row, cluster) or why
                cluster.append(row)
                return why
        self._clusters.append([row])
        return None

    def _tie(self, row: Row, cluster: list[Row]) -> str | None:
        return next((why for cause in cluster if (why := follows(row, cause)) is not None), None)

    def _likeness(self, row: Row, cluster: list[Row]) -> str | None:
        root = cluster[0]
        if kept_room(row, root):
            return f"the block that launch {root['launch']} kept was in the way"
        if self._where(row) == self._where(root):
            return REPEATED
        order = self._order(row)
        return SAME_ORDER if order is not None and order == self._order(root) else None

    def _where(self, row: Row) -> tuple[object, ...]:
        """The place in the code that broke the rule."""
        return tuple(self._kernels[row["finding"]]["place"])

    def _order(self, row: Row) -> tuple[object, ...] | None:
        """The place in the code where a call is missing: behind a kernel on a stream, before another."""
        kernels = self._kernels[row["finding"]]
        return (kernels["other_kernel"], row["other_stream"], row["stream"]) if kernels["loose"] else None


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


def _too_late_first(rows: list[Row]) -> list[Row]:
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
