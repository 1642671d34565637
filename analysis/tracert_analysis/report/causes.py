"""Which findings follow from which: the earliest that explains another is its cause.

Findings are put together by what they are about (`consequence`), by the place in the code that broke the rule
(`places`), and by the order that both lack. What follows from a consequence follows from its cause; what
nothing explains stands on its own.

The verdict is the earliest finding that explains what failed: it, or what follows from it, is tied to that
(`tie`). Where another that is tied to it visibly went wrong, and the earlier one did not, or is tied only by
what its launch stored, that one must take the other away: its repair is tried on the history. Where none is
tied, the verdict is the first symptom, else the earliest finding, which then is no cause. Where nothing
failed, it is the earliest finding.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from tracert_analysis.report.again import Edited, Left
from tracert_analysis.report.consequence import BYTES, follows, kept_room, too_late_first
from tracert_analysis.report.failure import Failure
from tracert_analysis.report.places import Places
from tracert_analysis.report.questions import Questions, Row
from tracert_analysis.report.tie import Tie, Ties

REPEATED = "the same again"

SAME_ORDER = "the same order is missing"
"""How the reason begins why a finding has the verdict's cause."""

REPAIRED = "what repairs the verdict repairs it"

TRIED_MAX = 3
"""So many causes are tried at most, a history each, before the one that visibly went wrong."""

Try = Callable[[list[Row]], Edited]
"""What came of the repair of a finding, the first of these, and of its repetitions."""


@dataclass(eq=False, slots=True)
class Cluster:
    """A finding, which is the first, and what follows from it."""

    rows: list[Row]
    tied: bool | None = None
    """Does it explain what failed? None where nothing did, or the history does not say what."""
    may_be: bool = False
    """It is not tied to what failed, and may have reached that through what others computed."""

    @property
    def root(self) -> Row:
        """What explains the others."""
        return self.rows[0]


class Causes:
    """Which findings are one bug, and which of these is the verdict."""

    def __init__(
        self,
        questions: Questions,
        rows: list[Row],
        failure: Failure | None = None,
        repair: Try | None = None,
    ) -> None:
        """`rows` of the view `finding`, in its order, all or some; `failure` is what they have to explain.

        `repair` tries the repair of one of them on the history; without it nothing is tried.
        """
        self._places = Places(questions, rows)
        self._failure = failure
        self._ties = Ties(questions, failure) if failure is not None else None
        self._repair = repair
        self._clusters: list[Cluster] = []
        self._reasons = {row["finding"]: self._place(row) for row in too_late_first(rows)}
        self._clusters.sort(key=lambda cluster: min(row["finding"] for row in cluster.rows))
        for cluster in self._clusters:
            cluster.tied = self._is_tied(cluster)
        self._lead()
        self._follow()
        for cluster in self._clusters:
            cluster.may_be = cluster.tied is False and self._may_be(cluster)

    @cached_property
    def times(self) -> int:
        """How often the same kernels break the verdict's rule on the same streams, in the whole history."""
        return self._places.times(self.root)

    def number(self, row: Row) -> int:
        """Which time of these it is, from 1."""
        return self._places.number(row, self.root)

    @property
    def why(self) -> dict[int, str | None]:
        """Why each finding follows, by its number."""
        told: dict[int, str | None] = {}
        for number, cluster in enumerate(self._clusters):
            for row in cluster.rows:
                why = self._reasons[row["finding"]]
                of = f"of {cluster.root['code']} at seq {cluster.root['seq']}, " if number and why else ""
                told[row["finding"]] = f"{of}{why}" if why else None
        return told

    def absorb(self, left: Left) -> None:
        """`left` is what is left once the verdict is repaired: what is gone with it has its cause."""
        for cluster in self._clusters[1:]:
            # What is not asked again may be there still.
            unasked = any(row["class"] == "symptom" or row["code"] == "TR801" for row in cluster.rows)
            if not unasked and all(left.same(row) is None for row in cluster.rows):
                self._absorb(self._clusters[0], cluster)

    @property
    def root(self) -> Row:
        """The verdict."""
        return self._clusters[0].root

    def repetitions(self) -> list[Row]:
        """The verdict and its repetitions: the same rule, broken by the same kernels on the same streams."""
        return self._repetitions(self._clusters[0])

    def alone(self) -> list[list[Row]]:
        """What the verdict does not explain: each a finding that stands alone, and what follows from it."""
        return [cluster.rows for cluster in self._clusters[1:]]

    def independent(self) -> list[list[Row]]:
        """Of these the ones that have nothing to do with what failed; none where nothing did.

        What failed shows in a symptom: that is not among them.
        """
        return [
            cluster.rows
            for cluster in self._clusters[1:]
            if cluster.tied is False and not cluster.may_be and cluster.root["class"] != "symptom"
        ]

    def explains(self) -> bool | None:
        """Does the verdict explain what failed? None where nothing did, or the history does not say what."""
        if not self._clusters or self._clusters[0].may_be:
            return None
        return self._clusters[0].tied

    def _repetitions(self, cluster: Cluster) -> list[Row]:
        place = self._places.of(cluster.root)
        return [row for row in cluster.rows if self._places.of(row) == place]

    def _is_tied(self, cluster: Cluster) -> bool | None:
        if self._failure is None or self._ties is None:
            return None
        if any(self._ties.of(row) for row in cluster.rows):
            return bool(cluster.root["class"] != "symptom")
        return False if self._failure.launches else None

    def _lead(self) -> None:
        """The verdict's cluster comes first."""
        if self._failure is None:
            return
        tied = [cluster for cluster in self._clusters if cluster.tied]
        symptoms = (cluster for cluster in self._clusters if cluster.root["class"] == "symptom")
        first = self._chosen(tied) if tied else next(symptoms, None)
        if first is not None:
            self._turn(first)
            self._clusters.remove(first)
            self._clusters.insert(0, first)

    def _follow(self) -> None:
        """Where the verdict is tied to what failed, what shows there follows from it."""
        if self._ties is None or not self._clusters or self.root["class"] == "symptom":
            return
        lead = self._clusters[0]
        for cluster in self._clusters[1:]:
            for row in [row for row in cluster.rows if row["class"] == "symptom"]:
                why = next((why for cause in lead.rows if (why := self._ties.why(cause, row))), None)
                if why is not None:
                    cluster.rows.remove(row)
                    lead.rows.append(row)
                    self._reasons[row["finding"]] = why
        self._clusters = [cluster for cluster in self._clusters if cluster.rows]

    def _may_be(self, cluster: Cluster) -> bool:
        """May it have to do with what failed, or with an act of the verdict's?"""
        if self._ties is None or cluster.root["code"] == "TR204":
            return False
        lead = self._clusters[0]
        if (
            lead is not cluster
            and lead.tied
            and any(_meet(row, of) for row in cluster.rows for of in lead.rows)
        ):
            return True
        return any(self._ties.may_be(row) for row in cluster.rows)

    def _chosen(self, tied: list[Cluster]) -> Cluster:
        """The earliest, unless its repair leaves what visibly went wrong, or what is more closely tied."""
        seen = next((cluster for cluster in tied if self._visible(cluster)), None)
        if seen is None:
            seen = next((cluster for cluster in tied if self._shares(cluster)), tied[0])
        wrong = self._visible(seen) or [row for row in seen.rows if self._is_shared(row)]
        before = tied[: tied.index(seen)]
        for cluster in before[:TRIED_MAX]:
            self._turn(cluster)
            edited = self._repair(self._repetitions(cluster)) if self._repair is not None else None
            takes = edited.takes(wrong) if edited is not None else None
            # Where bytes are made right, they are everywhere: that it helps does not say that it is one bug.
            if takes and not {cluster.root["code"], seen.root["code"]} <= {*BYTES}:
                self._absorb(cluster, seen)
                return cluster
            if takes is not False and self._shares(cluster):
                return cluster
            self._hand_over(cluster, seen, edited)
        return seen

    def _visible(self, cluster: Cluster) -> list[Row]:
        """What visibly went wrong, and has something in common with what failed; symptoms are no causes."""
        return [row for row in cluster.rows if row["confidence"] == "observed" and self._is_shared(row)]

    def _shares(self, cluster: Cluster) -> bool:
        return any(self._is_shared(row) for row in cluster.rows)

    def _is_shared(self, row: Row) -> bool:
        return row["class"] != "symptom" and self._ties is not None and self._ties.of(row) is Tie.SHARED

    def _hand_over(self, cluster: Cluster, lead: Cluster, edited: Edited | None) -> None:
        """What follows from the verdict, too, is the verdict's, unless the repair of the other takes it."""
        for row in cluster.rows[1:]:
            stays = row["class"] == "symptom" or (edited is not None and edited.takes([row]) is False)
            why = self._consequence(row, lead) if stays else None
            if why is not None:
                cluster.rows.remove(row)
                lead.rows.append(row)
                self._reasons[row["finding"]] = why

    def _absorb(self, cluster: Cluster, other: Cluster) -> None:
        self._reasons[other.root["finding"]] = REPAIRED
        cluster.rows += other.rows
        self._clusters.remove(other)

    def _turn(self, cluster: Cluster) -> None:
        """Of what the same act broke, that which is tied comes first."""
        first = cluster.root
        if self._ties is None or self._ties.of(first):
            return
        act = (first["code"], first["seq"])
        tied = (row for row in cluster.rows if (row["code"], row["seq"]) == act and self._ties.of(row))
        if (row := next(tied, None)) is not None:
            cluster.rows.remove(row)
            cluster.rows.insert(0, row)
            self._reasons[row["finding"]], self._reasons[first["finding"]] = (
                None,
                self._reasons[row["finding"]],
            )

    def _place(self, row: Row) -> str | None:
        """Put it behind what explains it: what it is about says more than that its rule is broken again."""
        for reason in (self._consequence, self._likeness):
            for cluster in self._clusters:
                why = reason(row, cluster)
                if why is None:
                    continue
                why = self._likeness(row, cluster) or why
                cluster.rows.append(row)
                return why
        self._clusters.append(Cluster([row]))
        return None

    def _consequence(self, row: Row, cluster: Cluster) -> str | None:
        return next((why for cause in cluster.rows if (why := follows(row, cause)) is not None), None)

    def _likeness(self, row: Row, cluster: Cluster) -> str | None:
        root = cluster.root
        if kept_room(row, root):
            return f"the block that launch {root['launch']} kept was in the way"
        if self._places.of(row) == self._places.of(root):
            return REPEATED
        order = self._places.order(row)
        return SAME_ORDER if order is not None and order == self._places.order(root) else None


def _meet(row: Row, of: Row) -> bool:
    """Is a launch of one the earlier one of the other? That one launch broke both may be in two rows."""
    of_both = (row["launch"], of["other_launch"]), (row["other_launch"], of["launch"])
    return any(one is not None and one == other for one, other in of_both)
