"""The six synthetic reproducers that ran clean for the reporter of Neroued/ninfer#210, at the size of a test.

Their outputs are right also with the bug planted, as long as luck holds: nothing that they show is a proof.
Sizes are in tokens of any model's tokenizer; with `tiny-random`, whose tokens are bytes, histories are
longest.
"""

import json
from typing import Any

from tracert.scenarios.prompts import exactly, joined
from tracert.scenarios.scenario import Reproducer
from tracert.scenarios.workload import Call, Conversation, Script, Send, Turn, Workload

PAGE = 16
_TOPICS = ("tides", "bread", "glass", "maps", "clocks", "bees")


def _tool(name: str, argument: str) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {argument: {"type": "string"}}, "required": [argument]}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


_TOOLS = (_tool("read_file", "path"), _tool("run_tests", "folder"))


def _user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def _result(call: Call, text: str) -> dict[str, str]:
    return {"role": "tool", "tool_call_id": call.id, "content": text}


def _agent(name: str, tasks: int, systems: tuple[str, ...] = (), reasoning: bool = False) -> Conversation:
    """An agent that reads a file, runs the tests and reports, for each task."""
    turns: list[Turn] = []
    for task in range(tasks):
        topic = _TOPICS[task % len(_TOPICS)]
        read = Call(f"call-{task}-read", "read_file", json.dumps({"path": f"{topic}.py"}))
        test = Call(f"call-{task}-test", "run_tests", json.dumps({"folder": topic}))
        system = systems[task % len(systems)] if systems else None
        think = f"The bug must be in {topic}." if reasoning else ""
        turns += [
            Turn((_user(f"Fix {topic}."),), calls=(read,), reasoning=think, system=system),
            Turn((_result(read, f"def {topic}(): return {task}"),), calls=(test,), reasoning=think),
            Turn((_result(test, f"{task} failed"),), reasoning=think),
        ]
    return Conversation(name, systems[0] if systems else "You mend code.", tuple(turns), tools=_TOOLS)


SATURATED_CACHE = Reproducer(
    note="prompts that fill the prefix cache many times over, one of them asked again and again",
    options={"kv_pages": 64, "max_num_seqs": 2, "max_model_len": 512},
    workload=Workload(
        scripts=(
            Script(
                name="filler",
                sends=tuple(
                    Send(name, joined(f"{name}: ", exactly(f"all about {topic}, ", 160)), max_tokens=4)
                    for topic in _TOPICS
                    for name in (f"{topic}-1", f"{topic}-2")
                ),
                repeats=2,
            ),
            Script(
                name="regular",
                sends=(Send("again", exactly("The same question as before. ", 100), max_tokens=4),),
                repeats=12,
                starts=1,
            ),
        )
    ),
)

SIXTY_TURNS = Reproducer(
    note="one conversation of 60 turns that only grows",
    options={"kv_pages": 512, "max_num_seqs": 2, "max_model_len": 8000, "retain": 2},
    workload=Workload(
        conversations=(
            Conversation(
                "monotonic", "Count.", tuple(f"And after {number}?" for number in range(60)), stream=False
            ),
        ),
        answer_tokens=3,
    ),
)

TOOLS_AND_THINKING = Reproducer(
    note="tools, streamed answers, and thinking that stays in the history",
    options={"kv_pages": 512, "max_num_seqs": 2, "max_model_len": 4096, "retain": 2},
    workload=Workload(
        conversations=(_agent("thinker", tasks=3, reasoning=True),), answer_tokens=8, preserve_thinking=True
    ),
)

TWO_LANES = Reproducer(
    note="two conversations at once",
    options={"kv_pages": 512, "max_num_seqs": 2, "max_model_len": 4096},
    workload=Workload(
        conversations=tuple(
            Conversation(
                name, f"You know about {name}.", tuple(f"Tell me fact {n} of {name}." for n in range(8))
            )
            for name in _TOPICS[:2]
        ),
        answer_tokens=12,
    ),
)

ROTATING_SYSTEMS = Reproducer(
    note="system prompts in rotation, tool calls and the role tool",
    options={
        "kv_pages": 512,
        "max_num_seqs": 3,
        "max_model_len": 4096,
        "prefix_cache": "radix",
        "retain": 4,
    },
    workload=Workload(
        conversations=(
            _agent("rotating", tasks=4, systems=tuple(f"You mend {topic}." for topic in _TOPICS[:3])),
            _agent("steady", tasks=3),
        ),
        answer_tokens=6,
    ),
)


def _grown(turn: int) -> Send:
    """25 pages and 9 tokens more, as 114,281 = 41 (mod 64): no turn begins at a page's edge."""
    text = "It went on and on, for the path was long. "
    return Send(f"grown-{turn}", exactly(text, 25 * PAGE + 9 + 37 * turn), max_tokens=6)


def _other(turn: int) -> Send:
    """Takes the room of what was cached."""
    return Send(f"other-{turn}", exactly(f"{turn} is another thing. ", 250), max_tokens=4)


UNALIGNED_TAIL = Reproducer(
    note="a prefix that ends inside a page, grown again and again, a full host tier, a small side lane",
    options={
        "kv_pages": 72,
        "max_num_seqs": 2,
        "max_model_len": 1024,
        "prefix_cache": "radix",
        "stage_copies": True,
        "retain": 1,
        "host_kv": "64K",
    },
    workload=Workload(
        scripts=(
            Script(
                name="grown",
                sends=tuple(send for turn in range(8) for send in (_grown(turn), _other(turn))),
            ),
            Script(
                name="side",
                sends=tuple(
                    Send(f"side-{turn}", f"A short question, number {turn}.", max_tokens=5, pause=4)
                    for turn in range(10)
                ),
                beside="grown-0",
            ),
        )
    ),
)

NINFER_REPRODUCERS = {
    "saturated-cache": SATURATED_CACHE,
    "sixty-turns": SIXTY_TURNS,
    "tools-and-thinking": TOOLS_AND_THINKING,
    "two-lanes": TWO_LANES,
    "rotating-systems": ROTATING_SYSTEMS,
    "unaligned-tail": UNALIGNED_TAIL,
}
