"""One request inside the engine: its tokens, pages, row and how far it is computed."""

from dataclasses import dataclass, field

from tracert.memory.block_table import RowHandle
from tracert.memory.prefix_cache import Identity
from tracert.memory.snapshot_store import SnapshotId
from tracert.messages.messages import Sampling
from tracert.record.access import Holder


@dataclass(eq=False, slots=True)
class Request:
    """`number` is never used again; `id` is the client's. Positions count tokens from the prompt's first."""

    number: int
    id: str
    tokens: list[int]
    """Prompt and answer so far, as the host knows them."""
    prompt_tokens: int
    sampling: Sampling
    seed: int
    identity: Identity
    """Which cached prefixes it may share: model, adapter, salt and weights epoch."""
    limit: int
    """Tokens at which it ends with `length`."""
    computed: int = 0
    """Tokens whose keys and values are in its pages, or will be when what is launched has run."""
    pending: int = 0
    """Tokens drawn on the device that the host has not learnt: 1 while the step that draws is in flight."""
    cached_tokens: int = 0
    """Prompt tokens that the prefix cache spared, at the first admission."""
    shared: int = 0
    """How many of `pages`, from the first, are held for reading only."""
    pages: list[int] = field(default_factory=list)
    copy: int = 0
    """The staged copy of a tail that its first slice waits for; 0 for none."""
    snapshot: SnapshotId | None = None
    """The snapshot, pinned, whose state row its first slice samples from."""
    saved: SnapshotId | None = None
    """The snapshot that was saved of its prompt; it may be gone by now."""
    row: RowHandle | None = None
    admitted: bool = False
    transaction: int | None = None
    """The launch that moves its frontier, while the host has not seen it pass."""

    @property
    def holder(self) -> Holder:
        """The word for this request in the history."""
        return Holder("request", self.number)

    @property
    def lane(self) -> int:
        """Its row of the block table; -1 while it has none."""
        return -1 if self.row is None else self.row.row

    @property
    def length(self) -> int:
        """Its tokens, the one included that only the device knows yet."""
        return len(self.tokens) + self.pending

    @property
    def uncomputed(self) -> int:
        """Tokens to compute before the next one can be sampled: 1 when decoding."""
        return self.length - self.computed
