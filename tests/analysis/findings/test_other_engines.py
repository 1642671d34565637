"""Sound histories of other engines: what they do with a cached prefix that was hit is no finding.

For the fast suite all acts are in one history, each on pages and rows of its own; in the slow one each is
alone.
"""

from pathlib import Path

import pytest

from tests.analysis.findings.other_engine import COMPUTE, ROOT, TRANSFER, Act, Engine, extent


def gives_the_hit_up_and_computes_all_anew(engine: Engine) -> None:
    """Prompt logprobs are wanted, or a load was cancelled; the whole row is published again each step."""
    request, _, _ = engine.hit()
    pages = engine.pages(2, request.holder)
    engine.seat(request, pages)
    engine.run(request, 0, 6, phase="prefill")
    engine.show(request, pages)
    engine.run(request, 6, 7)


def finds_nothing_when_it_comes_back(engine: Engine) -> None:
    """It was preempted on the page that it had hit, which is evicted by then."""
    _, shared = engine.prefill(4)
    node = engine.insert(shared)
    request = engine.request()
    engine.match(request, node, shared, 4)
    engine.hold(shared, request.holder, "read")
    own = engine.pages(1, request.holder)
    engine.seat(request, shared + own)
    engine.run(request, 4, 6, phase="prefill")
    engine.preempt(request)
    engine.unseat(request)
    engine.drop(shared, request.holder, "read")
    engine.give_back(own, request.holder)
    engine.event("evict", node=node, digest=f"{node:016x}", pages=[list(page) for page in shared])
    engine.drop(shared, f"prefix:{node}", "read")
    engine.match(request, ROOT, [], 0)
    pages = engine.pages(2, request.holder)
    engine.seat(request, pages)
    engine.run(request, 0, 6, phase="prefill")
    engine.show(request, pages)
    engine.run(request, 6, 7)


def has_a_longer_hit_outside(engine: Engine) -> None:
    """A connector brings more than the cache has, into pages of the request's own."""
    request, _, _ = engine.hit()
    pages = engine.pages(3, request.holder)
    engine.brought(extent(pages[0], 4), extent(pages[1], 4))
    engine.seat(request, pages)
    engine.run(request, 8, 9, phase="prefill")


def moves_a_copied_tail_twice(engine: Engine) -> None:
    """Defragmentation: the page is copied on, and the row follows."""
    request, shared = engine.hit_tail()
    page = engine.pages(1, request.holder)
    engine.copied(shared[0], page[0], 2)
    engine.seat(request, page)
    engine.run(request, 2, 3)
    for _ in range(2):
        other = engine.pages(1, request.holder)
        engine.copied(page[0], other[0], 4)
        engine.map(request, 0, other)
        engine.show(request, other)
        engine.give_back(page, request.holder)
        page = other
        engine.run(request, 3, 4)


def gives_its_own_page_up_for_a_cached_one(engine: Engine) -> None:
    """Another request's page of the same tokens came into the cache meanwhile: the row names that one."""
    request, shared = engine.hit_tail()
    own = engine.pages(1, request.holder)
    engine.copied(shared[0], own[0], 2)
    engine.seat(request, own)
    engine.run(request, 2, 4)
    _, same = engine.prefill(4)
    engine.insert(same)
    engine.hold(same, request.holder, "read")
    grown = engine.pages(1, request.holder)
    engine.map(request, 0, same + grown)
    engine.show(request, same + grown)
    engine.give_back(own, request.holder)
    engine.run(request, 4, 5)


def keeps_two_groups_of_pages(engine: Engine) -> None:
    """A hybrid model: a request has a row for each kind of attention, and each group is matched by itself."""
    request, wide = engine.prefill(4)
    narrow = engine.pages(1, request.holder)
    second = engine.request()
    second.number = request.number
    engine.seat(second, narrow)
    engine.run(second, 0, 4, phase="prefill")
    groups = [(engine.insert(pages), pages) for pages in (wide, narrow)]
    first = engine.request()
    rows = [first, engine.request()]
    rows[1].number = first.number
    for node, pages in groups:
        engine.match(first, node, pages, 4)
        engine.hold(pages, first.holder, "read")
    for row, (_, pages) in zip(rows, groups, strict=True):
        engine.seat(row, pages + engine.pages(1, first.holder))
    engine.forward(COMPUTE, *(row.use(4, 5) for row in rows))


def drafts_on_a_row_of_its_own(engine: Engine) -> None:
    """The drafter has pages of its own for the same request, and computes the prompt there itself."""
    request, shared, _ = engine.hit()
    engine.hold(shared, request.holder, "read")
    drafter = engine.request()
    drafter.number = request.number
    engine.seat(request, shared + engine.pages(1, request.holder))
    drafts = engine.pages(2, request.holder)
    engine.seat(drafter, drafts, mapped=False)
    engine.run(request, 4, 5)
    engine.run(drafter, 0, 5, kernel="draft")
    engine.show(drafter, drafts)
    engine.run(drafter, 5, 6, kernel="draft")


def prefills_and_decodes_on_two_streams(engine: Engine) -> None:
    """The hit isn't used, and the second stream waits for the first."""
    request, _, _ = engine.hit()
    engine.seat(request, engine.pages(2, request.holder))
    engine.run(request, 0, 6, phase="prefill")
    engine.order(COMPUTE, TRANSFER)
    engine.run(request, 6, 7, stream=TRANSFER)


def goes_on_in_another_row(engine: Engine) -> None:
    """The hit isn't used; then the request is moved to another row."""
    request, _, _ = engine.hit()
    pages = engine.pages(2, request.holder)
    engine.seat(request, pages)
    engine.run(request, 0, 6, phase="prefill")
    engine.release(request.row, 1, request.number)
    request.row = engine.new("row")
    engine.seat(request, pages)
    engine.run(request, 6, 7)


def computes_the_last_page_of_a_whole_hit_anew(engine: Engine) -> None:
    """All of the prompt was hit, and its last token has to run: on a page of the request's own."""
    _, shared = engine.prefill(8)
    node = engine.insert(shared)
    request = engine.request()
    engine.match(request, node, shared, 8)
    engine.hold(shared[:1], request.holder, "read")
    pages = shared[:1] + engine.pages(2, request.holder)
    engine.seat(request, pages)
    engine.run(request, 4, 8, phase="prefill")
    engine.show(request, pages)
    engine.run(request, 8, 9)


def uses_only_the_first_page_of_a_hit(engine: Engine) -> None:
    """The rest is computed."""
    _, shared = engine.prefill(8)
    node = engine.insert(shared)
    request = engine.request()
    engine.match(request, node, shared, 8)
    engine.hold(shared[:1], request.holder, "read")
    engine.seat(request, shared[:1] + engine.pages(1, request.holder))
    engine.run(request, 4, 8, phase="prefill")
    engine.run(request, 8, 8)


def uses_a_part_of_a_tail(engine: Engine) -> None:
    """Three positions were hit, and two are copied."""
    request, shared = engine.hit_tail(3)
    own = engine.pages(1, request.holder)
    engine.copied(shared[0], own[0], 2)
    engine.seat(request, own)
    engine.run(request, 2, 4)


def has_the_host_write_the_page(engine: Engine) -> None:
    """The host tier is the host itself, which fills a page in place of the hit."""
    request, _, _ = engine.hit()
    pages = engine.pages(2, request.holder)
    engine.host_write([extent(pages[0], 4)])
    engine.seat(request, pages)
    engine.run(request, 4, 5)


def copies_a_tail_through_a_staging_page(engine: Engine) -> None:
    """Then it is forked, and copies what it shares on the first write."""
    request, shared = engine.hit_tail()
    staging = engine.pages(1, f"transfer:{engine.new('transfer')}")
    engine.copied(shared[0], staging[0], 2)
    own = engine.pages(1, request.holder)
    engine.copied(staging[0], own[0], 2)
    engine.seat(request, own)
    engine.run(request, 2, 3)
    engine.hold(own, engine.request().holder, "read")
    other = engine.pages(1, request.holder)
    engine.copied(own[0], other[0], 3)
    engine.map(request, 0, other)
    engine.show(request, other)
    engine.run(request, 3, 4)


def copies_a_tail_with_a_kernel(engine: Engine) -> None:
    """A launch that reads the one page and writes the other."""
    request, shared = engine.hit_tail()
    own = engine.pages(1, request.holder)
    engine.forward(
        COMPUTE, kernel="copy_blocks", reads=[extent(shared[0], 2)], writes=[extent(own[0], 2)]
    )  # fmt: skip
    engine.seat(request, own)
    engine.run(request, 2, 3)


def copies_the_hit_over_the_network(engine: Engine) -> None:
    """Prefill and decode on two devices."""
    request, shared, _ = engine.hit()
    engine.sync()
    pages = engine.pages(2, request.holder)
    engine.brought(extent(pages[0], 4), reads=[extent(shared[0], 4)])
    engine.seat(request, pages)
    engine.run(request, 4, 5)


def loads_what_was_hit_in_two_stages(engine: Engine) -> None:
    """From the host tier to a staging page, from there to the request's."""
    request, shared, _ = engine.hit()
    slot = engine.new("slot")
    engine.moved("offload", COMPUTE, [(slot, *shared[0])])
    staging = engine.pages(1, f"transfer:{engine.new('transfer')}")
    engine.moved("load", COMPUTE, [(slot, *staging[0])])
    pages = engine.pages(2, request.holder)
    engine.copied(staging[0], pages[0], 4)
    engine.seat(request, pages)
    engine.run(request, 4, 5)


def is_swapped_out_and_in_by_the_network(engine: Engine) -> None:
    """A preempted request's pages go to a remote store, and come back to others, without a match."""
    request, shared, _ = engine.hit()
    engine.hold(shared, request.holder, "read")
    own = engine.pages(1, request.holder)
    engine.seat(request, shared + own)
    engine.run(request, 4, 6)
    engine.sync()
    engine.brought(reads=[extent(shared[0], 4), extent(own[0], 2)])
    engine.preempt(request)
    engine.unseat(request)
    engine.drop(shared, request.holder, "read")
    engine.give_back(own, request.holder)
    pages = engine.pages(2, request.holder)
    engine.brought(extent(pages[0], 4), extent(pages[1], 2))
    engine.seat(request, pages)
    engine.run(request, 6, 7)


def loads_its_own_pages_from_the_host_tier(engine: Engine) -> None:
    """They were cached, went to the host tier and were evicted while it was preempted."""
    request, pages = engine.prefill(4)
    node, slot = engine.insert(pages), engine.new("slot")
    engine.moved("offload", COMPUTE, [(slot, *pages[0])])
    engine.preempt(request)
    engine.release(request.row, 1, request.number)
    engine.drop(pages, request.holder)
    engine.event("evict", node=node, digest=f"{node:016x}", pages=[list(page) for page in pages])
    engine.drop(pages, f"prefix:{node}", "read")
    engine.free(pages)
    engine.match(request, ROOT, [], 0)
    others = engine.pages(2, request.holder)
    engine.moved("load", COMPUTE, [(slot, *others[0])])
    request.row = engine.new("row")
    engine.seat(request, others)
    engine.run(request, 4, 5)


def prefills_by_chunks_on_two_streams(engine: Engine) -> None:
    """One waits for the other, and the whole row is published in between."""
    request, shared, _ = engine.hit()
    engine.hold(shared, request.holder, "read")
    pages = shared + engine.pages(2, request.holder)
    engine.seat(request, pages)
    engine.run(request, 4, 8)
    engine.order(COMPUTE, TRANSFER)
    engine.publish(TRANSFER, request.row, 1, pages)
    engine.run(request, 8, 9, stream=TRANSFER)


def puts_virtual_tokens_before_the_prompt(engine: Engine) -> None:
    """Prefix tuning: the first entry is the adapter's page, and hits begin at the second."""
    virtual = engine.pages(1, f"adapter:{engine.new('adapter')}")
    engine.fill(COMPUTE, virtual)
    former = engine.request()
    engine.hold(virtual, former.holder, "read")
    shared = engine.pages(1, former.holder)
    engine.seat(former, virtual + shared)
    engine.run(former, 4, 8)
    node = engine.insert(shared)
    request = engine.request()
    engine.match(request, node, shared, 4)
    engine.hold(virtual + shared, request.holder, "read")
    engine.seat(request, virtual + shared + engine.pages(1, request.holder))
    engine.run(request, 8, 9)


def appends_behind_a_tail_that_is_being_copied(engine: Engine) -> None:
    """The page's own request goes on to the next position, which is none of those that were hit."""
    owner, shared = engine.prefill(2)
    engine.insert(shared, positions=2)
    engine.order(COMPUTE, TRANSFER)
    engine.run(owner, 2, 3)
    request = engine.request()
    engine.match(request, ROOT, shared, 2)
    engine.hold(shared, f"transfer:{engine.new('transfer')}", "read")
    own = engine.pages(1, request.holder)
    engine.copied(shared[0], own[0], 2, stream=TRANSFER)
    engine.order(TRANSFER, COMPUTE)
    engine.seat(request, own)
    engine.run(request, 2, 3)


ACTS: list[Act] = [
    gives_the_hit_up_and_computes_all_anew,
    finds_nothing_when_it_comes_back,
    has_a_longer_hit_outside,
    moves_a_copied_tail_twice,
    gives_its_own_page_up_for_a_cached_one,
    keeps_two_groups_of_pages,
    drafts_on_a_row_of_its_own,
    prefills_and_decodes_on_two_streams,
    goes_on_in_another_row,
    computes_the_last_page_of_a_whole_hit_anew,
    uses_only_the_first_page_of_a_hit,
    uses_a_part_of_a_tail,
    has_the_host_write_the_page,
    copies_a_tail_through_a_staging_page,
    copies_a_tail_with_a_kernel,
    copies_the_hit_over_the_network,
    loads_what_was_hit_in_two_stages,
    is_swapped_out_and_in_by_the_network,
    loads_its_own_pages_from_the_host_tier,
    prefills_by_chunks_on_two_streams,
    puts_virtual_tokens_before_the_prompt,
    appends_behind_a_tail_that_is_being_copied,
]


def test_no_use_of_a_hit_is_a_finding(tmp_path: Path) -> None:
    """One after the other."""
    engine = Engine()
    engine.perform(*ACTS)
    assert [] == engine.told(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("act", ACTS)
def test_none_is_one_by_itself(tmp_path: Path, act: Act) -> None:
    """Nothing that another does hides it."""
    engine = Engine()
    engine.perform(act)
    assert [] == engine.told(tmp_path)
