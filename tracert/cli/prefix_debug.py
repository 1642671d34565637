"""`--prefix-cache-debug`: lines on standard error, of what is asked of the prefix cache and comes of it.

    [prefix_cache] backend=hash event=match request=cmpl-63a4aa1d model=tiny-random prompt_tokens=233 ...

A recorder that passes everything on and says some of it aloud, so that caches and engine know nothing of it,
and nothing is paid when it is off. Lines are `match schedule insert evict free`, the first three with
the fields of pypto-serving's log around its error 507018. Token ids are in none. With `--log-format json`
each is a JSON object of the same fields.
"""

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from tracert.memory.prefix_cache import PrefixCache
from tracert.record.recorder import Recorder


def as_text(fields: Mapping[str, Any]) -> str:
    """`[prefix_cache] backend=hash event=match ...`."""
    return "[prefix_cache] " + " ".join(f"{name}={value}" for name, value in fields.items())


def as_json(fields: Mapping[str, Any]) -> str:
    """The same as an entry of the server's JSON log, times and milliseconds as it has them."""
    now = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    return json.dumps({"logger": "prefix_cache", **fields, "level": "info", "timestamp": now})


def to_stderr(line: str) -> None:
    """One line, at once."""
    print(line, file=sys.stderr, flush=True)


class PrefixDebug:
    """In the place of `recorder`, which gets every call; `backend` and `model` are said in each line."""

    def __init__(
        self,
        recorder: Recorder,
        backend: str,
        model: str,
        page_size: int,
        write: Callable[[str], None] = to_stderr,
        form: Callable[[Mapping[str, Any]], str] = as_text,
    ) -> None:
        self._form = form
        self._recorder = recorder
        self._backend = backend
        self._model = model
        self._page_size = page_size
        self._write = write
        self._asked: dict[int, tuple[str, int]] = {}
        self._cached: dict[int, int] = {}
        self._blocks: dict[int, list[int]] = {}

    def __getattr__(self, name: str) -> Any:
        """All that is not said aloud."""
        return getattr(self._recorder, name)

    def watch(self, cache: PrefixCache) -> None:
        """Say what the cache keeps, and how long that took: the history has no times of inserts."""
        insert = cache.insert

        def insert_aloud(
            request: int,
            tokens: Sequence[int],
            pages: Sequence[int],
            identity: Any,
            computed_tokens: int,
            *,
            ended: bool = False,
        ) -> int:
            began = time.perf_counter()
            added = insert(request, tokens, pages, identity, computed_tokens, ended=ended)
            took = time.perf_counter() - began
            if added:
                self._say(
                    "insert",
                    request,
                    total_tokens=computed_tokens,
                    pages=len(pages),
                    inserted_pages=added,
                    insert_ms=f"{1000 * took:.3f}",
                )
            return added

        cache.insert = insert_aloud  # type: ignore[method-assign]

    def arrive(self, request: int, public_id: str, prompt_tokens: int, max_tokens: int) -> int:
        """Remember how the client calls the request."""
        self._asked[request] = public_id, prompt_tokens
        return self._recorder.arrive(request, public_id, prompt_tokens, max_tokens)

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
        """Say what was found: whole pages, and the positions of a tail, whose page is copied."""
        self._say(
            "match",
            request,
            prompt_tokens=self._asked.get(request, ("", 0))[1],
            hit_tokens=hit_tokens,
            hit_pages=hit_tokens // self._page_size,
            tail_tokens=hit_tokens % self._page_size,
            lookup_ms=f"{lookup_ns / 1e6:.3f}",
        )
        return self._recorder.match(request, node, digest, identity, hit_tokens, pages, lives, lookup_ns)

    def map(self, row: int, generation: int, index: int, pages: Sequence[int], lives: Sequence[int]) -> int:
        """Remember which pages the row has."""
        self._blocks[row] = [*self._blocks.get(row, [])[:index], *pages]
        return self._recorder.map(row, generation, index, pages, lives)

    def schedule(
        self, request: int, row: int, phase: str, step: int, scheduled: int, computed: int, pages: int
    ) -> int:
        """Say how many tokens of a prompt are computed now, on which pages."""
        if phase == "prefill":
            cached = self._cached.setdefault(request, computed // self._page_size)
            self._say(
                "schedule",
                request,
                scheduled_prefill_tokens=scheduled,
                computed_tokens=computed,
                cached_pages=cached,
                allocated_pages=pages - cached,
                block_ids=self._blocks.get(row, [])[:pages],
            )
        return self._recorder.schedule(request, row, phase, step, scheduled, computed, pages)

    def evict(self, node: int, pages: Sequence[int], lives: Sequence[int]) -> int:
        """Say what left the cache."""
        self._say("evict", None, node=node, pages=len(pages), block_ids=list(pages))
        return self._recorder.evict(node, pages, lives)

    def free(self, pages: Sequence[int], lives: Sequence[int]) -> int:
        """Say which pages may be granted again."""
        self._say("free", None, pages=len(pages), block_ids=list(pages))
        return self._recorder.free(pages, lives)

    def preempt(self, request: int, row: int, step: int, reason: str) -> int:
        """It starts again."""
        self._cached.pop(request, None)
        return self._recorder.preempt(request, row, step, reason)

    def finish(self, request: int, row: int, reason: str) -> int:
        """Forget the request."""
        self._forget(request)
        return self._recorder.finish(request, row, reason)

    def fail(self, request: int, row: int, reason: str) -> int:
        """Forget the request."""
        self._forget(request)
        return self._recorder.fail(request, row, reason)

    def _forget(self, request: int) -> None:
        self._asked.pop(request, None)
        self._cached.pop(request, None)

    def _say(self, event: str, request: int | None, **fields: Any) -> None:
        about: dict[str, Any] = {"backend": self._backend, "event": event}
        if request is not None:
            about["request"] = self._asked.get(request, (str(request), 0))[0]
        about["model"] = self._model
        self._write(self._form(about | fields))
