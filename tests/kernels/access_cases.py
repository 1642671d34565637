"""A launch of each kernel with what it declares, for the twins and for Triton alike."""

import torch
from tracert_kernels.dispatch import Kernels
from tracert_kernels.kv_types import Covers

from tests.kernels.accesses import Declared, assert_touches_only, declared
from tests.kernels.paged import LAYER, Paged, Shape, paged


def walked(case: Paged) -> Declared:
    """The table: ceil(context / page_size) entries of each row are read, and nothing else of it."""
    table = declared(case.table)
    for b in range(len(case.rows)):
        table.reads[case.rows[b], : len(case.held(b))] = True
    return table


def whole(memory: torch.Tensor) -> Declared:
    """An argument that is read from end to end."""
    piece = declared(memory)
    piece.reads[:] = True
    return piece


def check_store_kv(kernels: Kernels, dtype: torch.dtype, planned: bool) -> None:
    """Reads the entry of each token's page, writes the token's slot in one layer."""
    case = paged([(40, 3), (29, 29), (17, 1)], Shape(dtype=dtype, dim=16), garbage=7.0)
    table, arena = declared(case.table), declared(case.arena)
    for row, position in zip(case.token_row.tolist(), case.position.tolist(), strict=True):
        table.reads[row, position // 16] = True
        arena.writes[int(case.table[row, position // 16]), LAYER, :, position % 16] = True
    key = torch.randn(len(case.position), 2, 16).to(case.shape.numbers)

    def launch(key: torch.Tensor, value: torch.Tensor, arena: torch.Tensor, table: torch.Tensor) -> None:
        plan = None
        if planned:
            # No row is walked here, as it would be for attention: each token's own entry is all that is read.
            none = case.rows[:0]
            plan = kernels.plan(table, none, case.query_start[:1], none, case.token_row, case.position, 16)
        kernels.store_kv(key, value, arena[:, LAYER], table, case.token_row, case.position, plan=plan)

    assert_touches_only([whole(key), whole(key + 1), arena, table], launch)


def check_paged_attention(
    kernels: Kernels,
    dtype: torch.dtype,
    sequences: list[tuple[int, int]],
    *,
    prefix: int = 0,
    planned: bool,
    covers: Covers = "valid",
) -> None:
    """Reads positions 0..context of one layer and the walked entries, writes all answers.

    With cover `page`, a sequence with one query reads to the end of its last page.
    """
    case = paged(sequences, Shape(dtype=dtype, dim=16), prefix=prefix, garbage=0.5)
    arena, out = declared(case.arena), declared(torch.full_like(case.queries, 9.0))
    out.writes[:] = True
    for b in range(len(case.rows)):
        whole_pages = covers == "page" and sequences[b][1] == 1
        for position in range(16 * len(case.held(b)) if whole_pages else int(case.context[b])):
            arena.reads[case.held(b)[position // 16], LAYER, :, position % 16] = True

    def launch(out: torch.Tensor, query: torch.Tensor, arena: torch.Tensor, table: torch.Tensor) -> None:
        plan = None
        if planned:
            plan = kernels.plan(
                table, case.rows, case.query_start, case.context, case.token_row, case.position, 16
            )
        kernels.paged_attention(
            out,
            query,
            arena[:, LAYER],
            table,
            case.rows,
            case.query_start,
            case.context,
            case.scale,
            plan=plan,
            covers=covers,
        )

    assert_touches_only([out, whole(case.queries), arena, walked(case)], launch)


def check_copy_pages(kernels: Kernels) -> None:
    """Reads the sources, writes the targets."""
    pages = declared(torch.randint(1, 255, (7, 160), dtype=torch.uint8))
    source, target = torch.tensor([1, 5, 1], dtype=torch.int32), torch.tensor([4, 0, 2], dtype=torch.int32)
    pages.reads[source.long()] = True
    pages.writes[target.long()] = True
    assert_touches_only([pages], lambda memory: kernels.copy_pages(memory, source, target))


def check_clear_pages(kernels: Kernels) -> None:
    """Writes the pages, reads none."""
    pages = declared(torch.randint(1, 255, (7, 160), dtype=torch.uint8))
    cleared = torch.tensor([6, 2], dtype=torch.int32)
    pages.writes[cleared.long()] = True
    assert_touches_only([pages], lambda memory: kernels.clear_pages(memory, cleared))


def check_clear_positions(kernels: Kernels, dtype: torch.dtype) -> None:
    """Writes the last positions of the pages in every layer, reads none."""
    arena = declared(paged([(40, 1), (16, 1)], Shape(dtype=dtype, dim=16), garbage=7.0).arena)
    pages, first = torch.tensor([5, 1, 2], dtype=torch.int32), torch.tensor([3, 15, 0], dtype=torch.int32)
    for page, position in zip(pages.tolist(), first.tolist(), strict=True):
        arena.writes[page, :, :, position:] = True
    assert_touches_only([arena], lambda memory: kernels.clear_positions(memory, pages, first))


def check_copy_row(kernels: Kernels) -> None:
    """Reads the front of staging, writes as many entries of one row."""
    table = declared(torch.arange(24, dtype=torch.int32).view(4, 6))
    staging = declared(torch.arange(90, 98, dtype=torch.int32))
    staging.reads[:3] = True
    table.writes[2, 1:4] = True
    assert_touches_only([table, staging], lambda table, staging: kernels.copy_row(table, 2, 1, staging, 3))
