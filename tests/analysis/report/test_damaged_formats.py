"""Histories that were damaged, and values of a dump that no engine writes, in every format of the report."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tracert_analysis.load import DumpError
from tracert_analysis.report import as_html, as_json, as_markdown, as_text
from tracert_analysis.report.build import NoSuchPage, build

from tests.analysis.report import strict_html, strict_markdown
from tests.analysis.report.histories import BROKEN, sound, unordered_publish

VALUES: st.SearchStrategy[object] = st.sampled_from(
    [None, 0, 1, 5, 99, 2**31 - 1, 2**40, -1, 0.5, True, "x", "<b>", [], [[1, 2, 3]], [[5, 1, 3, 2]], {}]
)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_a_damaged_history_is_told_in_every_format(data: st.DataObject) -> None:
    """Events that are missing, repeated or nonsense: a report that each format can hold, or one line."""
    history = data.draw(st.sampled_from([sound, *BROKEN.values()]))()
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, len(history.events) - 1))
        event = history.events[place]
        damage = data.draw(st.sampled_from(["drop", "repeat", "change", "change"]))
        if damage == "drop":
            del history.events[place]
        elif damage == "repeat":
            history.events.insert(place, dict(event))
        else:
            event[data.draw(st.sampled_from(sorted(event)))] = data.draw(VALUES)
    history.progress[1] = (data.draw(st.integers(0, 5)), data.draw(st.integers(0, 5)))
    if data.draw(st.booleans()):
        history.header["config"][data.draw(st.sampled_from(["page_size", "kv_pages"]))] = data.draw(VALUES)
    refused = ""
    with TemporaryDirectory() as folder:
        try:
            made = build(history.read(Path(folder)), data.draw(st.sampled_from([None, 0, 5])))
        except (DumpError, NoSuchPage) as error:
            refused = str(error)
    if refused:
        assert 1 == len(refused.splitlines())
        return
    assert as_text.render(made, show_sql=True).startswith("tracert: ")
    assert as_json.render(made).startswith("{")
    strict_markdown.check(as_markdown.render(made))
    strict_html.check(as_html.render(made))


def test_a_suspicion_does_not_read_like_a_fact(tmp_path: Path) -> None:
    """In the title and in the first words, not in a word beside the code alone."""
    history = unordered_publish()
    history.header["ring"] |= {"torn": 1}
    told = as_text.render(build(history.read(tmp_path)))
    lines = told.splitlines()
    assert lines[0].startswith("tracert: suspected: TR102 unordered-publish: ")
    assert lines[2].startswith("Suspected only: events are missing, or not understood, ")
    assert "confidence: suspected" in told
