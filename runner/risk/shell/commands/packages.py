"""Commands that install packages: pip, uv, npm and their kin."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.acts import Source
from runner.risk.model.value import UNKNOWN, Value, concatenate, text
from runner.risk.rules.packages import mistaken_for, name_of, source_of
from runner.risk.shell.commands.escapes import within

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from runner.risk.shell.command import Command, Handler


def script_runner(command: Command) -> Value | None:
    """npx -c, npm exec -c: a script as an option's value; npm install: packages."""
    options, operands = command.parsed()
    code = options.get("-c") or options.get("--call")
    if code is not None and code.texts:
        return command.script(code)
    if operands and operands[0].text in ("dlx", "exec"):
        _runs(command, "javascript", options.get("--package") or options.get("-p"), operands[1:])
    elif operands and operands[0].text in ("install", "i", "add", "isntall"):
        _installs(command, "javascript", operands[1:], [options["--registry"]] if "--registry" in options else [])
    elif [operand.text for operand in operands[:2]] == ["pkg", "set"]:
        for operand in operands[2:]:
            if operand.text.startswith("scripts."):
                command.script(text(operand.text.partition("=")[2], labels=operand.labels))
    elif command.name in ("npx", "bunx") and "--no-install" not in options and "--no" not in options:
        _runs(command, "javascript", options.get("--package") or options.get("-p"), operands)
    return None


OF_FILE = expression(
    r"(?:^|[/\ufffc.])[^/\s]{0,200}\.(?:deb|rpm|apk|snap|pkg|flatpak|flatpakref|zst|xz)$|^\.{0,2}/|^[^/]*\ufffc"
)
"""Operands of a package manager that are a file, and no name in its sources."""


def of_system(what: str = "", options: str = "") -> Handler:
    """Return the handler of a package manager of the system: packages that it installs from a file.

    `options` are those of which the values run something, in the language `what`.
    """
    run_by_options = within(what, options) if what else None

    def handle(command: Command) -> Value | None:
        _, operands = command.parsed()
        for one in operands:
            if OF_FILE.search(one.text) and Source.DOWNLOADED in command.shell.nested.origin(one):
                command.act("install", package=one, source=text("downloaded"))
        return run_by_options(command) if run_by_options is not None else None

    return handle


REGISTRIES = (
    *("-i", "--index-url", "--extra-index-url", "-f", "--find-links", "--trusted-host", "--index", "--default-index"),
)


def python_packages(command: Command) -> Value | None:
    """pip, pipx, uv: packages, and where they are to come from."""
    options, operands = command.parsed()
    tool = command.name == "uvx" or (command.name in ("pipx", "uv") and [one.text for one in operands[:1]] == ["tool"])
    while operands and operands[0].text in ("pip", "tool"):
        operands = operands[1:]
    asked = operands[0].text if operands else ""
    if command.name == "uvx" or (asked == "run" and (tool or command.name == "pipx")):
        named = options.get("--from") or options.get("--spec")
        _runs(command, "python", named, operands if command.name == "uvx" else operands[1:])
    elif asked == "run":
        _installs(command, "python", [options["--with"]] if "--with" in options else [], [])
    elif asked in ("install", "add", "download", "wheel"):
        edited = [options[name] for name in ("-e", "--editable") if name in options]
        registries = [options[name] for name in REGISTRIES if name in options]
        for lists in (options[name] for name in ("-r", "--requirement") if name in options):
            command.act("install", listed=lists)
        _installs(command, "python", [*operands[1:], *edited], registries)
    return None


def _runs(command: Command, ecosystem: str, package: Value | None, operands: Sequence[Value]) -> None:
    """Note a package that is fetched, unless it is there already, to run what is in it: by its option or its name."""
    more = package is not None or len(operands) > 1
    line = concatenate((text(command.name), *command.arguments), " ") if more else UNKNOWN
    fields = {"runs": text("yes"), "line": line}
    _installs(command, ecosystem, [package] if package is not None else operands[:1], [], fields)


def _installs(
    command: Command,
    ecosystem: str,
    written: Sequence[Value],
    registries: Sequence[Value],
    fields: Mapping[str, Value] = MappingProxyType({}),
) -> None:
    """Note packages that are installed, and registries that they come from; `fields` say more of each package."""
    for one in written:
        known = one.exact or ""
        meant = mistaken_for(name_of(known, ecosystem), ecosystem)
        source = text(source_of(known, ecosystem).value) if known else UNKNOWN
        command.act("install", package=one, source=source, mistaken=text(meant) if meant else UNKNOWN, **fields)
    for registry in registries:
        command.act("install", registry=registry)
