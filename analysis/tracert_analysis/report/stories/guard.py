"""What guarded kernels saw."""

from dataclasses import dataclass

from tracert_analysis.report.facts import Act


@dataclass(frozen=True, slots=True)
class GuardedEntry:
    """An entry that a guarded kernel found otherwise than the host meant it."""

    index: int
    page: int
    """What it named when the kernel followed it."""
    published_page: int | None
    published_life: int | None
    differs: bool | None
    """From what had been published there; None when the history does not say."""
    is_page: bool
    """What it named is a page that somebody can hold."""


@dataclass(frozen=True, slots=True)
class GuardedValue:
    """The first value that a guarded kernel found not to be finite."""

    seq: int
    launch: int
    request: int | None
    request_id: str | None
    row: int | None
    layer: int | None
    value_class: str
    """keys, attention or logits."""
    position: int | None
    page: int | None
    """The page in which that position lies."""
    life: int | None


@dataclass(frozen=True, slots=True)
class GuardStory:
    """What guarded kernels told in all, and of one row that a launch followed."""

    launches: int
    told: int
    """Rows told of, over all launches."""
    followed: int
    """Entries followed."""
    differing: int
    """Rows of launches in which an entry was not what had been published."""
    unpublished: int
    """Rows of launches in which an entry was followed that nothing is known to have been published in."""
    unmeant: int
    """Rows of launches in which an entry was what had been published, and not what the host meant."""
    longer: int
    """Rows of launches of which more entries were followed than the launch was to follow."""
    shorter: int
    """Rows of launches of which fewer were."""
    act: Act | None
    row: int | None
    walked: int | None
    declared: int | None
    """Entries that the launch was to follow."""
    left_out: bool
    """An entry named no page, and nothing of the row was touched."""
    entries: tuple[GuardedEntry, ...]
    value: GuardedValue | None
    queries: tuple[int, ...] = ()
    """Of the counts, the entries, the value."""
