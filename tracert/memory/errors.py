"""The errors of this folder: each message is one line that says what, where and what to do."""


class LayoutError(ValueError):
    """The cache cannot be laid out as asked."""


class NoRoom(RuntimeError):
    """More pages or rows were asked for than are free; nothing was granted."""


class RowError(ValueError):
    """Pages that do not fit into a row of the block table, or no pages at all; nothing was mapped."""


class InvariantError(AssertionError):
    """A `check()` found state that contradicts itself; the message lists the pages, rows or nodes."""


class WorkspaceFull(RuntimeError):
    """A launch needs more bytes in one piece than the workspace has free; it was not launched."""
