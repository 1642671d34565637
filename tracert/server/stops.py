"""Stop strings in text that comes in pieces."""

from collections.abc import Sequence


class StopFilter:
    """Lets text through up to the first stop string, however it is cut into pieces.

    Withholds the end of the text while it could be the start of a stop string. The match that ends first
    counts, of those the one that starts first: the answer does not depend on where the pieces were cut.
    """

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = tuple(stops)
        self._longest = max(map(len, self._stops), default=0)
        self._held = ""
        self.found = False
        """A stop string has come: nothing passes any more."""

    def push(self, piece: str) -> str:
        """The text that may be shown now."""
        if self.found:
            return ""
        if not self._stops:
            return piece
        text = self._held + piece
        ends = [(start + len(stop), start) for stop in self._stops if (start := text.find(stop)) >= 0]
        if ends:
            self.found = True
            self._held = ""
            return text[: min(ends)[1]]
        keep = self._suspicious(text)
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep]

    def finish(self) -> str:
        """What was withheld, now that nothing more comes."""
        held, self._held = self._held, ""
        return held

    def _suspicious(self, text: str) -> int:
        """The length of the longest end of the text that begins a stop string."""
        for length in range(min(self._longest - 1, len(text)), 0, -1):
            end = text[-length:]
            if any(stop.startswith(end) for stop in self._stops):
                return length
        return 0
