"""What the options of the engine say about a verdict."""

from pathlib import Path

import pytest
from tracert_analysis.report.options import bearing

from tests.analysis.report.histories import unordered_publish
from tests.analysis.report.reports import report


@pytest.mark.parametrize(
    ("code", "config", "words"),
    [
        ("TR301", {"stale_pages": "zero"}, "--stale-pages zero was on"),
        ("TR301", {"stale_pages": "clear-tail"}, "clears the tails of last pages"),
        ("TR302", {"stale_pages": "inert"}, "kernels leave out what is not valid, and this one does not"),
        ("TR104", {"stale_pages": "zero"}, "not where and when that helps"),
        ("TR701", {"preflight": False}, "is refused before it starts"),
        ("TR102", {"poison_rows": True}, "names no page until it is published anew"),
        ("TR402", {"poison_rows": False}, "follows its former tenant's pages"),
    ],
)
def test_an_option_that_bears_on_the_verdict_is_told(
    code: str, config: dict[str, object], words: str
) -> None:
    """A remedy that is on already, or a safeguard that is off."""
    (sentence,) = bearing(code, config)
    assert words in sentence


@pytest.mark.parametrize(
    ("code", "config"),
    [
        (None, {"stale_pages": "zero"}),
        ("TR101", {"stale_pages": "zero", "preflight": False, "poison_rows": True}),
        ("TR301", {}),
        ("TR701", {"preflight": True}),
        ("TR102", {}),
    ],
)
def test_what_is_not_known_or_has_nothing_to_do_with_it_is_not_told(
    code: str | None, config: dict[str, object]
) -> None:
    """Silence is better than a guess."""
    assert () == bearing(code, config)


def test_options_and_masks_stand_in_the_verdict(tmp_path: Path) -> None:
    """They are read from the header's configuration, and from the finding's page."""
    history = unordered_publish()
    history.header["config"]["poison_rows"] = True
    verdict = report(history, tmp_path).verdict
    assert ("--poison-rows was on",) == tuple(sentence[:20] for sentence in verdict.options)
    assert "Synchronising the host" in verdict.masks[0]
