"""Every way to multiply gives the same product."""

import pytest
import torch
from torch.nn import functional

from tracert.models import linear
from tracert.models.linear import Linear, fast_bfloat16

TOLERANCE = {torch.float32: 1e-5, torch.bfloat16: 2e-2, torch.float16: 2e-3}


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("amx", [False, True])
@pytest.mark.parametrize("biased", [False, True])
def test_product(dtype: torch.dtype, amx: bool, biased: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """One row, few and many give x W^T + b within rounding, packed or plain, whatever the processor has."""
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: amx)
    generator = torch.Generator().manual_seed(3)
    weight = (torch.randn(40, 24, generator=generator) / 24**0.5).to(dtype)
    bias = torch.randn(40, generator=generator).to(dtype) if biased else None
    product = Linear(weight, bias)
    for rows in (1, 2, 3, 9, linear.AMX_PACKED_ROWS, linear.AMX_PACKED_ROWS + 1):
        x = torch.randn(rows, 24, generator=generator).to(dtype)
        wide_bias = None if bias is None else bias.double()
        expected = functional.linear(x.double(), weight.double(), wide_bias)
        found = product(x)
        assert found.dtype == dtype
        assert found.shape == (rows, 40)
        assert (expected - found.double()).abs().max() < TOLERANCE[dtype] * expected.abs().max()


def test_rows_need_not_be_contiguous() -> None:
    """Half of a wider matrix can be multiplied as it stands."""
    weight, wide = torch.randn(8, 6), torch.randn(5, 12)
    torch.testing.assert_close(functional.linear(wide[:, 6:], weight), Linear(weight)(wide[:, 6:]))


def test_without_onednn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where torch was built without oneDNN, plain products serve."""
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    weight, x = torch.randn(8, 6), torch.randn(3, 6)
    assert torch.equal(functional.linear(x, weight), Linear(weight)(x))
    assert not fast_bfloat16(torch.device("cpu"))


@pytest.mark.parametrize("enabled", [True, False])
def test_leaves_onednn_as_it_was(enabled: bool) -> None:
    """A single row goes round oneDNN without switching it on or off for anyone else, errors included."""
    product = Linear(torch.randn(8, 6, dtype=torch.bfloat16))
    before = torch._C._get_mkldnn_enabled()
    torch._C._set_mkldnn_enabled(enabled)
    try:
        assert product(torch.randn(1, 6, dtype=torch.bfloat16)).shape == (1, 8)
        with pytest.raises(RuntimeError):
            product(torch.randn(1, 7, dtype=torch.bfloat16))
        assert torch._C._get_mkldnn_enabled() == enabled
    finally:
        torch._C._set_mkldnn_enabled(before)
