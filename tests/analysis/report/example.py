"""A report written down by hand: the one that the seed of TR102 should have had."""

from tracert_analysis.report.facts import Act, Edge, FenceFact, Hold, Lane, Life, Resource, StreamFact, Write
from tracert_analysis.report.report import (
    Access,
    Acquittal,
    ErrorFact,
    Evidence,
    Finding,
    Novelty,
    Query,
    Report,
    Reproduce,
    Verdict,
)
from tracert_analysis.report.stories.page import PageStory
from tracert_analysis.report.stories.row import Leftover, RowStory

PUBLISH = Act(1838, 90180, "publish", "publish_row", 0, "legacy", 12, row=3, generation=2, state="finished")
FORWARD = Act(1841, 90211, "launch", "forward", 1, "compute", 902, "decode", 57, 3, 2, "running")
SAMPLE = Act(1842, 90215, "launch", "sample", 1, "compute", 903, "decode", 57, state="waiting")
FENCE = FenceFact(7, 0, 11, 80001, 1, 80004, None, covers=False)
CALL = "fence = device.record(legacy); device.wait(compute, fence)"


def report() -> Report:
    """The whole report."""
    return Report(
        tool={"name": "tracert", "version": "1"},
        dump={"name": "dump.jsonl"},
        error=ErrorFact(
            719,
            "LAUNCH_FAILURE",
            "unspecified launch failure",
            "compute",
            "sync",
            {},
            True,
            "it names no cause",
        ),
        verdict=Verdict(
            code="TR102",
            name="unordered-publish",
            confidence="proven",
            sentence="Launch 1841 used row 3 and nothing ordered it after the publish of that row.",
            resource=Resource("row", 3, generation=2),
            launch=1841,
            act=FORWARD,
            seq=90211,
            missing_edge=Edge(PUBLISH, FORWARD, CALL, 11, 4),
            fix=("publish on stream compute", f"or {CALL}"),
            counterfactual="With the edge added, the finding is gone.",
            query=1,
        ),
        access=Access(FORWARD, 17, "cmpl-17", 3, 2, (0, 230), 15, PUBLISH, FENCE, 2, 5),
        host=None,
        rows=(
            RowStory(
                row=3,
                generation=2,
                last_owner=Hold("request:17", None, 2, 90100, None),
                previous_owner=Hold("request:4", None, 1, 100, 80000),
                last_writer=Write(PUBLISH),
                previous_writer=None,
                last_fence=FENCE,
                lives=(Life(1, "request:4", 100, None, 80000), Life(2, "request:17", 90100, None, None)),
                leftovers=(
                    Leftover(0, 40, 2, 17, 1, True, "request:9"),
                    Leftover(1, 41, 1, None, None, None, None),
                    Leftover(2, 42, 1, 99, 0, False, None),
                ),
                queries=(6, 7, 8, 5),
            ),
        ),
        pages=(
            PageStory(
                page=17,
                life=1,
                why="what entry 0 of row 3 names until the publish has executed",
                doubt="launch 1841 is not counted as having touched it: that was not meant, and it may have",
                last_owner=Hold("request:9", "write", 1, 85000, None),
                previous_owner=None,
                also_held_by=("prefix:2",),
                last_writer=Write(FORWARD, 1, 0, 16),
                last_fence=None,
                needs_fence=True,
                lives=(Life(1, "request:9", 85000, None, None, (85010,)),),
                queries=(9, 10, 11, 12),
            ),
        ),
        workspace=None,
        content=None,
        uncomputed=None,
        lanes=(
            Lane(3, "held", 2, 17, "decode", 57, 231, 230, 1, 88),
            Lane(4, "released", 1, 9, None, None, None, None, None, None),
        ),
        acquitted=(Acquittal(Resource("page"), "owners are right: 15 pages are held", 15, 13),),
        findings=(
            Finding(
                "TR102",
                "unordered-publish",
                90211,
                "order",
                "proven",
                "s",
                Resource("row", 3),
                1841,
                17,
                None,
            ),
            Finding(
                "TR401",
                "index-out-of-range",
                90212,
                "mapping",
                "proven",
                "Entry 0 is no page.",
                Resource("row", 3),
                1841,
                17,
                "the same launch 1841",
            ),
            Finding(
                "TR204",
                "leaked-page",
                95000,
                "lifetime",
                "proven",
                "Page 3 is left.",
                Resource("page", 3),
                None,
                5,
                None,
            ),
        ),
        moment=90211,
        what_was_new=(Novelty("row published on legacy", 0, 1500, 14, "row published on", "legacy"),),
        in_flight=(
            StreamFact(0, "legacy", True, 12, 12, 12, (), ()),
            StreamFact(1, "compute", False, 903, 902, 901, (FORWARD,), (SAMPLE,)),
        ),
        evidence=Evidence(
            50000, 40000, 1, True, 40001, 95000, ("who held page 2 before seq 40001",), {"launches": 9}, 3
        ),
        reproduce=Reproduce("tracert serve --schedule random:7", "random:7"),
        names={"request:9": "kitchen-2"},
        queries=(Query(1, "rules that the history breaks", "SELECT * FROM finding"),),
    )
