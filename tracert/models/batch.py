"""The tokens of one forward, and which sequence and position each belongs to."""

from typing import NamedTuple

import torch


class Batch(NamedTuple):
    """T new tokens of B sequences, the tokens of a sequence next to each other.

    Sequence b stands in row `rows[b]` of the block table; its tokens `query_start[b]` up to
    `query_start[b + 1]` are the last positions of its `context[b]` tokens.
    """

    tokens: torch.Tensor
    """int64 [T]"""
    position: torch.Tensor
    """int32 [T], from 0 within the sequence"""
    token_row: torch.Tensor
    """int32 [T], the block-table row of each token"""
    rows: torch.Tensor
    """int32 [B]"""
    query_start: torch.Tensor
    """int32 [B + 1]"""
    context: torch.Tensor
    """int32 [B], tokens of the sequence including the new ones"""
    logits_index: torch.Tensor
    """int64 [L], which of the T tokens need logits"""
