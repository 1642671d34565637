"""The report of valid positions that nobody computed: where the gap is, and what mends it."""

from pathlib import Path

import pytest
from tracert_analysis.load import Dump
from tracert_analysis.report import as_json, as_text
from tracert_analysis.report.build import build
from tracert_analysis.report.report import Report
from tracert_analysis.report.right_bytes import UNCOMPUTED

from tests.analysis.findings.test_uncomputed import ended, tenant, tenant_that_fills
from tests.analysis.history import use
from tests.analysis.report.test_bytes_story import begun

COMPUTE = 1


@pytest.fixture(scope="module")
def skipped(tmp_path_factory: pytest.TempPathFactory) -> tuple[Dump, Report]:
    """Request 2 leaves position 2 out of a used page, and request 3 position 1 of a fresh one."""
    history = begun()
    history.header["config"]["stale_pages"] = "inert"
    ended(history, 1, tenant_that_fills(history))
    pages = tenant(history, 2)
    history.forward(COMPUTE, use(0, 2, 0, 2))
    history.forward(COMPUTE, use(0, 2, 3, 4))
    ended(history, 2, pages)
    tenant(history, 3, page=6)
    history.forward(COMPUTE, use(0, 3, 0, 1))
    history.forward(COMPUTE, use(0, 3, 2, 3))
    dump = history.read(tmp_path_factory.mktemp("skipped"))
    return dump, build(dump)


def test_the_fix_is_to_compute_and_a_clear_only_masks(skipped: tuple[Dump, Report]) -> None:
    """And no option is told of as if it were about bytes behind the sequence."""
    verdict = skipped[1].verdict
    assert verdict.fix[0] == (
        "Compute what is left out: launch 6 must start at position 2, where launch 5 ended, and not at 3."
    )
    assert not any("clear" in fix.lower() or "inert" in fix for fix in verdict.fix)
    assert verdict.masks[0].startswith("Clearing the page")
    assert () == verdict.options


def test_the_counterfactual_starts_the_launches_earlier(skipped: tuple[Dump, Report]) -> None:
    """In every place, whatever stood there; nothing of a clear."""
    assert skipped[1].verdict.counterfactual == (
        "with the launch started where the one before it had ended (in all 2 places where one starts late), "
        "and every rule checked again, all 2 findings are gone"
    )


def test_it_is_one_bug_whatever_stands_there(skipped: tuple[Dump, Report]) -> None:
    """An earlier life's bytes in one page, zeros in the other."""
    assert ["TR301", "TR302"] == [found.code for found in skipped[1].findings]
    assert "Not seen to follow" not in skipped[1].verdict.sentence
    assert "the same again" == skipped[1].findings[1].follows


def test_the_gap_stands_beside_the_bytes(skipped: tuple[Dump, Report]) -> None:
    """Whose they are is told, too."""
    text = " ".join(as_text.render(skipped[1]).split())
    assert (
        "not computed 2 of the sequence of request 2: launch 5 forward on compute, seq 14, "
        "ended before, and launch 6 forward on compute starts at 3"
    ) in text
    assert as_json.render(skipped[1])


def test_zeros_are_not_told_as_nothing(tmp_path: Path) -> None:
    """A clear did write them."""
    history = begun()
    tenant(history, 1)
    history.forward(COMPUTE, use(0, 1, 0, 1))
    history.forward(COMPUTE, use(0, 1, 2, 3))
    text = as_text.render(build(history.read(tmp_path)))
    assert "zeros" in text
    assert "nothing wrote or cleared it" not in text


def test_valid_positions_before_the_first_launch(tmp_path: Path) -> None:
    """Nothing was left out between launches of the row: what it was given was not computed."""
    history = begun()
    ended(history, 1, tenant_that_fills(history))
    tenant(history, 2)
    history.forward(COMPUTE, use(0, 2, 2, 4))
    verdict = build(history.read(tmp_path)).verdict
    assert verdict.code == "TR301"
    assert ", which it takes for valid; there keys and values" in verdict.sentence
    assert verdict.fix[0].startswith("Compute these positions, or bring them")
    assert verdict.counterfactual == UNCOMPUTED
