"""Checks the form of a tool call's arguments: known names, right types, bounded and clean text."""

from __future__ import annotations

import difflib
import math
from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from runner.gateway import catalog, origin
from runner.model.errors import Refused
from runner.model.languages import canonical
from runner.model.request import Language, Tool
from runner.model.submission import Submission
from runner.model.workspace import WORKSPACE

if TYPE_CHECKING:
    from collections.abc import Mapping

DEEPEST = 64
"""Levels of nesting in `context`; far below where Python's own recursion ends."""
LARGEST = 1e12
"""Larger than any meaningful limit; keeps later arithmetic in range."""
MOST_DOMAINS = 100
LONGEST_DOMAIN = 262
"""Characters of `*.`, a host name (RFC 1035, 2.3.4: 255 bytes on the wire), `.` and a port."""
LONGEST_NAME = 200
"""Characters of an argument's or tool's name that are repeated in an error."""

KNOWN = {tool: tuple(schema["properties"]) for tool, schema in catalog.SCHEMAS.items()}
KINDS = {str: "a text", bool: "true or false", dict: "an object", list: "a list", type(None): "null"}


class Arguments:
    """The arguments of one call. Every method raises Refused, naming the invalid argument."""

    def __init__(self, tool: str, given: Mapping[str, object] | None) -> None:
        self._given = given or {}
        for name in self._given:
            if name not in KNOWN[tool]:
                raise Refused(f"{tool} has no argument {_quoted(name)}.", _advice(name, KNOWN[tool]))
        for name, value in self._given.items():
            _check_text(name, value)

    def text(self, name: str) -> str | None:
        value = self._given.get(name)
        if value is None or isinstance(value, str):
            return value
        raise _wrong(name, "a text", value)

    def required(self, name: str) -> str:
        value = self.text(name)
        if value is None:
            raise Refused(f"{name} is missing.", f"Give {name} as a text.")
        return value

    def number(self, name: str) -> float | None:
        value = self._given.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise _wrong(name, "a number", value)
        # Compared before anything is converted: an int can be too large for a float.
        if not -LARGEST < value < LARGEST:
            what = "infinite" if isinstance(value, float) and math.isinf(value) else "not a usable number"
            raise Refused(f"{name} is {what}.", "Give an ordinary number.")
        return float(value)

    def whole(self, name: str) -> int | None:
        value = self.number(name)
        if value is None:
            return None
        if not value.is_integer():
            raise Refused(f"{name} is {value:g}; it must be a whole number.", "Round it and call again.")
        return int(value)

    def flag(self, name: str) -> bool | None:
        """Return None where it is not given."""
        value = self._given.get(name)
        if value is None or isinstance(value, bool):
            return value
        raise _wrong(name, "true or false", value)

    def texts(self, name: str) -> tuple[str, ...]:
        value = self._given.get(name)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise _wrong(name, "a list of texts", value)
        if len(value) > MOST_DOMAINS:
            raise Refused(f"{name} has {len(value)} entries; at most {MOST_DOMAINS} are taken.", "Shorten the list.")
        if any(len(item) > LONGEST_DOMAIN for item in value):
            raise Refused(f"{name} has an entry of over {LONGEST_DOMAIN} characters.", "Send names of hosts.")
        return tuple(value)

    def table(self, name: str) -> dict[str, object] | None:
        value = self._given.get(name)
        if value is None or isinstance(value, dict):
            return value
        raise _wrong(name, "an object", value)


def submission(agent: str, tool: Tool, given: Mapping[str, object] | None) -> Submission:
    """Return the submission of a call. Raises Refused. Sizes and limits are checked later, by intake."""
    arguments = Arguments(tool, given)
    made = _submission(agent, tool, arguments)
    said = (arguments.text(name) for name in catalog.CLAIM)
    return replace(made, claim=origin.claim(*said))


def _submission(agent: str, tool: Tool, arguments: Arguments) -> Submission:
    """Return the submission without what the agent says about it. Raises Refused."""
    match tool:
        case Tool.CODE_EXECUTE:
            return _code(agent, arguments)
        case Tool.CODE_SANDBOX_INFO:
            return Submission(agent, tool)
        case Tool.CODE_CREATE_SANDBOX:
            return Submission(
                agent,
                tool,
                language=_language(arguments.required("language")),
                title=arguments.text("title") or "",
                memory_mb=arguments.whole("max_memory_mb"),
                disk_mb=arguments.whole("max_disk_mb"),
                network_enabled=arguments.flag("network_enabled"),
                allowed_domains=_domains(arguments),
            )
        case Tool.CODE_DESTROY_SANDBOX:
            return Submission(agent, tool, sandbox_id=arguments.required("sandbox_id"))
        case Tool.CODE_INSTALL_PACKAGE:
            return Submission(
                agent,
                tool,
                title=arguments.text("title") or "",
                sandbox_id=arguments.required("sandbox_id"),
                packages=(arguments.required("package"),),
                registry=arguments.text("registry") or "",
                network_enabled=arguments.flag("network_enabled"),
                allowed_domains=_domains(arguments),
            )
        case Tool.CODE_LIST_FILES:
            return _file(agent, tool, arguments, arguments.text("path") or WORKSPACE)
        case Tool.CODE_READ_FILE | Tool.CODE_WRITE_FILE:
            return _file(agent, tool, arguments, arguments.required("file_path"))
        case Tool.CLIENT_SHELL | Tool.CLIENT_EDIT | Tool.CLIENT_FETCH | Tool.CLIENT_TOOL:
            # These come by `approve` alone.
            raise Refused(f"There is no tool {tool.value}.", "Call approve.")
        case _:
            assert_never(tool)


def _file(agent: str, tool: Tool, arguments: Arguments, path: str) -> Submission:
    writes, reads = tool is Tool.CODE_WRITE_FILE, tool is Tool.CODE_READ_FILE
    return Submission(
        agent,
        tool,
        title=arguments.text("title") or "",
        sandbox_id=arguments.required("sandbox_id"),
        file_path=path,
        content=arguments.required("content") if writes else "",
        executable=writes and bool(arguments.flag("executable")),
        offset=(arguments.whole("offset") or 0) if reads else 0,
        max_bytes=arguments.whole("max_bytes") if reads else None,
    )


def _domains(arguments: Arguments) -> tuple[str, ...]:
    domains = arguments.texts("allowed_domains")
    if domains and not arguments.flag("network_enabled"):
        raise Refused("allowed_domains is given without network_enabled.", "Set network_enabled to true as well.")
    return domains


def _code(agent: str, arguments: Arguments) -> Submission:
    return Submission(
        agent=agent,
        tool=Tool.CODE_EXECUTE,
        language=_language(arguments.required("language")),
        code=arguments.required("code"),
        title=arguments.text("title") or "",
        timeout=arguments.number("timeout"),
        memory_mb=arguments.whole("max_memory_mb"),
        disk_mb=arguments.whole("max_disk_mb"),
        max_output_bytes=arguments.whole("max_output_bytes"),
        context=arguments.table("context"),
        stdin=arguments.text("stdin") or "",
        sandbox_id=arguments.text("sandbox_id") or "",
        packages=arguments.texts("packages"),
        network_enabled=arguments.flag("network_enabled"),
        allowed_domains=_domains(arguments),
    )


def _language(name: str) -> Language:
    try:
        return Language(canonical(name[:LONGEST_NAME]))
    except ValueError:
        raise Refused(
            f"language is {_quoted(name)}, which Assent does not run.",
            f"Use one of {', '.join(Language)}, where the settings have it.",
        ) from None


def _check_text(name: str, value: object) -> None:
    """Raise Refused for a NUL or a lone surrogate anywhere in `value`, and for nesting deeper than `DEEPEST`."""
    level: list[object] = [value]
    for _ in range(DEEPEST):
        below: list[object] = []
        for item in level:
            if isinstance(item, str):
                _check_characters(name, item)
            elif isinstance(item, dict):
                below.extend(item.keys())
                below.extend(item.values())
            elif isinstance(item, list):
                below.extend(item)
        if not below:
            return
        level = below
    raise Refused(f"{name} is nested deeper than {DEEPEST} levels.", "Send flatter data.")


def _check_characters(name: str, text: str) -> None:
    if (place := text.find("\0")) >= 0:
        raise Refused(f"{name} contains a NUL character at {place}.", "Remove it; no interpreter takes it.")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise Refused(f"{name} is not valid Unicode at character {error.start}.", "Send valid UTF-8.") from None


def _wrong(name: str, wanted: str, value: object) -> Refused:
    kind = KINDS.get(type(value), "a number")
    return Refused(f"{name} must be {wanted}, not {kind}.", "Change it and call again.")


def _advice(name: str, known: tuple[str, ...]) -> str:
    if close := difflib.get_close_matches(name[:LONGEST_NAME], known, 1):
        return f"Did you mean {close[0]}?"
    return f"It has {', '.join(known)}." if known else "It takes no arguments."


def _quoted(name: str) -> str:
    """Return a name from an agent, shortened, with unprintable characters escaped."""
    return ascii(name[:LONGEST_NAME])
