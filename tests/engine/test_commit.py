"""A row's result counts when it passes every check; what fails is told by the check that failed."""

from tracert.engine.commit import Commit, Refused


def test_each_check_has_a_code_of_its_own() -> None:
    """An invalid distribution, an unmapped page, and neither; detail names all that failed."""
    commit = Commit(page_size=16)
    assert commit.check(3, pages=2, end=32, finite=True) is None
    assert commit.check(3, pages=2, end=20, finite=False) == Refused(
        7,
        "INVALID_DISTRIBUTION",
        "the model's output is not finite; the request was stopped",
        ("distribution",),
        row=3,
        position=19,
    )
    refused = commit.check(3, pages=2, end=33, finite=False)
    assert refused is not None
    assert (8, "UNMAPPED_PAGE") == (refused.code, refused.name)
    assert {"failed": ["mapped", "distribution"], "row": 3, "position": 32} == refused.detail
