"""What is told of rows and pages: who had them, who wrote them, what was left in them."""

from pathlib import Path

import pytest
from tracert_analysis.report.as_text import render
from tracert_analysis.report.build import NoSuchPage, build
from tracert_analysis.report.pages import owners
from tracert_analysis.report.questions import Told

from tests.analysis.report.histories import (
    COMPUTE,
    LEGACY,
    TRANSFER,
    arrive,
    begun,
    sound,
    turn,
    unordered_publish,
)
from tests.analysis.report.reports import opened, report, told


def test_the_row_s_story_names_its_owners_and_publishes() -> None:
    """Request 12 has the row, request 10 had it; one publish each."""
    (row,) = told(unordered_publish).rows
    assert row.last_owner is not None
    assert row.previous_owner is not None
    assert (row.last_owner.holder, row.previous_owner.holder) == ("request:12", "request:10")
    assert row.last_writer is not None
    assert row.previous_writer is not None
    assert (row.last_writer.act.stream, row.previous_writer.act.stream) == (LEGACY, TRANSFER)
    assert [life.owner for life in row.lives] == ["request:10", "request:12"]


def test_the_row_s_story_tells_whose_page_is_read_too_early() -> None:
    """Entry 0 still names page 5, which is request 11's by now; entry 1 names the same page as before."""
    made = told(unordered_publish)
    (entry,) = made.rows[0].leftovers
    assert (entry.index, entry.page, entry.left_page, entry.left_holder) == (0, 8, 5, "request:11")
    assert entry.left_in_pool
    stories = {page.page: page for page in made.pages}
    assert sorted(stories) == [5, 8]
    owner, before = stories[5].last_owner, stories[5].previous_owner
    assert owner is not None
    assert before is not None
    assert (owner.holder, owner.life, before.holder, before.life) == ("request:11", 2, "request:10", 1)


def test_requests_are_named_by_their_public_ids() -> None:
    """All that hold something in the stories."""
    names = {f"request:{number}": f"cmpl-{number}" for number in (10, 11, 12)}
    assert told(unordered_publish).names == names
    assert "now held by request:11 (cmpl-11)" in render(told(unordered_publish))


def test_poison_in_a_row_is_no_page(tmp_path: Path) -> None:
    """A released row that was overwritten with an impossible id: the report says so, and tells no story."""
    history = begun()
    turn(history, 10, 3, 1, arrive(history, 10, [5, 6]))
    history.sync(COMPUTE)
    history.publish(COMPUTE, 3, 1, [(2**31 - 1, 0), (2**31 - 1, 0)])
    history.release(3, 1, 10)
    turn(history, 12, 3, 2, arrive(history, 12, [8, 9]), publish_on=LEGACY, ordered=False, step=2)
    made = report(history, tmp_path)
    assert made.verdict.code == "TR102"
    assert [(entry.left_page, entry.left_in_pool) for entry in made.rows[0].leftovers] == [
        (2**31 - 1, False)
    ] * 2
    assert made.pages == ()
    named = "by the last publish before it, executed or not, a page from 1 to 31"
    assert any(named in item.why for item in made.acquitted)
    text = render(made)
    assert "there was 2147483647, which is no page of the pool" in text
    assert made.rows[0].lives[0].voids == (made.rows[0].entries[1].seq,)
    assert "x published as no page" in text


def test_who_shared_a_page_later_is_no_owner_before() -> None:
    """Of one life: the previous owner took it before the owner did, whoever gave it back last."""
    lives = Told(1, [{"life": 1, "owner": "request:1", "alloc_seq": 10, "free_seq": None}])
    held = (
        ("request:5", "read", 1, 70, 80),
        ("prefix:1", "read", 1, 37, None),
        ("request:1", "write", 1, 10, 53),
    )
    names = ("holder", "mode", "life", "from_seq", "until_seq")
    holders = Told(1, [dict(zip(names, hold, strict=True)) | {"since_before": False} for hold in held])
    last, before, also = owners(holders, lives, 100)
    assert last is not None
    assert before is not None
    assert (last.holder, before.holder, also) == ("prefix:1", "request:1", ())


def test_a_page_can_be_asked_for() -> None:
    """Owner, writer, lives of a page that the verdict is not about, as of the end."""
    made = build(opened(sound)[0], page=5)
    (page,) = made.pages
    assert page.last_owner is not None
    assert page.last_writer is not None
    assert (page.life, page.last_owner.holder, page.last_writer.act.kernel) == (2, "request:11", "forward")
    assert [life.owner for life in page.lives] == ["request:10", "request:11"]


def test_a_shared_page_is_told_with_all_who_hold_it(tmp_path: Path) -> None:
    """The prefix cache has held it longest, request 11 reads it, request 10 is gone."""
    history = begun()
    pages = arrive(history, 10, [5, 6])
    history.hold(pages, "prefix:1")
    turn(history, 10, 3, 1, pages)
    history.sync(COMPUTE)
    history.drop(pages, "request:10")
    history.hold(pages, "request:11")
    (page,) = report(history, tmp_path, page=5).pages
    assert page.last_owner is not None
    assert page.previous_owner is not None
    assert (page.last_owner.holder, page.also_held_by) == ("prefix:1", ("request:11",))
    assert page.previous_owner.holder == "request:10"


def test_a_page_that_was_never_granted_has_no_story() -> None:
    """Nothing is invented; only the clear of the arena wrote it."""
    (page,) = build(opened(sound)[0], page=31).pages
    assert (page.life, page.last_owner, page.lives) == (None, None, ())
    assert page.last_writer is not None
    assert page.last_writer.act.kernel == "clear_pages"


@pytest.mark.parametrize("page", [-1, 32])
def test_a_page_outside_the_pool_is_refused(page: int) -> None:
    """The message says which pages there are."""
    with pytest.raises(NoSuchPage, match=f"there is no page {page}: the pool has pages 0 to 31"):
        build(opened(sound)[0], page=page)
