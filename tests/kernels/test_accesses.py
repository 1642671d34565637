import pytest
import torch
from tracert_kernels import twins
from tracert_kernels.kv_types import KV_TYPES, Covers

from tests.kernels import access_cases
from tests.kernels.accesses import assert_touches_only, declared

DTYPES = pytest.mark.parametrize("dtype", KV_TYPES.values(), ids=KV_TYPES.keys())
PLANNED = pytest.mark.parametrize("planned", [False, True], ids=["alone", "planned"])


@DTYPES
@PLANNED
def test_store_kv(dtype: torch.dtype, planned: bool) -> None:
    """Nothing but the tokens' entries is read, nothing but their slots is written."""
    access_cases.check_store_kv(twins, dtype, planned)


@DTYPES
@PLANNED
@pytest.mark.parametrize(
    ("sequences", "prefix"),
    [
        ([(37, 1)], 0),
        ([(37, 1), (50, 1), (16, 1)], 0),
        ([(150, 1), (140, 1), (131, 1)], 8),
        ([(45, 45)], 0),
        ([(170, 90), (29, 1)], 0),
    ],
    ids=["one decode", "decodes", "shared prefix", "a prefill", "a chunk and a decode"],
)
@pytest.mark.parametrize("covers", ["valid", "page"])
def test_paged_attention(
    dtype: torch.dtype, sequences: list[tuple[int, int]], prefix: int, planned: bool, covers: Covers
) -> None:
    """No position but the cover's, no unused entry, no other layer matters; only answers are written."""
    access_cases.check_paged_attention(twins, dtype, sequences, prefix=prefix, planned=planned, covers=covers)


def test_copy_pages() -> None:
    """Only sources are read, only targets written."""
    access_cases.check_copy_pages(twins)


def test_clear_pages() -> None:
    """Nothing is read, only the pages are written."""
    access_cases.check_clear_pages(twins)


@DTYPES
def test_clear_positions(dtype: torch.dtype) -> None:
    """Nothing is read, only the positions that were named are written, with their scales."""
    access_cases.check_clear_positions(twins, dtype)


def test_copy_row() -> None:
    """Only the front of staging is read, only those entries written."""
    access_cases.check_copy_row(twins)


def test_an_undeclared_read_is_noticed() -> None:
    """The check fails a launch whose result depends on an element that it does not declare."""
    source, target = declared(torch.ones(4)), declared(torch.zeros(4))
    source.reads[:3] = True
    target.writes[0] = True

    def launch(source: torch.Tensor, target: torch.Tensor) -> None:
        target[0] = source.sum()

    with pytest.raises(AssertionError):
        assert_touches_only([source, target], launch)


def test_an_undeclared_write_is_noticed() -> None:
    """The check fails a launch that writes an element it does not declare."""
    target = declared(torch.zeros(4))
    target.writes[0] = True
    with pytest.raises(AssertionError):
        assert_touches_only([target], lambda target: target[:2].fill_(3.0))
