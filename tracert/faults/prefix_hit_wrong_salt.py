"""vllm-project/vllm#42125's kind: what makes two prefixes the same lacks a part of the identity.

There a LoRA adapter that was loaded again under its name got the pages of the one before; here the salt that
keeps tenants apart is left out of the comparison. Lookups go by it, so that one tenant's pages are handed to
another, though each request says whose it is.
"""

from typing import Any

from tracert.engine.step import Engine
from tracert.faults.fault import Fault
from tracert.memory.prefix import Identity


class _SaltForgotten(Identity):
    """Equal to every identity that differs in the salt only."""

    __slots__ = ()

    def _key(self) -> tuple[object, ...]:
        return self.model, self.adapter, self.weights_epoch

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _SaltForgotten) and self._key() == other._key()

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self._key())


def _plant(engine: Engine) -> None:
    match, insert = engine.cache.match, engine.cache.insert

    def match_any_salt(request: int, tokens: Any, identity: Identity) -> Any:
        return match(request, tokens, _SaltForgotten(*identity))

    def insert_for_any_salt(
        request: int, tokens: Any, pages: Any, identity: Identity, computed_tokens: int, **named: Any
    ) -> int:
        return insert(request, tokens, pages, _SaltForgotten(*identity), computed_tokens, **named)

    engine.cache.match = match_any_salt  # type: ignore[method-assign]
    engine.cache.insert = insert_for_any_salt  # type: ignore[method-assign]


PREFIX_HIT_WRONG_SALT = Fault(
    name="prefix-hit-wrong-salt",
    finding="TR501",
    summary="cached prefixes are compared without their salt",
    plant=_plant,
)
