"""Checks every rule once more, on the recorded history with something changed.

A second schema holds that history and everything that follows from it; the dump's own tables stay as they
are.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from tracert_analysis import library
from tracert_analysis.families import spread
from tracert_analysis.folding import fold
from tracert_analysis.load import Dump
from tracert_analysis.provenance_table import fill_blemishes
from tracert_analysis.report.questions import Row

EVENTS_MAX = 300_000
"""Checking everything again takes as long as the first time; a report of a long history does without."""

NOT_CHECKED = f"not checked: the history has more than {EVENTS_MAX:,} events"

CHECKED = "rule checked again"
"""What every sentence has that tells of an edited history, and none that says why there is none."""

SAME = ("code", "resource_kind", "resource_id", "life", "row", "generation")
"""By these a finding is the same one in another history, whichever launch is now the first to break the rule;
of the workspace, where every launch finds the same places, the launch says more."""

SCHEMA = "counterfactual"

# Of a finding that lacks order, the place in the code where it does; and whether the dump has it, too.
LEFT = """
SELECT f.*, early.kernel AS early_kernel, NOT EXISTS (
        FROM main.finding AS b
        WHERE b.code = f.code AND (
            b.resource_kind = f.resource_kind AND b.resource_id IS NOT DISTINCT FROM f.resource_id
            AND b.life IS NOT DISTINCT FROM f.life AND b."row" IS NOT DISTINCT FROM f."row"
            AND b.generation IS NOT DISTINCT FROM f.generation OR b.launch = f.launch
        )
    ) AS fresh,
    coalesce(early.seq < late.seq AND early.stream <> late.stream
        AND late.clock[early.stream + 1] < early.ordinal, false) AS loose
FROM finding AS f
LEFT JOIN launch AS early ON early.launch = f.other_launch
LEFT JOIN launch AS late ON late.launch = f.launch
WHERE f.class <> 'symptom' QUALIFY row_number() OVER (PARTITION BY f.finding) = 1 ORDER BY f.finding"""


# What ranks decided is not asked again.
BROKEN = "SELECT count(*) AS broken FROM main.finding WHERE class <> 'symptom' AND code <> 'TR801'"


class Left(NamedTuple):
    """The findings of an edited history; symptoms don't count: what was seen stays in it."""

    rows: list[Row]
    before: int
    """How many the recorded one has."""

    def same(self, root: Row) -> Row | None:
        """The one that is still `root`; None where that one is gone."""
        names = ("code", "launch") if root["class"] == "resource" else SAME
        return next((row for row in self.rows if all(row[name] == root[name] for name in names)), None)

    @property
    def breaks(self) -> bool:
        """Is a rule broken that was not broken there before?"""
        return any(row["fresh"] for row in self.rows)

    @property
    def what(self) -> str:
        """What the second check found."""
        left, before = len(self.rows), self.before
        if not left:
            return f"{'the finding is' if before == 1 else f'all {before} findings are'} gone"
        codes = ", ".join(sorted({row["code"] for row in self.rows}))
        if left > before:
            return f"{left} findings are there instead of {before}: {codes}"
        return f"{left} of {before} findings {'is' if left == 1 else 'are'} left: {codes}"

    def told(self, edited: str) -> str:
        """What it found with what was `edited`, to go on from."""
        return f"{edited} and every {CHECKED}, {self.what}"


class Edited(NamedTuple):
    """What came of a repair that was tried on the history."""

    sentence: str
    repaired: bool | None
    """Is the verdict gone? None where nothing could be tried."""
    beside: tuple[tuple[int, int], ...] = ()
    """Launches between which order lacked, too: the earlier and the later one."""
    left: Left | None = None
    """What is left with it; None where nothing, or more than one thing, was tried."""
    fails: tuple[str, ...] = ()
    """Of several repairs that were tried, those that leave the verdict: `clear`, `narrow`, `range`."""
    helps: tuple[str, ...] = ()
    """Names of repairs that were tried and leave it not."""
    lefts: tuple[Left, ...] = ()
    """Of several that were tried, what is left with each of these."""

    def takes(self, found: list[Row]) -> bool | None:
        """Does a repair of the verdict take these findings away, too? None where none was seen to help."""
        lefts = (self.left,) if self.left is not None else self.lefts
        if not self.repaired or not lefts:
            return None
        return any(all(left.same(row) is None for row in found) for left in lefts)


def checked_again(
    dump: Dump,
    statements: Sequence[str],
    looked: Callable[[], None] | None = None,
    found_out: Callable[[], None] | None = None,
) -> Left:
    """The findings that are left when `statements` have made another `event` in an empty schema.

    They name the dump's own tables as `main.event`. Symptoms don't count: what was seen stays in the history.
    `looked` is called where the tables that the statements made are there, `found_out` when all has been
    checked.
    """
    connection = dump.connection
    own = schema(dump)
    connection.execute(f"CREATE SCHEMA {SCHEMA}")
    try:
        # What is the same in every history, such as types, is found in the dump's own schema.
        connection.execute(f"SET search_path = '{SCHEMA},{own}'")
        for statement in statements:
            connection.execute(of_dump(statement, own))
        if looked is not None:
            looked()
        library.create_tables(connection, ("_told", "_clocks"))
        # Six families are taken from it: as a view it would be planned as often.
        connection.execute("CREATE TABLE _edited AS FROM event")
        spread(connection, "_edited")
        connection.execute("DROP TABLE _edited")
        fold(connection)
        # What kernels saw, they saw in the history that happened.
        connection.execute("DELETE FROM _guarded")
        connection.execute("DELETE FROM _followed")
        fill_blemishes(connection)
        library.create_access(connection)
        if found_out is not None:
            found_out()
        return Left(_rows(dump, of_dump(LEFT, own)), _rows(dump, of_dump(BROKEN, own))[0]["broken"])
    finally:
        connection.execute(f"USE {own}")
        connection.execute(f"DROP SCHEMA {SCHEMA} CASCADE")


def rows(dump: Dump, query: str, verdict: int = 1) -> list[Row]:
    """What the recorded history has, asked as `main.`; `$verdict` is the verdict's number."""
    return _rows(dump, of_dump(query, schema(dump), verdict))


def count(dump: Dump, query: str, root: Row) -> int:
    """The only number that a query of `rows` gives, about the verdict `root`."""
    ((number,),) = (row.values() for row in rows(dump, query, root["finding"]))
    return int(number)


def _rows(dump: Dump, query: str) -> list[Row]:
    result = dump.connection.execute(query)
    names = [column[0] for column in result.description]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def schema(dump: Dump) -> str:
    """Where the dump's own tables are: `main`, or a rank's schema."""
    return str(dump.connection.execute("SELECT current_schema()").fetchall()[0][0])


def of_dump(statement: str, own: str, verdict: int = 1) -> str:
    """The statement with `main.` for the schema `own`, and `$verdict` for the verdict's number."""
    return statement.replace("main.", f"{own}.").replace("$verdict", f"{verdict:d}")
