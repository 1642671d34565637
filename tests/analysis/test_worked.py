"""Answers on a page are made of the dumps that it names."""

import importlib.util
from pathlib import Path
from types import ModuleType

import orjson
import pytest
from tracert_analysis.comments import described
from tracert_analysis.source import open_source
from tracert_analysis.worked import BrokenExample, answered

from tests.analysis.history import History

DOCS = Path(__file__).parents[2] / "docs"
DUMPS = DOCS / "dumps"
OF_THE_RUN = ("t", "lookup_ns", "digest", "identity")
PAGE = """\
On `docs/dumps/{dump}.jsonl.zst`:

```sql
{query}
```

```text
stale
```

```sql
no question: nothing follows
```
"""


def page(query: str, dump: str = "one") -> str:
    """A page with a question and a block that is none."""
    return PAGE.format(query=query, dump=dump)


def test_an_answer_is_made_anew(tmp_path: Path) -> None:
    """In the place of what stood there, and nothing else changes; made again, the page is the same."""
    history = History()
    history.alloc([5], "request:1")
    history.write(tmp_path, "one.jsonl.zst")
    made = answered(page("SELECT page, owner FROM page_life"), tmp_path)
    assert page("SELECT page, owner FROM page_life").replace(
        "stale\n", "page  owner\n----  ---------\n   5  request:1\n(1 row)\n"
    ) == (made)
    assert made == answered(made, tmp_path)


def test_a_query_that_fails_is_named_by_its_line(tmp_path: Path) -> None:
    """So that whoever changes a column finds the example."""
    History().write(tmp_path, "one.jsonl.zst")
    with pytest.raises(BrokenExample, match=r"line 4: .*nothing"):
        answered(page("SELECT nothing FROM event"), tmp_path)


def test_a_question_needs_a_dump(tmp_path: Path) -> None:
    """A page that names none before its first query is refused."""
    with pytest.raises(BrokenExample, match="line 2: the page names no dump"):
        answered(page("FROM event").partition("\n\n")[2], tmp_path)


def test_the_dumps_that_come_with_the_pages_are_whole_and_small() -> None:
    """Complete, with the checksum that they tell, and without paths or ids of the machine that ran them."""
    shipped = sorted(DUMPS.glob("*.zst"))
    assert ["no-room", "stale-rows", "unfenced-release", "unordered-publish"] == [
        path.name.removesuffix(".jsonl.zst") for path in shipped
    ]
    assert sum(path.stat().st_size for path in shipped) < 200 << 10
    for path in shipped:
        frame = open_source(str(path)).frame()
        assert frame.intact
        assert not {"pid", "boot_id"} & set(frame.header["ring"])
        assert "record_dir" not in frame.header["config"]


def test_the_page_names_everything_public() -> None:
    """Each table and view, and each macro with its parameters, stands in the table of topics."""
    _, _, topics = (DOCS / "sql.md").read_text(encoding="utf-8").partition("## What there is, by topic")
    topics = topics.partition("They join on these")[0]
    missing = [
        found.name
        for found in described()
        if f"`{found.name}`" not in topics and f"`{found.name}({parameters(found.parameters)})`" not in topics
    ]
    assert [] == missing


def parameters(given: tuple[str, ...]) -> str:
    """As a call names them."""
    return ", ".join(one.partition(" :=")[0] for one in given)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["no-room", "unordered-publish", "stale-rows", "unfenced-release"])
def test_a_dump_is_what_its_scenario_records(name: str) -> None:
    """Event by event, times and keyed digests apart; an engine that changed asks for `make dumps`."""
    dumps = module("dumps")
    (scenario,) = (one.scenario for one in dumps.SHIPPED if one.name == name)
    kept = open_source(str(DUMPS / f"{name}.jsonl.zst")).lines().file
    kept.seek(0)
    assert told(kept.read()) == told(dumps.anonymous(dumps.recorded(scenario)))


def told(dump: bytes) -> list[dict[str, object]]:
    """The lines behind the header, without what differs from run to run."""
    lines = [orjson.loads(line) for line in dump.splitlines()[1:-1]]
    return [{name: value for name, value in line.items() if name not in OF_THE_RUN} for line in lines]


def module(name: str) -> ModuleType:
    """A script of `docs/`, which is no package."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found
