import pytest
import torch
from tracert_kernels import twins
from tracert_kernels.kv_types import KV_TYPES

from tests.kernels import cover_cases

DTYPES = pytest.mark.parametrize("dtype", KV_TYPES.values(), ids=KV_TYPES.keys())
QUERIES = pytest.mark.parametrize("narrow_queries", [False, True], ids=["fp32 queries", "bf16 queries"])
PREFIX = pytest.mark.parametrize("prefix", [0, 8], ids=["apart", "shared prefix"])
ALONE = pytest.mark.parametrize("alone", [False, True], ids=["together", "alone"])


@DTYPES
@QUERIES
@PREFIX
@ALONE
def test_a_nan_in_a_dead_tail_reaches_page_cover_alone(
    dtype: torch.dtype, narrow_queries: bool, prefix: int, alone: bool
) -> None:
    """Valid cover doesn't see it; page cover answers NaN where there are a dead tail and one query."""
    query_dtype = torch.bfloat16 if narrow_queries else torch.float32
    cover_cases.check_poisoned(twins, dtype, query_dtype, prefix=prefix, alone=alone)


@DTYPES
def test_a_nan_among_dead_keys_reaches_neither(dtype: torch.dtype) -> None:
    """Their scores are replaced, not added to: it is values that are multiplied by 0."""
    cover_cases.check_dead_keys(twins, dtype)


@DTYPES
@PREFIX
def test_finite_tails_reach_neither(dtype: torch.dtype, prefix: int) -> None:
    """Both covers give the same answers as long as what is stale is a number."""
    cover_cases.check_finite(twins, dtype, prefix=prefix)


def test_a_row_that_was_floats_is_nan_as_fp8() -> None:
    """Seed 3: float32 state rows in a dead tail are finite numbers that, read as fp8, contain NaN."""
    cover_cases.check_float_rows(twins)
