"""What lies in dead tails and what each cover makes of it, for the twins and for Triton alike."""

from collections.abc import Callable
from typing import Protocol

import torch
from tracert_kernels.kv_types import Covers
from tracert_kernels.twins.stored import narrow

from tests.kernels.paged import LAYER, Paged, Shape, paged

TOLERANCE = {torch.float32: 1e-5, torch.float16: 3e-3, torch.bfloat16: 2e-2}


class Kernels(Protocol):
    """What is tested."""

    @property
    def paged_attention(self) -> Callable[..., None]:
        """As of the twins."""


def attend(kernels: Kernels, case: Paged, covers: Covers) -> torch.Tensor:
    """The kernel's answers, in float64."""
    out = torch.full_like(case.queries, 9.0)
    kernels.paged_attention(
        out,
        case.queries,
        case.cache,
        case.table,
        case.rows,
        case.query_start,
        case.context,
        case.scale,
        covers=covers,
    )
    return out.double()


def assert_right(case: Paged, answers: torch.Tensor) -> None:
    """Close to attention in float64 over the tokens alone."""
    tolerance = max(TOLERANCE[case.queries.dtype], TOLERANCE[case.shape.numbers])
    torch.testing.assert_close(case.expected(), answers, atol=tolerance, rtol=tolerance)


def check_poisoned(
    kernels: Kernels, dtype: torch.dtype, query_dtype: torch.dtype, *, prefix: int, alone: bool
) -> None:
    """Sequences with and without a dead tail, with one query and with several, all dead bytes NaN."""
    batches = [[(150, 1), (144, 1), (161, 1), (133, 5), (130, 1)]]
    if alone:
        batches = [[sequence] for sequence in batches[0]]
    for sequences in batches:
        case = paged(sequences, Shape(dtype=dtype, dim=16), query_dtype=query_dtype, prefix=prefix)
        assert_right(case, attend(kernels, case, "valid"))
        answers, expected = attend(kernels, case, "page"), case.expected()
        for b, (context, queries) in enumerate(sequences):
            span = slice(int(case.query_start[b]), int(case.query_start[b + 1]))
            if queries == 1 and context % 16:
                assert bool(answers[span].isnan().all())
            else:
                tolerance = max(TOLERANCE[query_dtype], TOLERANCE[case.shape.numbers])
                torch.testing.assert_close(expected[span], answers[span], atol=tolerance, rtol=tolerance)


def check_dead_keys(kernels: Kernels, dtype: torch.dtype) -> None:
    """Dead keys are NaN, dead values are not."""
    case = paged([(37, 1), (50, 1), (20, 4)], Shape(dtype=dtype, dim=16))
    clean = paged([(37, 1), (50, 1), (20, 4)], Shape(dtype=dtype, dim=16), garbage=2.0)
    case.arena[:, :, 1] = clean.arena[:, :, 1]
    assert_right(case, attend(kernels, case, "page"))


def check_finite(kernels: Kernels, dtype: torch.dtype, *, prefix: int) -> None:
    """All that is dead is a number."""
    sequences = [(150, 1), (144, 1), (133, 5), (130, 1)]
    case = paged(sequences, Shape(dtype=dtype, dim=16), garbage=100.0, prefix=prefix)
    for covers in ("valid", "page"):
        assert_right(case, attend(kernels, case, covers))


def check_float_rows(kernels: Kernels) -> None:
    """The values of the dead tail are written as float32 and read as fp8."""
    fp8 = torch.float8_e4m3fn
    case = paged([(37, 1)], Shape(dtype=fp8, dim=64), garbage=0.0)
    tail = case.arena[case.held(0)[-1], LAYER, 1, 5:].view(torch.float32)
    tail.normal_(generator=torch.Generator().manual_seed(0))
    assert bool(tail.isfinite().all())
    assert_right(case, attend(kernels, case, "valid"))
    assert bool(attend(kernels, case, "page").isnan().any())
    tail.view(fp8).copy_(narrow(torch.ones(11, 2, 64), fp8))
    assert_right(case, attend(kernels, case, "page"))
