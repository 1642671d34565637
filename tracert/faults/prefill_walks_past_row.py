"""What the reporter of pypto-serving's 507018 believed: a prefill that follows one entry too many.

It takes `context // page_size + 1` pages of a row, an off-by-one that is hidden unless the length is a
multiple of the page, and here at any length: the entry behind the last one is a former tenant's, or whatever
a released row was overwritten with. What it loads is masked, so that nothing shows unless the entry names no
page. A guarded kernel with the same mistake notes that entry too, and skips it when it names no page.
"""

from types import SimpleNamespace
from typing import Any

import torch

from tracert.engine.batch import Prepared
from tracert.engine.runner import Flight
from tracert.engine.step import Engine
from tracert.faults.fault import Fault
from tracert.record.access import RowUse


def _plant(engine: Engine) -> None:
    forward, launch = engine.model.forward, engine.runner.launch
    page_size, width = engine.config.page_size, engine.config.row_width
    kernels = engine.model.kernels
    one_more = torch.zeros(0, dtype=torch.int32)

    def walk_one_entry_more(
        batch: Any, cache: torch.Tensor, table: torch.Tensor, *rest: Any, **named: Any
    ) -> Any:
        nonlocal one_more
        walked = -(-batch.context // page_size)
        far = (batch.query_start.diff() > 1) & (walked < width)
        one_more = far.int()
        pages = table[batch.rows[far], walked[far]].long()
        if named.get("guard") is not None:
            pages = pages[(pages > 0) & (pages < len(cache))]
        cache.index_select(0, pages)
        return forward(batch, cache, table, *rest, **named)

    def follow_one_entry_more(
        guard: Any, table: torch.Tensor, rows: torch.Tensor, context: torch.Tensor, *rest: Any
    ) -> None:
        kernels.follow_rows(guard, table, rows, context + page_size * one_more, *rest)

    def use_one_entry_more(prepared: Prepared, step: int) -> Flight:
        return launch(prepared._replace(uses=[_longer(use, width) for use in prepared.uses]), step)

    engine.model.forward = walk_one_entry_more  # type: ignore[method-assign]
    engine.model.kernels = SimpleNamespace(**{**vars(kernels), "follow_rows": follow_one_entry_more})
    engine.runner.launch = use_one_entry_more  # type: ignore[method-assign]


def _longer(use: RowUse, width: int) -> RowUse:
    prefill = use.end - use.start > 1
    return use._replace(walked=use.walked + 1) if prefill and use.walked < width else use


PREFILL_WALKS_PAST_ROW = Fault(
    name="prefill-walks-past-row",
    finding="TR403",
    summary="a prefill follows one entry more than its row is mapped",
    plant=_plant,
)
