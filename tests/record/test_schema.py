"""The schema is one a ring can carry."""

from tracert.record.schema import CODE, FIXED_WORDS, SCHEMA, SHAPES, WORD, Schema


def test_a_schema_survives_json() -> None:
    """What a ring carries is what the writer meant."""
    assert SCHEMA == Schema.from_json(SCHEMA.to_json())


def test_codes_and_names_are_unique() -> None:
    """A code means one kind for ever."""
    assert len(SCHEMA.kinds) == len(SCHEMA.by_code()) == len(CODE)
    assert (1, 20, 32, 60, 71) == tuple(
        CODE[name] for name in ("alloc", "launch", "fence_passed", "transaction", "error")
    )


def test_no_two_fields_share_a_slot() -> None:
    """A holder takes its slot and `x`."""
    for kind in SCHEMA.kinds:
        slots = [field.slot for field in kind.fields]
        slots += ["x" for field in kind.fields if field.type == "holder"]
        slots += [section.count for section in kind.sections if section.count != "rest"]
        assert len(slots) == len(set(slots)), kind.name
        assert set(slots) <= {"a", "b", "c", "d", "e", "x", "y", "w0", "w1", "w2"}


def test_only_the_last_section_takes_the_rest_and_shapes_exist() -> None:
    """Otherwise nothing would tell where the next begins."""
    for kind in SCHEMA.kinds:
        counts = [section.count for section in kind.sections]
        assert "rest" not in counts[:-1]
        assert counts[-1:] in ([], ["rest"])
        assert {section.shape for section in kind.sections} <= set(SHAPES)


def test_words_that_writers_compare_have_fixed_places() -> None:
    """They are the same in every ring."""
    assert ("", "read", "write", "begin", "commit", "abort") == FIXED_WORDS[:6]
    assert len(FIXED_WORDS) == len(WORD)
