"""The event schema: which kinds exist, and where each named field lies in a 64-byte record.

A record has the slots `a b c d e` (32 bits) and `x y` (64 bits). A kind gives them names. What does not
fit follows as 32-bit words in payload slots: first single words (`w0`, `w1`), then sections of rows of
fixed width; or as UTF-8 JSON, an object that is merged into the event. All bits set means absent. Text
is an index into the ring's table of words.

The schema is written into every ring, and a ring is decoded by the schema that it carries, so that a
later version reads an older ring. It says nothing about what events mean.
"""

from dataclasses import asdict, dataclass
from typing import Any, Literal

VERSION = 1
"""Of the ring file. It grows when an older reader would read a newer ring wrongly."""

PAYLOAD_BIT = 1 << 63
"""Set in the `seq` of slots that carry payload."""
WORDS_A_SLOT = 14
BYTES_A_SLOT = 56
ABSENT32 = 0xFFFFFFFF
ABSENT64 = 0xFFFFFFFFFFFFFFFF

FORM_NONE, FORM_WORDS, FORM_JSON = 0, 1, 2
"""Bits 0 and 1 of `flags`: what follows the record."""

FIXED_WORDS = (
    "",
    "read",
    "write",
    "begin",
    "commit",
    "abort",
    "valid",
    "page",
    "free",
    "held",
    "retired",
    "request",
    "prefix",
    "snapshot",
    "transfer",
    "reserved",
    "checkpoint",
    "inbound",
    "host",
)
"""Words with the same index in every ring, so that writers can compare numbers."""
WORD = {word: index for index, word in enumerate(FIXED_WORDS)}

FieldType = Literal["int", "text", "hex", "flag", "holder"]
"""`hex`: 16 digits. `flag`: true or absent. `holder`: kind in the slot, number in `x`."""


@dataclass(frozen=True, slots=True)
class Field:
    """A named field: slot `a` to `e`, `x`, `y`, or payload word `w0`, `w1`."""

    name: str
    slot: str
    type: FieldType = "int"


@dataclass(frozen=True, slots=True)
class Section:
    """Rows of payload words. `count` is the slot that holds their number, or `rest`."""

    name: str
    shape: str
    count: str = "rest"


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of event."""

    name: str
    code: int
    fields: tuple[Field, ...]
    sections: tuple[Section, ...] = ()
    single: bool = False
    """One page stands in the fields `page` and `life`; several stand in the section instead."""

    @property
    def by_host(self) -> bool:
        """The host is the actor, which no field says."""
        return all(field.name != "actor" for field in self.fields)

    @property
    def lead_words(self) -> int:
        """How many single words come before the sections."""
        slots = [field.slot for field in self.fields] + [section.count for section in self.sections]
        return len({slot for slot in slots if slot.startswith("w")})


SHAPES: dict[str, tuple[str, ...]] = {
    "pairs": ("page", "life"),
    "entries": ("index", "page", "life"),
    "extents": ("page", "life", "first", "end"),
    "slots": ("slot", "page", "life"),
    "named": ("index", "page"),
    "ranges": ("page", "first", "end"),
    "uses": ("row", "generation", "start", "end", "walked", "covers:text"),
    "texts": ("text:text",),
    "keyframe_pages": ("page", "life", "state:text", "holders:count"),
    "keyframe_holders": ("kind:text", "id", "mode:text"),
}
"""Columns of a section's rows. `uses` and `keyframe_pages` become objects, the others lists."""


@dataclass(frozen=True, slots=True)
class Schema:
    """All kinds, by code and by name."""

    kinds: tuple[Kind, ...]
    shapes: dict[str, tuple[str, ...]]

    def by_code(self) -> dict[int, Kind]:
        """The kinds by their numeric code."""
        return {kind.code: kind for kind in self.kinds}

    def to_json(self) -> dict[str, Any]:
        """Plain data for the ring's header."""
        return {"kinds": [asdict(kind) for kind in self.kinds], "shapes": self.shapes}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Schema":
        """What `to_json` gave. KeyError or TypeError when it is something else."""
        kinds = tuple(
            Kind(
                name=kind["name"],
                code=kind["code"],
                fields=tuple(Field(**field) for field in kind["fields"]),
                sections=tuple(Section(**section) for section in kind["sections"]),
                single=kind["single"],
            )
            for kind in data["kinds"]
        )
        return cls(kinds, {name: tuple(columns) for name, columns in data["shapes"].items()})


def _kind(code: int, name: str, fields: str, *sections: Section, single: bool = False) -> Kind:
    """`fields` is written `name=slot` or `name=slot:type`, in the order in which a dump shows them."""
    parsed = []
    for item in fields.split():
        field, place = item.split("=")
        slot, _, kind = place.partition(":")
        parsed.append(Field(field, slot, kind or "int"))  # type: ignore[arg-type]
    return Kind(name, code, tuple(parsed), sections, single)


_PAGES = Section("pages", "pairs")
_AT = "launch=x stream=a ordinal=y kernel=b:text"
_PLAN = "transaction=x positions=y"
_STATE = (Section("ranges", "ranges", "a"), Section("pages", "pairs"))
_BLOCK = "launch=x stream=a offset=c bytes=d capacity=y room=e"

SCHEMA = Schema(
    (
        _kind(1, "alloc", "page=a life=b holder=c:holder pool=d", _PAGES, single=True),
        _kind(2, "hold", "page=a life=b holder=c:holder mode=d:text", _PAGES, single=True),
        _kind(3, "drop", "page=a life=b holder=c:holder mode=d:text", _PAGES, single=True),
        _kind(4, "retire", "page=a life=b fence=x", _PAGES, single=True),
        _kind(5, "free", "page=a life=b", _PAGES, single=True),
        _kind(
            6,
            "keyframe",
            "set=a",
            Section("pages", "keyframe_pages", "b"),
            Section("holders", "keyframe_holders"),
        ),
        _kind(7, "keyframe_row", "set=a row=b generation=c request=x epoch=d", Section("entries", "entries")),
        _kind(8, "keyframe_end", "set=a pages=b rows=c"),
        _kind(10, "row_acquire", "row=a generation=b request=x"),
        _kind(11, "row_release", "row=a generation=b request=x"),
        _kind(12, "map", "row=c generation=d index=e page=a life=b", _PAGES, single=True),
        _kind(13, "unmap", "row=c generation=d index=e page=a life=b", _PAGES, single=True),
        _kind(14, "stage", "staging=a bytes=x"),
        _kind(
            20,
            "launch",
            f"{_AT} phase=c:text step=d class=w2:text",
            Section("uses", "uses", "e"),
            Section("reads", "extents", "w0"),
            Section("writes", "extents", "w1"),
            Section("resources", "texts"),
        ),
        _kind(
            21,
            "publish",
            f"{_AT} row=c generation=d epoch=e staging=w0",
            Section("entries", "entries"),
        ),
        _kind(22, "copy", _AT, Section("source", "extents", "c"), Section("target", "extents")),
        _kind(23, "clear", f"{_AT} all=c:flag pages=d", Section("target", "extents")),
        _kind(24, "copy_plan", _PLAN, Section("source", "extents", "a"), Section("target", "extents")),
        _kind(25, "copy_done", _PLAN, Section("source", "extents", "a"), Section("target", "extents")),
        _kind(30, "fence_record", "fence=x stream=a ordinal=y"),
        _kind(31, "fence_wait", "fence=x stream=a record_seq=y"),
        _kind(32, "fence_passed", "fence=x stream=a device=b:flag"),
        _kind(40, "insert", "node=a digest=x:hex parent=b identity=y positions=c", _PAGES),
        _kind(41, "evict", "node=a", _PAGES),
        _kind(42, "match", "request=c node=a digest=x:hex identity=y hit_tokens=d lookup_ns=e", _PAGES),
        _kind(43, "snapshot_alias", "snapshot=x", *_STATE),
        _kind(44, "snapshot_release", "snapshot=x", *_STATE),
        _kind(45, "snapshot_save", "snapshot=x request=y launch=b positions=c", *_STATE),
        _kind(46, "snapshot_restore", "snapshot=x request=y launch=b positions=c", *_STATE),
        _kind(50, "arrive", "request=x prompt_tokens=a max_tokens=b"),
        _kind(
            51,
            "schedule",
            "request=x row=a phase=b:text step=c scheduled_tokens=d computed_tokens=e pages=y",
        ),
        _kind(52, "preempt", "request=x row=a step=b reason=c:text"),
        _kind(53, "finish", "request=x row=a reason=c:text"),
        _kind(54, "fail", "request=x row=a"),
        _kind(60, "transaction", "op=b:text transaction=y row=a request=x frontier=c"),
        _kind(61, "workspace_plan", _BLOCK),
        _kind(62, "workspace_alloc", _BLOCK),
        _kind(63, "workspace_free", _BLOCK),
        _kind(64, "offload", _AT, Section("entries", "slots")),
        _kind(65, "load", _AT, Section("entries", "slots")),
        _kind(66, "host_write", "", Section("writes", "extents")),
        _kind(
            67,
            "external_begin",
            "actor=b:text transaction=y",
            Section("reads", "extents", "c"),
            Section("writes", "extents"),
        ),
        _kind(68, "external_done", "actor=b:text transaction=y"),
        _kind(70, "nonfinite", "launch=x request=y row=a position=b layer=c class=d:text", _PAGES),
        _kind(71, "error", ""),
        _kind(
            72,
            "guard",
            "launch=x row=a generation=b walked=c page=d position=e",
            Section("entries", "named"),
        ),
    ),
    SHAPES,
)
"""Codes left for the kinds still to come: 55-56 drafts."""

CODE = {kind.name: kind.code for kind in SCHEMA.kinds}
