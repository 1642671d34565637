"""Texts without what acts."""

import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st
from tracert_analysis.marks import escaped, marks

ACTS = {"Cc", "Cf", "Cs", "Zl", "Zp"}


@given(st.text(alphabet=st.characters()))
def test_nothing_that_acts_is_left(text: str) -> None:
    """No control, no format, no half of a pair, no separator of lines."""
    assert not {unicodedata.category(sign) for sign in marks(text)} & ACTS
    assert len(text) == len(marks(text))


@given(st.text(alphabet=st.characters()))
def test_json_says_the_same_without_what_acts(text: str) -> None:
    """Escapes stand in its place; the line feeds between values stay."""
    shown = escaped(json.dumps({"text": text}, indent=1, ensure_ascii=False))
    assert {"text": text} == json.loads(shown)
    assert not {unicodedata.category(sign) for sign in shown if sign != "\n"} & ACTS
