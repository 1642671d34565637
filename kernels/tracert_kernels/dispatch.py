"""Picks the kernels of a device. Triton is imported only when a device needs it."""

from collections.abc import Sequence
from typing import Protocol

import torch

from tracert_kernels.guard import Guard
from tracert_kernels.kv_types import Covers
from tracert_kernels.plan import Plan
from tracert_kernels.scratch import Scratch


class Kernels(Protocol):
    """The kernels of one device; `tracert_kernels.twins` documents each of them."""

    def plan(
        self,
        table: torch.Tensor,
        rows: torch.Tensor,
        query_start: torch.Tensor,
        context: torch.Tensor,
        token_row: torch.Tensor,
        position: torch.Tensor,
        page_size: int,
        *,
        scratch: Scratch | None = None,
        guard: Guard | None = None,
    ) -> Plan | None:
        """What all layers of a forward share; None where the kernels read the table themselves."""

    def follow_rows(
        self,
        guard: Guard,
        table: torch.Tensor,
        rows: torch.Tensor,
        context: torch.Tensor,
        page_size: int,
        pages: int,
    ) -> None:
        """Of a guarded forward: note which entries its rows name, and which of them name no page.

        Everything after it takes `guard.seen` for the table, and `guard`: then nothing of a sequence is
        touched of which an entry is bad.
        """

    def attention_room(
        self,
        queries: Sequence[int],
        contexts: Sequence[int],
        page_size: int,
        heads: int,
        kv_heads: int,
        dim: int,
        cache_dtype: torch.dtype,
    ) -> int:
        """Bytes of scratch that `paged_attention` of such a batch takes at most."""

    def store_kv(
        self,
        key: torch.Tensor,
        value: torch.Tensor,
        cache: torch.Tensor,
        table: torch.Tensor,
        token_row: torch.Tensor,
        position: torch.Tensor,
        *,
        plan: Plan | None = None,
        guard: Guard | None = None,
    ) -> None:
        """Write the keys and values of new tokens to their slots in the pages."""

    def paged_attention(
        self,
        out: torch.Tensor,
        query: torch.Tensor,
        cache: torch.Tensor,
        table: torch.Tensor,
        rows: torch.Tensor,
        query_start: torch.Tensor,
        context: torch.Tensor,
        scale: float,
        *,
        plan: Plan | None = None,
        covers: Covers = "valid",
        guard: Guard | None = None,
    ) -> None:
        """Causal attention of new tokens over the pages of their sequences."""

    def copy_pages(self, cache_bytes: torch.Tensor, source: torch.Tensor, target: torch.Tensor) -> None:
        """Copy whole pages within the arena."""

    def clear_pages(self, cache_bytes: torch.Tensor, pages: torch.Tensor) -> None:
        """Set whole pages of the arena to zero."""

    def clear_positions(self, cache: torch.Tensor, pages: torch.Tensor, first: torch.Tensor) -> None:
        """Set the last positions of pages to zero, in all layers."""

    def copy_row(self, table: torch.Tensor, row: int, first: int, staging: torch.Tensor, count: int) -> None:
        """Publish entries of a staging buffer to a row of the block table."""


def for_device(device_type: str) -> Kernels:
    """The kernels for a torch device type: `cpu` or `cuda`. ValueError for any other."""
    if device_type == "cpu":
        from tracert_kernels import twins

        return twins
    if device_type == "cuda":
        from tracert_kernels import triton_kernels

        return triton_kernels
    raise ValueError(f"no kernels for device type {device_type!r}: use 'cpu' or 'cuda'")
