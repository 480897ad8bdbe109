"""Commands that install packages: pip, uv, npm and their kin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.risk.model.value import UNKNOWN, Value, text
from runner.risk.rules.packages import mistaken_for, name_of, source_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.risk.shell.command import Command


def script_runner(command: Command) -> Value | None:
    """npx -c, npm exec -c: a script as an option's value; npm install: packages."""
    options, operands = command.parsed()
    code = options.get("-c") or options.get("--call")
    if code is not None and code.texts:
        return command.script(code)
    if operands and operands[0].text in ("install", "i", "add", "isntall", "dlx", "exec"):
        _installs(command, "javascript", operands[1:], [options["--registry"]] if "--registry" in options else [])
    elif [operand.text for operand in operands[:2]] == ["pkg", "set"]:
        for operand in operands[2:]:
            if operand.text.startswith("scripts."):
                command.script(text(operand.text.partition("=")[2], labels=operand.labels))
    elif command.name == "npx" and "--no-install" not in options and "--no" not in options:
        _installs(command, "javascript", operands[:1], [])
    return None


REGISTRIES = (
    *("-i", "--index-url", "--extra-index-url", "-f", "--find-links", "--trusted-host", "--index", "--default-index"),
)


def python_packages(command: Command) -> Value | None:
    """pip, pipx, uv: packages, and where they are to come from."""
    options, operands = command.parsed()
    while operands and operands[0].text in ("pip", "tool"):
        operands = operands[1:]
    if operands and operands[0].text in ("install", "add", "download", "wheel", "run"):
        edited = [options[name] for name in ("-e", "--editable") if name in options]
        registries = [options[name] for name in REGISTRIES if name in options]
        _installs(command, "python", [*operands[1:], *edited], registries)
    return None


def _installs(command: Command, ecosystem: str, written: Sequence[Value], registries: Sequence[Value]) -> None:
    for one in written:
        known = one.exact or ""
        meant = mistaken_for(name_of(known, ecosystem), ecosystem)
        source = text(source_of(known, ecosystem).value) if known else UNKNOWN
        command.act("install", package=one, source=source, mistaken=text(meant) if meant else UNKNOWN)
    for registry in registries:
        command.act("install", registry=registry)
