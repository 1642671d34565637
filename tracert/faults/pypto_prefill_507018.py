"""pypto-serving, error 507018 after a prefix hit: a suffix prefill keeps a block of the workspace.

Which defect parked the runtime's heap ring is unproven. This is one that fits what was seen: the scratch of
attention is given back in the path of a prefill that begins at position 0, and the path of one that begins
behind a cached prefix forgets it. Nothing goes wrong then; the launch that later finds no room does.
"""

from typing import Any

from tracert.engine.step import Engine
from tracert.faults.fault import Fault


def _plant(engine: Engine) -> None:
    launch, give_back = engine.runner.launch, engine.workspace.give_back
    kept: set[int] = set()

    def launch_suffix(prepared: Any, step: int) -> Any:
        if any(part.start > 0 and part.length > 1 for part in prepared.slices):
            kept.add(engine.device.upcoming())
        return launch(prepared, step)

    def forget_attention(block: Any) -> None:
        # Activations lie first in a launch's piece, what attention gathers lies behind them.
        blocks = [other for other in engine.workspace.live() if other.launch == block.launch]
        if block.launch in kept and block is blocks[-1]:
            return
        give_back(block)

    engine.runner.launch = launch_suffix  # type: ignore[method-assign]
    engine.workspace.give_back = forget_attention  # type: ignore[method-assign]


PYPTO_PREFILL_507018 = Fault(
    name="pypto-prefill-507018",
    finding="TR701",
    summary="a prefill behind a cached prefix keeps its attention scratch",
    plant=_plant,
)
