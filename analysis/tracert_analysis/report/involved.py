"""The rows and pages that a verdict involves, each with its story."""

from tracert_analysis.load import Dump
from tracert_analysis.report.acts import Acts
from tracert_analysis.report.again import EVENTS_MAX
from tracert_analysis.report.facts import Act
from tracert_analysis.report.pages import About, Doubt, page_story
from tracert_analysis.report.questions import Questions
from tracert_analysis.report.rows import row_story
from tracert_analysis.report.scene import Scene
from tracert_analysis.report.stories.page import PageStory
from tracert_analysis.report.stories.row import RowStory
from tracert_analysis.report.verdict import config_of


def row_stories(questions: Questions, acts: Acts, scene: Scene, kv_pages: int | None) -> tuple[RowStory, ...]:
    """The row that the finding is about, when it is about one."""
    if scene.shown is None or scene.shown.row["row"] is None:
        return ()
    row = scene.shown.row["row"]
    earlier = scene.edge.earlier if scene.edge else None
    too_late = earlier if earlier and earlier.kind == "publish" and earlier.row == row else None
    found = scene.shown.row
    named = found["resource_kind"] == "row" or found["class"] == "mapping" or too_late is not None
    return (row_story(questions, acts, row, scene.at, scene.act, too_late, kv_pages, named),)


def left_by(scene: Scene, rows: tuple[RowStory, ...]) -> Act | None:
    """Of a row whose publish comes too late, the publish before: what that one put there is followed."""
    late = scene.edge is not None and scene.edge.earlier.kind == "publish"
    if not late or not rows or rows[0].previous_writer is None:
        return None
    return rows[0].previous_writer.act


def page_stories(
    questions: Questions,
    acts: Acts,
    scene: Scene,
    rows: tuple[RowStory, ...],
    dump: Dump,
    asked: int | None,
    kv_pages: int | None,
) -> tuple[PageStory, ...]:
    """The page asked for, as of the end; the finding's page; of a row, one page left there and one meant."""
    wanted: dict[int, tuple[int, str]] = {}
    doubts: dict[int, Doubt] = {}
    if asked is not None:
        wanted[asked] = (dump.evidence.last_seq or 0, "asked for; as of the end of the history")
    root = scene.shown.row if scene.shown else None
    if root is not None and root["resource_kind"] == "page" and root["resource_id"] is not None:
        wanted.setdefault(root["resource_id"], (scene.at, "the page of the finding"))
    for row in rows:
        strays = [left for left in row.leftovers if left.left_in_pool]
        # Where no other page was read, the one that was meant is no part of the mistake.
        for entry in row.leftovers[:1] if strays else ():
            wanted.setdefault(
                entry.page, (scene.at, f"what entry {entry.index} of row {row.row} should name")
            )
            doubts.setdefault(entry.page, Doubt(entry.index, True))
        for entry in strays[:1]:
            assert entry.left_page is not None
            why = f"what entry {entry.index} of row {row.row} names until the publish has executed"
            wanted.setdefault(entry.left_page, (scene.at, why))
            doubts.setdefault(entry.left_page, Doubt(entry.index, False))
    size = config_of(dump).get("page_size")
    return tuple(
        page_story(
            questions,
            acts,
            page,
            at,
            why,
            About(
                asked=page == asked,
                reader=None if page == asked else scene.act,
                other=scene.other,
                pages=kv_pages,
                page_size=size if isinstance(size, int) and size > 0 else None,
                whole=page == asked or dump.evidence.events <= EVENTS_MAX,
                doubt=doubts.get(page),
            ),
        )
        for page, (at, why) in wanted.items()
    )
