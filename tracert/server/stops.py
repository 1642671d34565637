"""Stop strings in text that comes in pieces."""

from collections.abc import Sequence


class StopFilter:
    """Lets text through up to the first stop string, however it is cut into pieces.

    Withholds the end of the text while it could be the start of a stop string. The match that ends first
    counts, of those the one that starts first: the answer does not depend on where the pieces were cut.
    """

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = tuple(stops)
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
        keep = max(beginning_at_end(text, stop) for stop in self._stops)
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep]

    def finish(self) -> str:
        """What was withheld, now that nothing more comes."""
        held, self._held = self._held, ""
        return held


def beginning_at_end(text: str, mark: str) -> int:
    """How many of the last characters of the text may be the beginning of a mark, which is not whole yet."""
    for length in range(min(len(mark) - 1, len(text)), 0, -1):
        if text.endswith(mark[:length]):
            return length
    return 0
