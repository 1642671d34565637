"""Builds the report of a loaded dump by asking its views: the verdict first, then what surrounds it.

Everything is told as of the moment of the verdict; later events only say what followed.
"""

from dataclasses import replace

from tracert_analysis.load import Dump
from tracert_analysis.report import given_away, repairs
from tracert_analysis.report.access import access, host_act
from tracert_analysis.report.acquittals import acquittals
from tracert_analysis.report.acts import Acts
from tracert_analysis.report.again import EVENTS_MAX
from tracert_analysis.report.bytes_story import bytes_acquittals, bytes_story
from tracert_analysis.report.clears import wrong_range
from tracert_analysis.report.consequence import kept_room
from tracert_analysis.report.contrast import contrasts
from tracert_analysis.report.errors import error_of
from tracert_analysis.report.evidence import about, evidence, is_whole, tool
from tracert_analysis.report.findings import finding, findings
from tracert_analysis.report.guards import guard_story
from tracert_analysis.report.involved import left_by, page_stories, row_stories
from tracert_analysis.report.names import names
from tracert_analysis.report.novelty import novelties
from tracert_analysis.report.progress import lanes, streams
from tracert_analysis.report.questions import Questions, Row
from tracert_analysis.report.report import Finding, Report
from tracert_analysis.report.rerun import reproduce
from tracert_analysis.report.scene import Scene, scene
from tracert_analysis.report.sentences import checked
from tracert_analysis.report.standing import standing
from tracert_analysis.report.surroundings import surroundings
from tracert_analysis.report.uncomputed import uncomputed
from tracert_analysis.report.verdict import Around, config_of, verdict
from tracert_analysis.report.workspace import workspace_acquittals, workspace_story

PAGES_MAX = 2**32
"""What fits the numbers of pages, where a dump does not say how many there are."""


class NoSuchPage(Exception):
    """The page asked for is none of the pool's."""


def build(dump: Dump, page: int | None = None) -> Report:
    """The report of a dump; with `page`, that page's story stands in it, whatever the verdict is about.

    `NoSuchPage` when the pool has no such page.
    """
    questions = Questions(dump.connection)
    acts = Acts(questions)
    config = config_of(dump)
    kv_pages = config.get("kv_pages") if isinstance(config.get("kv_pages"), int) else None
    pages = PAGES_MAX if kv_pages is None else kv_pages
    if page is not None and not 0 <= page < pages:
        raise NoSuchPage(f"there is no page {page}: the pool has pages 0 to {pages - 1}")
    rows, query, total = findings(questions)
    seen = scene(questions, acts, dump, rows)
    # The verdict first, then all others by event.
    rows.sort(key=lambda row: row is not seen.root)
    shown = seen.shown.row if seen.shown else None
    code = seen.root["code"] if seen.root else None
    used = access(questions, acts, seen)
    host = host_act(questions, seen)
    involved_rows = row_stories(questions, acts, seen, kv_pages)
    involved_pages = page_stories(questions, acts, seen, involved_rows, dump, page, kv_pages)
    keeper = bool(shown and seen.root and kept_room(shown, seen.root))
    whole = is_whole(questions)
    around = Around(
        left_out=uncomputed(questions, acts, shown, seen.act),
        handed=given_away.fixes(questions, seen.root) if seen.root else (),
        workspace=workspace_story(questions, seen.act, code, seen.at),
        content=bytes_story(questions, acts, shown, seen.act),
        clears=repairs.cleared(questions, code or "", seen.at),
        wrong_range=wrong_range(questions, acts, shown),
    )
    counts, counts_query = checked(questions)
    return Report(
        tool=tool(),
        dump=about(dump),
        error=error_of(dump, acts, seen, rows),
        verdict=replace(
            verdict(questions, acts, dump, seen, rows, query, counts, around),
            standing=standing(questions, dump, seen, whole),
        ),
        access=used,
        host=host,
        rows=involved_rows,
        pages=involved_pages,
        lanes=lanes(questions),
        workspace=around.workspace,
        content=around.content,
        uncomputed=around.left_out,
        acquitted=tuple(
            item if whole else replace(item, why=f"{item.why}; as far as the recorded window goes")
            for item in (
                *acquittals(questions, seen.concerned, shown["row"] if shown else None, kv_pages),
                *bytes_acquittals(questions, shown, seen.act),
                *workspace_acquittals(questions, seen.act, code),
            )
        ),
        findings=_findings(seen, rows),
        moment=seen.at,
        # Of scratch that was kept: what was new about the launch that kept it, not about who lacks it.
        what_was_new=novelties(questions, seen.root_act if keeper else seen.act),
        in_flight=streams(questions, acts),
        names=names(questions, involved_rows, involved_pages),
        evidence=evidence(dump, whole, counts, counts_query, total - len(rows), questions.unanswered),
        reproduce=reproduce(questions, config),
        surroundings=surroundings(
            questions, acts, seen.act, seen.other, seen.edge, left_by(seen, involved_rows)
        ),
        contrast=contrasts(
            questions,
            acts,
            shown if shown and shown["code"] == code else seen.root,
            small=dump.evidence.events <= EVENTS_MAX,
            whole=whole,
        ),
        guard=guard_story(questions, acts, shown, seen.act),
        queries=tuple(questions.asked),
    )


def _findings(scene: Scene, rows: list[Row]) -> tuple[Finding, ...]:
    apart = {row["finding"] for cluster in scene.causes.independent() for row in cluster}
    return tuple(finding(row, scene.causes.why[row["finding"]], row["finding"] in apart) for row in rows)
