"""Whose positions are: what many launches wrote alike is one line."""

from dataclasses import replace

from tracert_analysis.report.facts import Act
from tracert_analysis.report.phrases import spelt
from tracert_analysis.report.sections.whose import alike, whose
from tracert_analysis.report.stories.content import ByteRun


def forward(number: int) -> Act:
    """A step of decode."""
    return Act(number, number * 10, "launch", "forward", 1, "compute", number)


def run(first: int, end: int, launch: int) -> ByteRun:
    """Keys and values of request 9."""
    return ByteRun(first, end, "kv", None, 9, forward(launch), 2, None, 7, 2, False)


def test_a_position_a_step_is_one_line() -> None:
    """How many launches, and from which to which."""
    groups = list(alike([run(0, 4, 3), run(4, 5, 6), run(5, 6, 9)]))
    assert [3] == list(map(len, groups))
    assert (
        "keys and values of request:9 (a), written by 3 launches of forward on compute, 3 to 9, in life 2"
        == whose(groups[0], {"request:9": "a"})
    )


def test_what_differs_in_more_stays_apart() -> None:
    """Another owner, life, stream, a gap between them, or what is stale."""
    one = run(0, 4, 3)
    other = replace(forward(6), stream=2)
    for run_ in (
        replace(run(4, 5, 6), request=8),
        replace(run(4, 5, 6), life=1),
        replace(run(4, 5, 6), stale=True),
        replace(run(4, 5, 6), writer=other),
        run(5, 6, 6),
    ):
        assert [1, 1] == [len(group) for group in alike([one, run_])]


def test_where_copied_bytes_came_from_is_told_together() -> None:
    """Written one by one, brought by one copy."""
    copy = replace(forward(20), kernel="copy_pages")
    runs = [replace(run(n, n + 1, 20), writer=copy, origin=forward(n + 1)) for n in range(3)]
    assert [3] == [len(group) for group in alike(runs)]
    assert whose(runs, {}).endswith(
        "written by launch 20 copy_pages on compute in life 2, from page 7.2, where 3 launches of forward on "
        "compute, 1 to 3, wrote them"
    )


def test_one_position_is_one() -> None:
    """Grammar."""
    assert ("position 4", "positions 4 to 5") == (spelt(4, 5), spelt(4, 6))
