"""The rules in plain Python: every launch against every other, slowly, straight from the events.

For each code, `broken` gives what is broken and at which event first: rows by (row, generation), pages by
(page, life), requests by number; of a prefix that keeps a page, minus that page.
"""

from collections import Counter, defaultdict
from typing import Any

from tests.analysis.happens_before.program import Program
from tests.analysis.history import History

Event = dict[str, Any]
Broken = dict[str, set[tuple[int, ...]]]
LAUNCHES = ("launch", "publish", "copy", "clear")


class Touch:
    """One access: the launch's event, the life of a page, and the positions."""

    def __init__(self, event: Event, mode: str, page: int, life: int, first: int, end: int) -> None:
        self.event, self.mode, self.page, self.life = event, mode, page, life
        self.first, self.end = first, end


class Rules:
    """A whole history, and what follows from it event by event."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.size: int = history.header["config"]["page_size"]
        self.pages: int = history.header["config"]["kv_pages"]
        self.events = history.events
        self.order = self._order()
        self.first: dict[str, dict[tuple[int, ...], int]] = defaultdict(dict)
        self.touches: list[Touch] = []
        self._holders: dict[tuple[int, int], Counter[str]] = defaultdict(Counter)
        self._granted: set[tuple[int, int]] = set()
        self._gone: set[tuple[int, int]] = set()
        self._freed: set[tuple[int, int]] = set()
        self._rows: dict[tuple[int, int], tuple[int, int]] = {}
        self._publishes: dict[tuple[int, int], list[Event]] = defaultdict(list)
        self._walkers: dict[tuple[int, int], list[tuple[Event, int]]] = defaultdict(list)
        self._tenants: dict[tuple[int, int], int] = {}
        self._acquired: dict[tuple[int, int], int] = {}
        self._mapped: set[tuple[int, int, int]] = set()
        self._once_mapped: set[tuple[int, int, int]] = set()
        self._meant: dict[tuple[int, int, int], set[tuple[int, int]]] = defaultdict(set)
        """What the host ever maps there."""
        for event in self.events:
            if event["kind"] == "map":
                for place, (page, life) in enumerate(event["pages"]):
                    self._meant[event["row"], event["generation"], event["index"] + place].add((page, life))
        self._ended: list[tuple[str, list[tuple[int, int]] | None, int]] = []
        self._step = 0
        self._replay()
        self._accesses()

    def broken(self) -> Broken:
        """What is broken, by code: (resource, event)."""
        return {
            code: {(*resource, seq) for resource, seq in found.items()} for code, found in self.first.items()
        }

    def before(self, a: Event, b: Event) -> bool:
        """Is launch `a` done before launch `b` starts?"""
        return bool(self.order[b["seq"]][0] >> self.order[a["seq"]][1] & 1)

    def _ordered(self, a: Event, b: Event) -> bool:
        return a is b or self.before(a, b)

    def _order(self) -> dict[int, tuple[int, int]]:
        """By event: the launches before it as bits, and its own place."""
        width = max(self.history.names) + 1
        program = Program(width=width, blocking=frozenset(self.history.blocking))
        fences: dict[int, int] = {}
        recorded: dict[int, int] = {}
        launches: list[int] = []
        for event in self.events:
            kind, seq = event["kind"], event["seq"]
            if kind in LAUNCHES:
                program.launch(event["stream"])
                launches.append(seq)
            elif kind == "fence_record":
                fences[event["fence"]] = recorded[seq] = program.record(event["stream"])
            elif kind == "fence_wait":
                program.wait(event["stream"], recorded[event["record_seq"]])
            elif kind == "fence_passed" and "fence" in event:
                program.sync(fences[event["fence"]])
            elif kind == "fence_passed" and "stream" in event:
                program.sync_stream(event["stream"])
            elif kind == "fence_passed":
                program.sync_all()
        bits = program.reaches()
        return {seq: (bits[place], place) for place, seq in enumerate(launches)}

    def _note(self, code: str, resource: tuple[int, ...], seq: int) -> None:
        self.first[code][resource] = min(seq, self.first[code].get(resource, seq))

    def _replay(self) -> None:
        for event in self.events:
            if event["kind"] in ("alloc", "hold", "drop", "retire", "free"):
                for page in event.get("pages") or [[event["page"], event["life"]]]:
                    self._page(event, (page[0], page[1]))
            elif event["kind"] == "row_acquire":
                self._tenants[event["row"], event["generation"]] = event["request"]
                self._acquired[event["row"], event["generation"]] = event["seq"]
            elif event["kind"] in ("map", "unmap"):
                self._map(event)
            elif event["kind"] == "publish":
                self._publish(event)
            elif event["kind"] == "finish":
                self._ended.append((f"request:{event['request']}", None, event["seq"]))
            elif event["kind"] == "evict":
                gone = [(page, life) for page, life in event["pages"]]
                self._ended.append((f"prefix:{event['node']}", gone, event["seq"]))
            if event.get("step", 0) > self._step:
                self._step = event["step"]
                self._leaks(event)
            if event["kind"] in ("launch", "copy"):
                self._launch(event)
            if event["kind"] == "clear":
                for page in range(self.pages):
                    self.touches.append(Touch(event, "write", page, 0, 0, self.size))

    def _page(self, event: Event, page: tuple[int, int]) -> None:
        kind, seq, holders = event["kind"], event["seq"], self._holders[page]
        if kind in ("alloc", "hold"):
            holders[event["holder"]] += 1
            self._granted |= {page} if kind == "alloc" else set()
        elif kind == "drop":
            if holders[event["holder"]] <= 0:
                self._note("TR203", page, seq)
            else:
                holders[event["holder"]] -= 1
        else:
            if any(count > 0 for count in holders.values()):
                self._note("TR203", page, seq)
            if kind == "free" and page in self._freed:
                self._note("TR203", page, seq)
            self._gone.add(page)
            self._freed |= {page} if kind == "free" else set()

    def _map(self, event: Event) -> None:
        """By row, generation and entry."""
        entries = {
            (event["row"], event["generation"], event["index"] + place)
            for place in range(len(event["pages"]))
        }
        if event["kind"] == "map":
            self._mapped |= entries
            self._once_mapped |= entries
        else:
            self._mapped -= entries

    def _publish(self, event: Event) -> None:
        for index, page, life in event["entries"]:
            entry = (event["row"], index)
            self._rows[entry] = (page, life)
            for walker, generation in self._walkers[entry]:
                if not self.before(walker, event):
                    self._note("TR102", (event["row"], generation), event["seq"])
            self._walkers[entry] = []
            self._publishes[entry].append(event)

    def _launch(self, event: Event) -> None:
        seq = event["seq"]
        judged: list[Touch] = []
        for one in event.get("uses", []):
            tenancy = (one["row"], one["generation"])
            for index in range(one["walked"]):
                self._walk(event, tenancy, index)
                page, life = self._rows.get((one["row"], index), (-1, -1))
                low, high = index * self.size, (index + 1) * self.size
                known = len(self.touches)
                if 0 <= page < self.pages and low < one["end"]:
                    self.touches.append(Touch(event, "read", page, life, 0, min(one["end"], high) - low))
                    first, end = max(one["start"], low), min(one["end"], high)
                    if first < end:
                        self.touches.append(Touch(event, "write", page, life, first - low, end - low))
                # What lies behind the end of a row is touched, and TR403's; what was not meant, TR402's.
                if (*tenancy, index) in self._once_mapped and not self._misplaced(tenancy, index):
                    judged += self.touches[known:]
        known = len(self.touches)
        for name, mode in (("reads", "read"), ("source", "read"), ("writes", "write"), ("target", "write")):
            for page, life, first, end in event.get(name, []):
                self.touches.append(Touch(event, mode, page, life, first, end))
        for touch in [*judged, *self.touches[known:]]:
            if not self._held((touch.page, touch.life)):
                self._note("TR201", (touch.page, touch.life), seq)

    def _misplaced(self, tenancy: tuple[int, int], index: int) -> bool:
        """Did the host never mean what stands there, and is that for want of the row's own publish?"""
        published = self._publishes[tenancy[0], index][-1:]
        if not published or self._rows[tenancy[0], index] in self._meant[*tenancy, index]:
            return False
        return published[0]["generation"] == tenancy[1] or published[0]["seq"] < self._acquired[tenancy]

    def _held(self, page: tuple[int, int]) -> bool:
        return page in self._granted and page not in self._gone and sum(self._holders[page].values()) > 0

    def _walk(self, event: Event, tenancy: tuple[int, int], index: int) -> None:
        entry = (tenancy[0], index)
        published = self._publishes[entry]
        request = self._tenants[tenancy]
        if (*tenancy, index) not in self._mapped:
            self._note("TR403", tenancy, event["seq"])
        named_by_host = (*tenancy, index) in self._once_mapped
        if not published:
            if named_by_host:
                self._note("TR402", tenancy, event["seq"])
            return
        self._walkers[entry].append((event, tenancy[1]))
        ordered = self.before(published[-1], event)
        if not ordered or (len(published) > 1 and not self.before(published[-2], published[-1])):
            self._note("TR102", tenancy, event["seq"])
        page = self._rows[entry]
        if not named_by_host:
            return
        if ordered and page[0] >= self.pages:
            self._note("TR401", tenancy, event["seq"])
        elif ordered and self._holders[page][f"request:{request}"] <= 0:
            self._note("TR402", tenancy, event["seq"])

    def _leaks(self, event: Event) -> None:
        """By request; of what is no request by the first page that it keeps, below 0."""
        for holder, gone, seq in self._ended:
            pages = self._holders if gone is None else gone
            kept = [page for page in pages if self._holders[page][holder] > 0]
            if kept:
                number = int(holder.split(":")[1]) if gone is None else -min(kept)[0]
                self._note("TR204", (number,), seq)
        self._ended = []

    def _accesses(self) -> None:
        by_life: dict[tuple[int, int], list[Touch]] = defaultdict(list)
        for touch in self.touches:
            if touch.page:
                by_life[touch.page, touch.life].append(touch)
        for life, touches in by_life.items():
            for place, late in enumerate(touches):
                for early in touches[:place]:
                    overlap = early.first < late.end and late.first < early.end
                    one_writes = "write" in (early.mode, late.mode)
                    if overlap and one_writes and not self._ordered(early.event, late.event):
                        self._note("TR101", life, late.event["seq"])
            older = [other for page, other in by_life if page == life[0] and other < life[1]]
            if older:
                self._reuse(life, touches, by_life[life[0], max(older)])

    def _reuse(self, life: tuple[int, int], touches: list[Touch], old: list[Touch]) -> None:
        seen: set[int] = set()
        for touch in touches:
            if touch.event["stream"] in seen:
                continue
            seen.add(touch.event["stream"])
            if any(
                early.event["seq"] < touch.event["seq"] and not self.before(early.event, touch.event)
                for early in old
            ):
                self._note("TR202", life, touch.event["seq"])
