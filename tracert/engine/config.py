"""What an engine is built from: sizes and policies, validated once."""

from dataclasses import dataclass
from typing import get_args

from tracert_kernels.kv_names import KvTypeOption

from tracert.memory.prefix_cache import PrefixCacheKind
from tracert.memory.stale_pages import StalePagesKind


class ConfigError(ValueError):
    """An option that cannot work; the message says which, why and what to do."""


def option(name: str) -> str:
    """How the command line spells a field."""
    return f"--{name.replace('_', '-')}"


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """Sizes and policies of one engine. Lengths in tokens, `kv_pages` including the reserved page 0."""

    kv_pages: int
    page_size: int = 16
    max_model_len: int = 8192
    max_num_seqs: int = 16
    max_num_batched_tokens: int = 2048
    max_prefill_tokens: int = 2048
    max_waiting: int = 1024
    kv_dtype: KvTypeOption = "auto"
    """What pages hold; `auto`: what the model computes in."""
    prefix_cache: PrefixCacheKind = "hash"
    workspace: int | None = None
    """Bytes of scratch for launches; None: the plan of the largest step."""
    preflight: bool = True
    """Refuse a launch that does not fit the workspace; without, it is launched and waits on the device."""
    stage_copies: bool = False
    """Copy tails on a stream of their own, over two steps, and not at once on the stream that computes."""
    retain: int = 0
    """Finished turns whose pages are kept, for the next turn to go on in."""
    host_slots: int = 0
    """Pages of pinned host memory for what the prefix cache evicts."""
    snapshots: int = 0
    """Prompts whose state is kept, so that the same prompt needs no forward."""
    dedicated_snapshots: bool = False
    """Keep their state rows on pages of their own, and not in bytes of KV pages that are free."""
    stale_pages: StalePagesKind = "inert"
    """What keeps the bytes of a page's earlier lives from who gets it."""
    audit: bool = False
    """Check before every launch that each page has one role."""
    overlap: bool = False
    """Launch a step before the one before it is waited for."""
    poison_rows: bool = False
    """Overwrite a released row of the block table with an id outside the pool."""
    guard: bool = False
    """Let kernels note what rows name and where values are first not finite, and leave bad rows alone."""

    def __post_init__(self) -> None:
        for name in ("max_model_len", "max_num_seqs", "max_num_batched_tokens", "max_prefill_tokens"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{option(name)} {getattr(self, name)}: it must be at least 1")
        if not (16 <= self.page_size <= 256) or self.page_size & (self.page_size - 1):
            raise ConfigError(f"--page-size {self.page_size}: it must be 16, 32, 64, 128 or 256")
        if self.kv_pages < 2:
            raise ConfigError(
                f"--kv-pages {self.kv_pages}: there is no room for one page beside the reserved one; "
                "give it 2 or more, or give --kv-memory more"
            )
        if self.max_num_batched_tokens < self.max_num_seqs:
            raise ConfigError(
                f"--max-num-batched-tokens {self.max_num_batched_tokens} is below --max-num-seqs "
                f"{self.max_num_seqs}: not every sequence could decode in a step"
            )
        for name in ("retain", "host_slots", "snapshots"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{option(name)} {getattr(self, name)}: it must be 0, for none, or more")
        self._check_word("stale_pages", get_args(StalePagesKind))
        self._check_word("kv_dtype", get_args(KvTypeOption))
        self._check_word("prefix_cache", get_args(PrefixCacheKind))

    def _check_word(self, name: str, known: tuple[str, ...]) -> None:
        value = getattr(self, name)
        if value not in known:
            raise ConfigError(f"{option(name)} {value!r}: it must be {', '.join(known[:-1])} or {known[-1]}")

    @property
    def context_limit(self) -> int:
        """The longest sequence, prompt and answer: the model's limit or the pool's, in tokens."""
        return min(self.max_model_len, (self.kv_pages - 1) * self.page_size)

    @property
    def row_width(self) -> int:
        """Entries in a row of the block table."""
        return -(-self.context_limit // self.page_size)
