"""Every fault by its name."""

from tracert.faults.fault import Fault
from tracert.faults.flare_late_clear import FLARE_LATE_CLEAR
from tracert.faults.flare_legacy_clear import FLARE_LEGACY_CLEAR
from tracert.faults.flare_stale_snapshot_rows import FLARE_STALE_SNAPSHOT_ROWS
from tracert.faults.hit_after_evict import HIT_AFTER_EVICT
from tracert.faults.late_republish import LATE_REPUBLISH
from tracert.faults.ninfer_staging_reuse import NINFER_STAGING_REUSE
from tracert.faults.ninfer_torn_tail_cow import NINFER_TORN_TAIL_COW
from tracert.faults.ninfer_unfenced_release import NINFER_UNFENCED_RELEASE
from tracert.faults.ninfer_unordered_publish import NINFER_UNORDERED_PUBLISH
from tracert.faults.prefill_walks_past_row import PREFILL_WALKS_PAST_ROW
from tracert.faults.prefix_hit_wrong_salt import PREFIX_HIT_WRONG_SALT
from tracert.faults.pypto_prefill_507018 import PYPTO_PREFILL_507018

FAULTS: dict[str, Fault] = {
    fault.name: fault
    for fault in (
        NINFER_UNORDERED_PUBLISH,
        NINFER_STAGING_REUSE,
        NINFER_UNFENCED_RELEASE,
        NINFER_TORN_TAIL_COW,
        PREFILL_WALKS_PAST_ROW,
        PYPTO_PREFILL_507018,
        FLARE_STALE_SNAPSHOT_ROWS,
        FLARE_LEGACY_CLEAR,
        FLARE_LATE_CLEAR,
        PREFIX_HIT_WRONG_SALT,
        HIT_AFTER_EVICT,
        LATE_REPUBLISH,
    )
}


class UnknownFault(ValueError):
    """A name that is no fault; the message lists those that are."""


def find_fault(name: str) -> Fault:
    """The fault called `name`; UnknownFault otherwise."""
    try:
        return FAULTS[name]
    except KeyError:
        raise UnknownFault(f"no fault is called {name!r}; there are: {', '.join(FAULTS)}") from None
