"""Text of a dump made fit to be shown."""

from tracert_analysis.report.clean import TEXT_MAX, WORD_MAX, clean, middle_out


def test_ordinary_text_stays_as_it_is() -> None:
    """Also what is not English, and signs outside the first plane."""
    for text in ("launch 4 (forward) on compute", "küche-2 · 厨房 · מטבח 🙂", ""):
        assert text == clean(text)


def test_what_acts_is_replaced() -> None:
    """An escape, a line feed, a turn of direction, a space without width: one sign each."""
    assert "a�[2Jb�c�d�e" == clean("a\x1b[2Jb\nc\u202ed\u200be")


def test_a_long_word_loses_its_middle() -> None:
    """Its ends and its length stay, and the words beside it."""
    shown = clean(f"before {'x' * 1000} behind")
    assert shown.startswith("before xxx")
    assert shown.endswith("xxx (1000 characters) behind")
    assert len(shown) < WORD_MAX + 60


def test_a_long_text_loses_its_middle() -> None:
    """However many words it has."""
    shown = clean("word " * 100_000)
    assert len(shown) < TEXT_MAX + 40
    assert shown.endswith("(500000 characters)")


def test_a_short_text_is_not_cut() -> None:
    """At its limit it is whole."""
    assert "x" * 10 == middle_out("x" * 10, 10)
