"""How a model speaks, as far as the text of its chat template tells: tools, reasoning, their marks."""

from dataclasses import dataclass

from tracert.server import reasoning_parser, tool_scan

MARKS = (reasoning_parser.OPEN, reasoning_parser.CLOSE, tool_scan.OPEN, tool_scan.CLOSE)
"""Parts of an answer's text, also for models whose vocabulary has them as special tokens."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a template has a place for. What it does not mention, it would leave out silently."""

    reasoning: bool
    """Its model may think between `<think>` and `</think>` before it answers."""
    tools: bool
    """It tells the model about tools."""
    readable_calls: bool
    """Its model writes calls in a form that is read here."""
    call_history: bool
    """It writes earlier calls."""
    tool_results: bool
    """It has a role `tool`."""

    @classmethod
    def of(cls, template: str | None) -> "Dialect":
        """The dialect of a template, or of none."""
        text = template or ""
        return cls(
            reasoning=reasoning_parser.CLOSE in text or reasoning_parser.OPEN in text,
            tools="tools" in text,
            readable_calls=tool_scan.OPEN in text,
            call_history="tool_calls" in text,
            tool_results="'tool'" in text or '"tool"' in text,
        )


def ends_in_reasoning(prompt: str) -> bool:
    """Whether a rendered prompt has begun the reasoning for the model, as some templates do."""
    return prompt.rstrip().endswith(reasoning_parser.OPEN)
