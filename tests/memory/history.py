"""A recorder that keeps events in a list, as `fold` reads them."""

from collections.abc import Sequence
from typing import Any

from tracert.record.access import Access, Clear, Compute, Copy, Extent, Holder, Mode, Publish
from tracert.record.recorder import NullRecorder

Pairs = list[tuple[int, int]]


def pairs(pages: Sequence[int], lives: Sequence[int]) -> Pairs:
    """Pages with their lives; they must be parallel."""
    return list(zip(pages, lives, strict=True))


class History(NullRecorder):
    """Events as (kind, fields), in order; kinds that memory does not record are ignored."""

    enabled = True

    def __init__(self) -> None:
        self.told: list[tuple[str, dict[str, Any]]] = []

    def _add(self, kind: str, **fields: Any) -> int:
        self.told.append((kind, fields))
        return len(self.told)

    def kinds(self) -> list[str]:
        """The kinds, in order."""
        return [kind for kind, _ in self.told]

    def of(self, kind: str) -> list[dict[str, Any]]:
        """The fields of every event of a kind."""
        return [fields for have, fields in self.told if have == kind]

    def alloc(self, pages: Sequence[int], lives: Sequence[int], holder: Holder, pool: int = 0) -> int:
        """Keep it."""
        return self._add("alloc", pages=pairs(pages, lives), holder=holder)

    def hold(self, pages: Sequence[int], lives: Sequence[int], holder: Holder, mode: Mode) -> int:
        """Keep it."""
        return self._add("hold", pages=pairs(pages, lives), holder=holder, mode=mode)

    def drop(self, pages: Sequence[int], lives: Sequence[int], holder: Holder, mode: Mode) -> int:
        """Keep it."""
        return self._add("drop", pages=pairs(pages, lives), holder=holder, mode=mode)

    def retire(self, pages: Sequence[int], lives: Sequence[int], fence: int) -> int:
        """Keep it."""
        return self._add("retire", pages=pairs(pages, lives), fence=fence)

    def free(self, pages: Sequence[int], lives: Sequence[int]) -> int:
        """Keep it."""
        return self._add("free", pages=pairs(pages, lives))

    def row_acquire(self, row: int, generation: int, request: int) -> int:
        """Keep it."""
        return self._add("row_acquire", row=row, generation=generation, request=request)

    def row_release(self, row: int, generation: int, request: int) -> int:
        """Keep it."""
        return self._add("row_release", row=row, generation=generation, request=request)

    def map(self, row: int, generation: int, index: int, pages: Sequence[int], lives: Sequence[int]) -> int:
        """Keep it."""
        return self._add("map", row=row, generation=generation, index=index, pages=pairs(pages, lives))

    def unmap(self, row: int, generation: int, index: int, pages: Sequence[int], lives: Sequence[int]) -> int:
        """Keep it."""
        return self._add("unmap", row=row, generation=generation, index=index, pages=pairs(pages, lives))

    def stage(self, staging: int, nbytes: int) -> int:
        """Keep it."""
        return self._add("stage", staging=staging, bytes=nbytes)

    def launch(self, launch: int, stream: int, ordinal: int, kernel: str, access: Access) -> int:
        """Keep it, by the type of its access."""
        where = {"launch": launch, "stream": stream, "ordinal": ordinal, "kernel": kernel}
        match access:
            case Compute():
                return self._add("launch", **where, resources=list(access.resources))
            case Publish():
                entries = list(
                    zip(
                        range(access.first, access.first + len(access.pages)),
                        access.pages,
                        access.lives,
                        strict=True,
                    )
                )
                return self._add(
                    "publish",
                    **where,
                    row=access.row,
                    generation=access.generation,
                    epoch=access.epoch,
                    staging=access.staging,
                    entries=entries,
                )
            case Copy():
                return self._add("copy", **where, source=list(access.source), target=list(access.target))
            case Clear():
                return self._add("clear", **where, target=list(access.target))

    def copy_plan(self, transaction: int, source: Sequence[Extent], target: Sequence[Extent]) -> int:
        """Keep it."""
        return self._add("copy_plan", transaction=transaction, source=list(source), target=list(target))

    def copy_done(self, transaction: int, source: Sequence[Extent], target: Sequence[Extent]) -> int:
        """Keep it."""
        return self._add("copy_done", transaction=transaction, source=list(source), target=list(target))

    def fence_passed(
        self, *, fence: int | None = None, stream: int | None = None, device: bool = False
    ) -> int:
        """Keep it."""
        return self._add("fence_passed", fence=fence, stream=stream, device=device)

    def insert(
        self,
        node: int,
        digest: bytes,
        parent: int,
        pages: Sequence[int],
        lives: Sequence[int],
        identity: int,
        positions: int = 0,
    ) -> int:
        """Keep it, without the positions of a page that is full."""
        named = {"node": node, "digest": digest, "parent": parent, "pages": pairs(pages, lives)}
        part = {"positions": positions} if positions else {}
        return self._add("insert", **named, identity=identity, **part)

    def evict(self, node: int, pages: Sequence[int], lives: Sequence[int]) -> int:
        """Keep it."""
        return self._add("evict", node=node, pages=pairs(pages, lives))

    def match(
        self,
        request: int,
        node: int,
        digest: bytes,
        identity: int,
        hit_tokens: int,
        pages: Sequence[int],
        lives: Sequence[int],
        lookup_ns: int,
    ) -> int:
        """Keep it."""
        return self._add(
            "match",
            request=request,
            node=node,
            digest=digest,
            identity=identity,
            hit_tokens=hit_tokens,
            pages=pairs(pages, lives),
            lookup_ns=lookup_ns,
        )
