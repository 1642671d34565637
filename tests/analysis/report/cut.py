"""Takes the front off a history, as a ring that has wrapped does: a keyframe and the last facts stand in."""

from typing import Any

from tests.analysis.history import History, Page


def front_cut_off(history: History, number: int) -> History:
    """The same history from its keyframe `number` (from 1) on, with the last facts of its pages."""
    start = next(
        event["seq"] for event in history.events if event["kind"] == "keyframe" and event["set"] == number
    )
    config = history.header["config"]
    cut = History(page_size=config["page_size"], kv_pages=config["kv_pages"], first_seq=start)
    cut.header["reason"], cut.header["error"] = history.header["reason"], history.header["error"]
    cut.events = [event for event in history.events if event["seq"] >= start]
    cut.seq, cut._ordinals, cut.progress = history.seq, history._ordinals, history.progress
    facts = LastFacts(config["page_size"])
    for event in history.events:
        facts.fold(event)
    cut.states = [{"kind": "page_state", "page": page, **told} for page, told in sorted(facts.pages.items())]
    return cut


class LastFacts:
    """What a runtime keeps of its pages beside the events: who took each last, and which launch wrote it."""

    def __init__(self, page_size: int) -> None:
        self.pages: dict[int, dict[str, Any]] = {}
        self._size = page_size
        self._rows: dict[tuple[int, int], Page] = {}

    def fold(self, event: dict[str, Any]) -> None:
        """One event more."""
        kind = event["kind"]
        if kind in ("alloc", "hold", "drop", "retire", "free"):
            for page, life in event.get("pages") or [(event["page"], event["life"])]:
                self._held(kind, event, page, life)
        elif kind == "publish":
            self._rows |= {(event["row"], index): (page, life) for index, page, life in event["entries"]}
        elif kind == "clear":
            for page in range(event["pages"]):
                self._wrote(event, page, 0)
        elif kind == "launch":
            for use in event.get("uses", []):
                for index in range(use["start"] // self._size, -(-use["end"] // self._size)):
                    self._wrote(event, *self._rows[use["row"], index])

    def _held(self, kind: str, event: dict[str, Any], page: int, life: int) -> None:
        told = self.pages.setdefault(page, {})
        if kind == "alloc":
            told["previous_holder"] = told.get("holder")
            told |= {"life": life, "state": "held", "alloc_seq": event["seq"]}
        if kind in ("alloc", "hold"):
            told |= {"holder": event["holder"], "given_back": False}
        elif kind == "drop" and told["holder"] == event["holder"]:
            told["given_back"] = True
        elif kind == "free":
            told |= {"state": "free", "freed_seq": event["seq"]}

    def _wrote(self, event: dict[str, Any], page: int, life: int) -> None:
        self.pages.setdefault(page, {}).update(
            writer=event["launch"], writer_stream=event["stream"], writer_seq=event["seq"], writer_life=life
        )
