"""One request inside the engine: its tokens, pages, row and how far it is computed."""

from dataclasses import dataclass, field

from tracert.memory.block_table import RowHandle
from tracert.memory.prefix_cache import Identity
from tracert.messages.messages import Sampling
from tracert.record.access import Holder


@dataclass(eq=False, slots=True)
class Request:
    """`number` is never used again; `id` is the client's. Positions count tokens from the prompt's first."""

    number: int
    id: str
    tokens: list[int]
    """Prompt and answer so far."""
    prompt_tokens: int
    sampling: Sampling
    seed: int
    identity: Identity
    """Which cached prefixes it may share: model, adapter, salt and weights epoch."""
    limit: int
    """Tokens at which it ends with `length`."""
    computed: int = 0
    """Tokens whose keys and values are in its pages."""
    cached_tokens: int = 0
    """Prompt tokens that the prefix cache spared, at the first admission."""
    shared: int = 0
    """How many of `pages`, from the first, are held for reading only."""
    pages: list[int] = field(default_factory=list)
    row: RowHandle | None = None
    admitted: bool = False

    @property
    def holder(self) -> Holder:
        """The word for this request in the history."""
        return Holder("request", self.number)

    @property
    def lane(self) -> int:
        """Its row of the block table; -1 while it has none."""
        return -1 if self.row is None else self.row.row

    @property
    def uncomputed(self) -> int:
        """Tokens to compute before the next one can be sampled: 1 when decoding."""
        return len(self.tokens) - self.computed

    @property
    def decoding(self) -> bool:
        """Is the whole prompt computed, and one token after the other to come?"""
        return self.computed >= self.prompt_tokens
