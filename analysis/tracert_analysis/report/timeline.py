"""Lives drawn as text: one line a life, all on one axis of event numbers.

    seq      120 |                                            | 90211
    17.1         |====w==r=~~~                                | request:4
    17.3         |                          ====w===w====!    | request:17

`=` held, `~` retired (nobody holds it, a fence guards it), `w` written, `r` read, `!` the act in question.
Where several fall on one column, the most telling is shown: `!`, then `w`, then `r`.
"""

from collections.abc import Sequence

from tracert_analysis.report.facts import Life

WIDTH = 60
SHOWN = 8
"""The last so many lives are drawn; what is left out is counted."""


def draw(name: str, lives: Sequence[Life], first: int, last: int, mark: int | None = None) -> list[str]:
    """The lines of a drawing of `lives` between seq `first` and `last`; `mark` is the act in question.

    A life whose start the history does not have begins at the left edge.
    """
    if not lives:
        return []
    shown = list(lives)[-SHOWN:]
    start = min((life.from_seq for life in shown if life.from_seq is not None), default=first)
    start = first if any(life.from_seq is None for life in shown) else start
    last = max(last, start + 1)
    labels = [f"{name}.{life.number}" for life in shown]
    margin = max(len("seq"), *map(len, labels))
    ends = f"{start} |{' ' * WIDTH}| {last}"
    lines = [f"{'seq':<{margin}}  {ends}"]
    if len(lives) > len(shown):
        lines.insert(0, f"({len(lives) - len(shown)} earlier not drawn)")
    for label, life in zip(labels, shown, strict=True):
        bar = "".join(_bar(life, start, last, mark))
        lines.append(f"{label:<{margin}}  {' ' * len(str(start))} |{bar}| {life.owner or 'unknown'}")
    return lines


def _bar(life: Life, start: int, last: int, mark: int | None) -> list[str]:
    """The columns of one life, later marks over earlier ones."""
    columns = [" "] * WIDTH

    def column(seq: int) -> int:
        return min(WIDTH - 1, max(0, (seq - start) * (WIDTH - 1) // (last - start)))

    begin = life.from_seq if life.from_seq is not None else start
    end = life.until_seq if life.until_seq is not None else last
    for position in range(column(begin), column(end) + 1):
        columns[position] = "="
    if life.retired_seq is not None:
        for position in range(column(life.retired_seq), column(end) + 1):
            columns[position] = "~"
    for seqs, sign in ((life.reads, "r"), (life.writes, "w")):
        for seq in seqs:
            columns[column(seq)] = sign
    if mark is not None and begin <= mark <= end:
        columns[column(mark)] = "!"
    return columns
