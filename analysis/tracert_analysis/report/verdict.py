"""The verdict of a scene: its sentence, the order that it lacks, what repairs it, and what was tried."""

from typing import Any, NamedTuple

from tracert_analysis import library
from tracert_analysis.explain import pages as explained
from tracert_analysis.load import Dump
from tracert_analysis.report import repairs
from tracert_analysis.report.acts import Acts
from tracert_analysis.report.again import CHECKED, Edited
from tracert_analysis.report.as_others import as_others
from tracert_analysis.report.cases import cases
from tracert_analysis.report.consequence import kept_room
from tracert_analysis.report.edges import missing_edge, move
from tracert_analysis.report.facts import Edge, Resource
from tracert_analysis.report.findings import beside, resource, story, unexplained
from tracert_analysis.report.moved import moved
from tracert_analysis.report.options import bearing
from tracert_analysis.report.questions import Questions, Row
from tracert_analysis.report.report import Confidence, Occurrence, Repetition, Verdict
from tracert_analysis.report.right_bytes import are_mixed
from tracert_analysis.report.scene import Scene
from tracert_analysis.report.sentences import nothing_found
from tracert_analysis.report.stories.content import BytesStory, Uncomputed, WrongRange
from tracert_analysis.report.stories.workspace import WorkspaceStory
from tracert_analysis.report.uncomputed import MASKS


def config_of(dump: Dump) -> dict[str, Any]:
    """What the header says the engine ran with."""
    config = dump.header.get("config")
    return config if isinstance(config, dict) else {}


class Around(NamedTuple):
    """What else was found that says what to do about the verdict."""

    left_out: Uncomputed | None
    handed: tuple[str, ...]
    """What mends a row that changed hands."""
    workspace: WorkspaceStory | None
    content: BytesStory | None
    clears: int | None
    """Launches that had cleared granted pages."""
    wrong_range: WrongRange | None


def verdict(
    questions: Questions,
    acts: Acts,
    dump: Dump,
    scene: Scene,
    rows: list[Row],
    query: int,
    counts: dict[str, int],
    around: Around,
) -> Verdict:
    """Of `rows` of the view `finding`, which query `query` gave, the one that the scene is about.

    `counts`: what was looked at, where none of them is.
    """
    root = scene.root
    if root is None:
        partial = bool(dump.evidence.unknown or dump.evidence.truncated or dump.evidence.lost)
        failed = bool(dump.header.get("error"))
        sentence = nothing_found(counts, len(library.FINDINGS), failed, partial)
        return Verdict(None, None, "none", sentence, Resource("none"), query=query)
    assert scene.shown is not None
    confidence: Confidence = scene.shown.row["confidence"]
    # Bytes of two kinds in one life of a page: it has two owners, whatever was read there first.
    mixed = are_mixed(dump, root)
    advised = {**root, "code": "TR205"} if mixed else root
    left_out, handed = around.left_out, around.handed
    config = config_of(dump)
    edited = scene.trials.of(root, around.wrong_range)
    if edited.repaired and edited.left is not None:
        scene.causes.absorb(edited.left)
    edges = _edges(questions, acts, scene, edited)
    way = _moved(questions, dump, root, edges)
    alike = as_others(questions, acts, dump, root, edges)
    advice = _advice(questions, advised, edges, around, config, edited, way.fix, alike.fix)
    again = _repetition(scene)
    first, told = _occurrences(scene, root)
    # Of a launch that finds no room, and of the one whose block is in the way, that one is told first.
    later = again is not None and not again.consequence
    told = told if later else first
    symptoms = sorted({row["code"] for row in rows if row["class"] == "symptom"})
    return Verdict(
        code=root["code"],
        name=root["name"],
        confidence=confidence,
        sentence=story(scene.causes, scene.shown, scene.root_edge is not None)
        + unexplained(scene.causes, scene.failure)
        + beside(scene.causes, confidence),
        explains_failure=scene.causes.explains(),
        resource=told.resource,
        launch=told.launch,
        act=told.act,
        seq=told.seq,
        missing_edge=told.missing_edge,
        missing_beside=edges[1:],
        first=first if later else None,
        fix=advice.repair,
        fix_how=advice.how,
        hardening=advice.hardening,
        detection=advice.detection,
        counterfactual=edited.sentence + way.told + alike.told,
        uncounted=tuple(symptoms) if CHECKED in edited.sentence else None,
        masks=advice.masks,
        # No option bears on what was not computed, on who has a row, or on bytes of two kinds.
        options=() if left_out or handed or mixed else _options(root, config, around),
        repetition=again,
        wrong_range=around.wrong_range,
        times=scene.causes.times,
        query=query,
    )


def _options(root: Row, config: dict[str, Any], around: Around) -> tuple[str, ...]:
    return bearing(root["code"], config, around.clears, around.wrong_range)


def _occurrences(scene: Scene, root: Row) -> tuple[Occurrence, Occurrence]:
    """The first time that the rule was broken, and the one that the report tells of."""
    told = scene.shown.row if scene.shown is not None else root
    return (
        Occurrence(root["seq"], resource(root), root["launch"], scene.root_act, scene.root_edge),
        Occurrence(told["seq"], resource(told), told["launch"], scene.act, scene.edge),
    )


def _repetition(scene: Scene) -> Repetition | None:
    if scene.shown is None or scene.shown.why is None:
        return None
    row = scene.shown.row
    return Repetition(
        number=scene.causes.number(row),
        of=scene.causes.times,
        visible=row["confidence"] == "observed",
        seq=row["seq"],
        resource=resource(row),
        act=scene.act,
        missing_edge=scene.edge,
        consequence=kept_room(row, scene.repetitions[0]),
    )


def _edges(questions: Questions, acts: Acts, scene: Scene, edited: Edited) -> tuple[Edge, ...]:
    """The order that the verdict lacks: the edge that it names, and those that it lacks beside that."""
    if scene.root_edge is None:
        return ()
    pairs = [(acts.launch(earlier)[0], acts.launch(later)[0]) for earlier, later in edited.beside]
    return (scene.root_edge, *filter(None, (missing_edge(questions, *pair) for pair in pairs)))


class Way(NamedTuple):
    """Another way to repair a lack of order, and what came of it; both empty where none helps."""

    fix: str = ""
    told: str = ""


def _moved(questions: Questions, dump: Dump, root: Row, edges: tuple[Edge, ...]) -> Way:
    """Of a lack of one edge: to enqueue one launch where the other is, if a history with that is in order."""
    way = move(questions, edges[0]) if len(edges) == 1 else None
    if way is None:
        return Way()
    edited = moved(dump, way, root)
    return Way(way.sentence, f"; {edited.sentence}") if edited.repaired else Way()


def _advice(
    questions: Questions,
    root: Row,
    edges: tuple[Edge, ...],
    around: Around,
    config: dict[str, Any],
    edited: Edited,
    moved: str,
    alike: str,
) -> repairs.Advice:
    """The derived call where order is missing; the finding's page knows the rest."""
    if around.left_out is not None:
        fixes = around.left_out.fixes()
        both = "The first is this place, the second every place of the kind" if len(fixes) > 1 else ""
        untried = set() if edited.repaired else set(fixes)
        return repairs.Advice(*repairs.told_unchecked(fixes, untried, both), masks=MASKS)
    page = explained().get(root["code"])
    if page is None:
        return repairs.Advice()
    here = around.handed or repairs.missing_edge(edges, moved) + ((alike,) if alike else ())
    waiting = "" if around.handed or not edges or root["class"] != "lifetime" else page.fixes()[0]
    wrong = around.wrong_range
    if wrong is not None and wrong.reaches:
        here = (wrong.fix(),)
    at_hand = cases(questions, root, around.workspace, around.content, around.left_out is not None)
    uncleared = around.content is not None and around.content.clears == 0
    left = wrong.fix() if wrong is not None and "range" not in edited.fails else ""
    return repairs.advice(page, here, at_hand, config, uncleared, edited, left, waiting)
