"""The report as text, from a report written down by hand."""

from dataclasses import replace

from tracert_analysis.report.as_json import as_json
from tracert_analysis.report.as_text import WIDTH, render
from tracert_analysis.report.facts import Resource
from tracert_analysis.report.report import Evidence, Novelty, Reproduce, Verdict

from tests.analysis.report.example import report

TEXT = render(report())


def line(start: str) -> str:
    """The first line of the report that starts so, with the lines that it is wrapped to."""
    lines = TEXT.splitlines()
    number = next(number for number, found in enumerate(lines) if found.strip().startswith(start))
    text = lines[number].strip()
    for found in lines[number + 1 :]:
        if not found.startswith(" " * 15):
            break
        text += f" {found.strip()}"
    return text


def test_the_first_line_is_a_title_that_can_be_searched_for() -> None:
    """Code, name, row and the two launches stand on one line."""
    assert TEXT.splitlines()[0] == (
        "tracert: TR102 unordered-publish: row 3 (generation 2): "
        "launch 1841 forward on compute is not ordered after launch 1838 publish_row on legacy"
    )


def test_the_second_paragraph_is_the_sentence() -> None:
    """One plain sentence follows the title."""
    assert TEXT.split("\n\n")[1].startswith("Launch 1841 used row 3")


def test_sections_stand_in_the_order_of_need() -> None:
    """The answer first, how it was obtained last."""
    titles = [found for found in TEXT.splitlines()[1:] if found[:1].isupper() and found == found.upper()]
    assert titles == [
        "ACCESS THAT BREAKS THE RULE",
        "ROW 3",
        "PAGE 17",
        "ACQUITTED",
        "LAUNCHES AT THE END",
        "LANES",
        "WHAT WAS NEW ABOUT THIS LAUNCH",
        "OTHER FINDINGS",
        "EVIDENCE",
        "REPRODUCE",
    ]
    assert TEXT.splitlines()[-1].startswith("[n] is the query behind a line: --show-sql prints all 1")


def test_the_queries_are_printed_when_asked_for() -> None:
    """Number, what it tells, and SQL to copy."""
    text = render(report(), show_sql=True)
    assert text.endswith("  [1] rules that the history breaks\n      SELECT * FROM finding\n")


def test_the_missing_call_is_printed() -> None:
    """Edge and call stand near the top."""
    assert line("missing edge") == (
        "missing edge   launch 1838 publish_row (stream 0 legacy, number 12) -> "
        "launch 1841 forward (stream 1 compute, number 902)"
    )
    assert line("missing call") == (
        "missing call   `fence = device.record(legacy); device.wait(compute, fence)`, "
        "after launch 1838, before launch 1841"
    )


def test_what_is_known_of_the_order_is_told() -> None:
    """How far the later launch's knowledge of the other stream reaches."""
    expected = "known order    launch 1841 is ordered after legacy up to number 11, not 12; compute is a "
    assert line("known order").startswith(expected + "non-blocking stream")


def test_a_misleading_error_is_called_so() -> None:
    """The error is quoted as it was, and judged."""
    assert line("error") == "error          719 LAUNCH_FAILURE 'unspecified launch failure', learnt at sync"
    assert line("misleading") == "misleading     it names no cause"


def test_a_fence_that_is_too_old_says_how_far_it_reaches() -> None:
    """The number that it covers and the number that it should cover."""
    told = " ".join(TEXT.split())
    assert "is older than launch 1838: it covers legacy up to number 11, and that is number 12 [5]" in told


def test_what_the_row_holds_too_early_is_told_with_its_holder() -> None:
    """The page of another request, and what the history does not know."""
    assert "entry 0: page 40.2 meant; there was page 17.1, now held by request:9 (kitchen-2)" in TEXT
    assert "entry 2: page 42.1 meant; there was 99, which is no page of the pool" in TEXT
    assert "entry 1: page 41.1 meant; no publish of the history put anything there before" in TEXT


def test_the_text_holds_nothing_that_a_terminal_obeys() -> None:
    """A stranger's dump may name a request anything."""
    text = render(replace(report(), names={"request:9": "\x1b]0;owned\x07"}))
    assert "\x1b" not in text
    assert "request:9 (\ufffd]0;owned\ufffd)" in text


def test_all_who_hold_a_page_are_named() -> None:
    """The owner first, then who shares the page."""
    block = TEXT.split("PAGE 17\n")[1]
    assert "request:9 (kitchen-2) for write, life 1, from seq 85000 on; also held by prefix:2 [9]" in block


def test_consequences_are_marked() -> None:
    """A finding on the same launch follows, one about another page does not; the verdict is not repeated."""
    told = "TR401          at seq 90212: Entry 0 is no page. Taken for a consequence: the same launch 1841."
    assert line("TR401") == told
    alone = "TR204          at seq 95000: Page 3 is left. Not seen to follow from the verdict."
    assert line("TR204") == alone


def test_findings_of_one_event_are_counted_together() -> None:
    """A step can break a rule for several pages at once: its event is named once."""
    verdict, *others = report().findings
    again = replace(others[0], code=verdict.code, follows="the same again")
    found = (
        verdict,
        *(replace(again, seq=seq) for seq in (90300, 90300, 90400)),
        replace(again, code="TR302"),
    )
    made = replace(report(), findings=found, verdict=replace(report().verdict, times=6))
    told = f"{verdict.code}          5 more of the same, at seq 90300 (2 of them), 90400 and 2 more"
    text = render(made)
    assert told in text
    # How often the verdict is repeated is no number of another rule's.
    assert f"TR302          1 more of the same, at seq {again.seq}\n" in text
    assert "in all         5 findings; 1 of them told of above" in text


def test_lanes_show_open_transactions() -> None:
    """A row whose progress is not known shows dashes."""
    rows = [found.split() for found in TEXT.split("LANES\n")[1].split("\n\n")[0].splitlines()]
    assert rows[1] == ["3", "held", "2", "17", "decode", "57", "231", "230", "1", "88"]
    assert rows[2] == ["4", "released", "1", "9", "-", "-", "-", "-", "-", "-"]


def test_of_what_was_new_the_rarest_is_told() -> None:
    """Four traits, none that is new whatever happens; two sets; where the rest is. JSON has all."""
    name = "pages granted, at least"
    traits = [Novelty("last page 9", 0, 70, 14, "last page", "9", ever_new=True)]
    traits += [Novelty(f"{name} {n}", n, 70, 14, name, str(n)) for n in range(5)]
    sets = [Novelty(f"a and {n}, together", 0, 70, 14, None, f"a and {n}", (1, 2)) for n in "bcd"]
    made = replace(report(), what_was_new=(*sets, *traits))
    told = render(made).split("WHAT WAS NEW ABOUT THIS LAUNCH\n")[1].split("\n\n")[0].splitlines()[2:]
    assert not [text for text in told if "last page 9" in text]
    assert [text.split("  ")[1] for text in told[:4]] == [f"{n} of 70" for n in range(4)]
    assert told[0].endswith("pages granted: at least 0 [14]")
    assert told[4].endswith("together: a and b (each alone: 1 of 70 and 2 of 70) [14]")
    assert told[6].endswith("3 more: tracert sql DUMP 'FROM what_was_new(1841)' [14]")
    assert len(as_json(made)["what_was_new"]) == 9


def test_running_and_waiting_launches_are_named() -> None:
    """Below their stream."""
    block = TEXT.split("LAUNCHES AT THE END\n")[1].split("\n\n")[0]
    assert "running: launch 1841 forward, decode, step 57" in block
    assert "waiting: launch 1842 sample, decode, step 57" in block


def test_the_quality_of_the_evidence_is_told() -> None:
    """Lost, torn and truncated are never left out."""
    assert line("window").startswith(
        "window         50000 events, seq 40001 to 95000; lost 40000, torn 1; truncated: "
        "the end of the file is missing"
    )
    assert line("unknown") == "unknown        who held page 2 before seq 40001"


def test_lines_fit_except_what_has_to_be_copied() -> None:
    """Only the title may be longer."""
    assert max(map(len, TEXT.splitlines()[1:])) <= WIDTH


def test_a_report_without_finding_is_short_and_says_what_was_checked() -> None:
    """No empty sections, no fix, no code."""
    empty = replace(
        report(),
        error=None,
        verdict=Verdict(None, None, "none", "No rule is broken.", Resource("none")),
        access=None,
        rows=(),
        pages=(),
        lanes=(),
        acquitted=(),
        findings=(),
        what_was_new=(),
        in_flight=(),
        evidence=Evidence(10, 0, 0, False, 1, 10, ()),
        reproduce=Reproduce("tracert serve", None),
        names={},
        queries=(),
    )
    assert render(empty) == (
        "tracert: no finding\n\nNo rule is broken.\n\nverdict        no finding\n\n"
        "EVIDENCE\n  dump           dump.jsonl\n  window         "
        "10 events, seq 1 to 10; lost 0, torn 0; not truncated"
        "\n\n"
        "REPRODUCE\n  command        tracert serve\n"
        "                 a bug that was planted, if one was, takes --fault besides: `tracert sql DUMP "
        "'SELECT fault\n"
        "                 FROM header'` names it\n"
        "  requests       the dump tells of none that came in its window\n"
    )
