"""Chat templates: Jinja, in a sandbox, with the names and settings that templates for transformers expect.

They are: `raise_exception`, `strftime_now`, `tojson` without HTML escapes, loop controls, trimmed blocks, and
the `generation` block, which only marks text.
"""

import datetime
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import TemplateError, nodes
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from tracert.models.config_hf import read_json_object
from tracert.models.errors import ChatError, ConfigError, TokenizerError

SPECIAL = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")

AGENT = (
    "{% if tools %}<|im_start|>tools\n"
    "{% for tool in tools %}{{ tool | tojson }}\n{% endfor %}<|im_end|>\n"
    "{% endif %}"
    "{% set last = namespace(user=-1) %}"
    "{% for message in messages %}{% if message.role == 'user' %}"
    "{% set last.user = loop.index0 %}"
    "{% endif %}{% endfor %}"
    "{% for message in messages %}<|im_start|>{{ message.role }}\n"
    "{% if message.reasoning_content and (preserve_thinking or loop.index0 > last.user) %}"
    "<think>\n{{ message.reasoning_content }}\n</think>\n\n"
    "{% endif %}"
    "{% if message.role == 'tool' %}<tool_response>\n{{ message.content }}\n</tool_response>"
    "{% else %}{{ message.content }}{% endif %}"
    "{% for call in message.tool_calls %}"
    '\n<tool_call>\n{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}'
    "\n</tool_call>"
    "{% endfor %}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n"
    "{% endif %}"
)
"""The template of `tiny-random`: roles between `<|im_start|>` and `<|im_end|>`, tools, their calls and
results, and the reasoning of the turn under way (with `preserve_thinking`, of every turn)."""


class _RefusedError(TemplateError):
    """A template called `raise_exception`."""


class _Generation(Extension):
    """`{% generation %}…{% endgeneration %}` yields what it encloses."""

    tags = {"generation"}  # noqa: RUF012 - jinja2 declares it so

    def parse(self, parser: Parser) -> list[nodes.Node]:
        """The nodes between the two tags."""
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


@dataclass(frozen=True, slots=True)
class ChatTemplate:
    """Templates by name, of which `default` is used, or `tool_use` when there are tools and it is there."""

    templates: Mapping[str, str]
    special_tokens: Mapping[str, str]
    """`bos_token` and so on, by those names."""
    where: str
    """Where the template was looked for, for error messages."""

    def source(self, tools: bool) -> str | None:
        """The template for a conversation with or without tools; None when there is none."""
        return self.templates.get("tool_use" if tools and "tool_use" in self.templates else "default")

    def render(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] | None = None,
        add_generation_prompt: bool = True,
        **kwargs: Any,
    ) -> str:
        """The prompt that the messages make. `kwargs` are further variables of the template.

        ChatError when there is no template, or it refuses these messages.
        """
        source = self.source(bool(tools))
        if source is None:
            raise ChatError(
                f"{self.where}: the model has no chat template; add a chat_template.jinja, "
                "or send a plain prompt to /v1/completions"
            )
        variables = {
            **self.special_tokens,
            **kwargs,
            "messages": messages,
            "tools": tools or None,
            "add_generation_prompt": add_generation_prompt,
        }
        variables.setdefault("documents", None)
        try:
            return _environment().from_string(source).render(variables)
        except _RefusedError as error:
            raise ChatError(f"the chat template refuses the messages: {_line(error)}") from error
        except Exception as error:
            # A template is a program of somebody else's: whatever it raises is its failure, not ours.
            raise ChatError(
                f"{self.where}: the chat template failed: {type(error).__name__}: {_line(error)}"
            ) from error


def read_chat_template(directory: Path) -> ChatTemplate:
    """The templates of a Hugging Face directory, none when it has none. TokenizerError for damaged JSON."""
    try:
        config = directory / "tokenizer_config.json"
        raw = read_json_object(config) if config.is_file() else {}
        special = directory / "special_tokens_map.json"
        tokens = {**(read_json_object(special) if special.is_file() else {}), **raw}
    except ConfigError as error:
        raise TokenizerError(str(error)) from error
    found = raw.get("chat_template")
    if isinstance(found, str):
        templates = {"default": found}
    else:
        listed = found if isinstance(found, list) else []
        templates = {
            entry["name"]: entry["template"] for entry in listed if {"name", "template"} <= set(entry)
        }
    files = {"default": directory / "chat_template.jinja"}
    files |= {path.stem: path for path in sorted((directory / "additional_chat_templates").glob("*.jinja"))}
    for name, path in files.items():
        if path.is_file():
            templates[name] = path.read_text(encoding="utf-8")
    return ChatTemplate(templates, _special_tokens(tokens), str(directory))


def _special_tokens(raw: Mapping[str, Any]) -> dict[str, str]:
    tokens: dict[str, str] = {}
    for name in SPECIAL:
        value = raw.get(name)
        text = value.get("content") if isinstance(value, dict) else value
        if isinstance(text, str):
            tokens[name] = text
    return tokens


def _environment() -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols", _Generation]
    )
    environment.filters["tojson"] = _tojson
    environment.globals["raise_exception"] = _raise_exception
    environment.globals["strftime_now"] = _strftime_now
    return environment


def _tojson(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    return json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )


def _raise_exception(message: str) -> None:
    raise _RefusedError(message)


def _strftime_now(layout: str) -> str:
    return datetime.datetime.now().strftime(layout)


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
