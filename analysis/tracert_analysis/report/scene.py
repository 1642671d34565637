"""What a report is about: the finding that explains what failed, its repetitions, and the one told of."""

from typing import NamedTuple

from tracert_analysis.load import Dump
from tracert_analysis.report.acts import Acts
from tracert_analysis.report.causes import Causes
from tracert_analysis.report.edges import missing_edge
from tracert_analysis.report.facts import Act, Edge
from tracert_analysis.report.failure import Failure, failure
from tracert_analysis.report.findings import Shown, shown
from tracert_analysis.report.questions import Questions, Row
from tracert_analysis.report.trials import Trials

LAST_STARTED = """
SELECT launch FROM launch WHERE state IS DISTINCT FROM 'waiting' AND kind = 'launch'
ORDER BY seq DESC LIMIT 1"""


# Who does what the host did wrong: launches of the finding's row, or of its request, before or after it.
CONCERNED = """
SELECT u.launch FROM _use u
WHERE u."row" = $row AND u.generation = $generation OR u.request = $request
ORDER BY u.seq < $seq, abs(u.seq::BIGINT - $seq) LIMIT 1"""


class Scene(NamedTuple):
    """What the verdict is about: the finding, the launch that broke the rule, the act it broke it against."""

    root: Row | None
    """The verdict: the first finding, or the first that explains what failed."""
    causes: Causes
    """What follows from the verdict, and what stands on its own."""
    trials: Trials
    """Repairs that were tried to find the verdict, and that will be tried for it."""
    failure: Failure | None
    """None where nothing failed."""
    repetitions: list[Row]
    """The verdict, and later findings of the same kind."""
    shown: Shown | None
    """Of these, the one that the report tells of."""
    root_act: Act | None
    root_edge: Edge | None
    act: Act | None
    act_query: int
    other: Act | None
    edge: Edge | None
    at: int
    """Everything is told as of this seq."""
    concerned: Act | None
    """The launch whose facts can be acquitted: the one that broke the rule. Where the host did, the first
    after it over the finding's row or for its request, or the last before."""


def scene(questions: Questions, acts: Acts, dump: Dump, rows: list[Row]) -> Scene:
    """The verdict's launches; without a finding but with an error, the launch that was last to start."""
    trials = Trials(questions, acts, dump)
    if not rows:
        told = questions.ask("the last launch to start", LAST_STARTED) if dump.header.get("error") else None
        act, query = acts.launch(told.first["launch"]) if told and told.first else (None, 0)
        return Scene(
            root=None,
            causes=Causes(questions, []),
            trials=trials,
            failure=None,
            repetitions=[],
            shown=None,
            root_act=None,
            root_edge=None,
            act=act,
            act_query=query,
            other=None,
            edge=None,
            at=dump.evidence.last_seq or 0,
            concerned=act,
        )
    failed = failure(questions, dump, rows)
    causes = Causes(questions, rows, failed, trials.of_repeated)
    root = causes.root
    repetitions = causes.repetitions()
    chosen = shown(questions, repetitions)
    act, query = acts.launch(chosen.row["launch"])
    other, _ = acts.launch(chosen.row["other_launch"])
    return Scene(
        root=root,
        causes=causes,
        trials=trials,
        failure=failed,
        repetitions=repetitions,
        shown=chosen,
        root_act=acts.launch(root["launch"])[0],
        root_edge=_edge(questions, acts, root),
        act=act,
        act_query=query,
        other=other,
        edge=_edge(questions, acts, chosen.row),
        at=chosen.row["seq"],
        concerned=act or _concerned(questions, acts, chosen.row) or other,
    )


def _edge(questions: Questions, acts: Acts, row: Row) -> Edge | None:
    """The order that a finding lacks, with whoever has no launch at one end of it."""
    later = acts.of(row["launch"], row["seq"])
    return missing_edge(questions, later, acts.of(row["other_launch"], row["other_seq"]))


def _concerned(questions: Questions, acts: Acts, row: Row) -> Act | None:
    told = questions.ask(
        f"the launch that event {row['seq']} of the host concerns",
        CONCERNED,
        row=row["row"],
        generation=row["generation"],
        request=row["request"],
        seq=row["seq"],
    )
    return acts.launch(told.first["launch"])[0] if told.first else None
