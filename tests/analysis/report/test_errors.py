"""What the words of an error point to, beside the class of the cause found."""

import pytest
from tracert_analysis.report.errors import error_fact, judge


@pytest.mark.parametrize(
    ("name", "category", "misleading"),
    [
        ("LAUNCH_FAILURE", "order", True),
        ("LAUNCH_FAILURE", "mapping", False),
        ("INVALID_SPECULATION", "content", True),
        ("AICPU_EXCEPTION", "resource", True),
        ("OUT_OF_MEMORY", "resource", False),
        ("LAUNCH_FAILURE", None, False),
        ("SOMETHING", "order", False),
    ],
)
def test_a_name_misleads_when_it_points_elsewhere(name: str, category: str | None, misleading: bool) -> None:
    """Only beside a cause, and only where the name says something."""
    assert misleading == judge(name, category, nonfinite=False)[0]


@pytest.mark.parametrize("category", ["content", "order", None])
def test_an_invalid_speculation_without_finite_numbers_is_none(category: str | None) -> None:
    """Whatever made them so: a distribution was refused, not a draft."""
    misleading, remark = judge("INVALID_SPECULATION", category, nonfinite=True)
    assert misleading
    assert "a distribution that is not finite" in remark


def test_the_error_keeps_what_the_runtime_gave() -> None:
    """Code, message, place and sub-codes, and the stream by its name."""
    found = error_fact(
        {
            "code": 6,
            "name": "INVALID_SPECULATION",
            "message": "m",
            "observed_at": "sync",
            "detail": {"check": "x"},
        },
        "compute",
        "content",
        nonfinite=True,
    )
    assert found is not None
    assert (6, "m", "compute", "sync", {"check": "x"}, True) == (
        found.code,
        found.message,
        found.stream,
        found.observed_at,
        found.detail,
        found.misleading,
    )
    assert error_fact(None, None, None, nonfinite=False) is None


@pytest.mark.parametrize(
    ("name", "category", "idle", "says"),
    [
        ("SIGKILL", None, True, "dmesg"),
        ("HANG", None, True, "the device had nothing to do: the host stalled"),
        ("HANG", None, False, "the recorded history does not explain it"),
        ("HANG", "resource", True, "the cause found lies in the room of the workspace"),
    ],
)
def test_an_end_from_outside_says_where_to_look(
    name: str, category: str | None, idle: bool, says: str
) -> None:
    """Where there is no cause: the kernel's log, or the host, if the device had finished all it had."""
    assert says in judge(name, category, nonfinite=False, idle=idle)[1]


def test_how_a_launch_failed_is_no_lie() -> None:
    """The name of a fault is right as to how, and misleads as to why."""
    told = {name: judge(name, "order", nonfinite=False)[1] for name in ("LAUNCH_FAILURE", "AICPU_EXCEPTION")}
    assert told["LAUNCH_FAILURE"] == (
        "as to why: its name tells of a kernel that touched an address it may not, which may be how it "
        "failed; the cause found lies in the order of two acts"
    )
    assert told["AICPU_EXCEPTION"].startswith("its name points to the device's control processor;")
