"""Reads a report's Markdown as GitHub would, far enough to tell whether a text of the dump does something."""

import re
from collections.abc import Iterator

ISSUE_MAX = 65_536
CODE = re.compile(r"(?<![\\`])`[\w .,:;=()'\"*+-]+`(?!`)")
"""A span of code in which nothing can be anything else."""


def unfenced(text: str) -> Iterator[str]:
    """The lines that are not between fences; a fence ends with no fewer backticks than it began with."""
    open_fence = ""
    for line in text.splitlines():
        found = re.match(r"`{3,}", line)
        if open_fence:
            if found and len(found[0]) >= len(open_fence) and not line.strip("`"):
                open_fence = ""
        elif found:
            open_fence = found[0]
        else:
            yield line
    assert not open_fence


def check(text: str) -> None:
    """No tag but ours, nobody called, no link, no fence that ends early; and it fits an issue."""
    assert len(text) < ISSUE_MAX
    outside = CODE.sub("", "\n".join(unfenced(text)))
    tags = set(re.findall(r"<[^>\n]*>", outside))
    assert tags <= {"<br>", "<details>", "</details>", "<summary>", "</summary>", "<b>", "</b>"}
    assert not re.search(r"@\w|(?<![&])#\d|://|www\.\w", outside)
    assert not re.search(r"(?<!\\)[`~$]", outside)
    assert not re.search(r"(?<!\\)(?:\\\\)*!?\[[^\]]*(?<!\\)\]\(", outside)
    assert not [line for line in outside.splitlines() if re.match("#(?!##? [a-zA-Z])", line)]
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", text)
    text.encode()
