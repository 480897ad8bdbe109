"""The registries that npm of this machine is configured with, read without running it.

What counts, the strongest first (`npm help config`): variables named `npm_config_...`, the file of the user, the one
for everybody, the one that npm brings along, and npm's own default, which is read from its source.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from runner.network.authorities import Authorities

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.network.config_files import Surroundings

FILE = ".npmrc"
_PREFIX = "npm_config_"
_CERTIFICATES = ("ca", "ca[]", "cafile")
_VARIABLE = re.compile(r"\$\{([^${}?]++)(\??)\}")
_DEFINITIONS = (
    "node_modules/@npmcli/config/lib/definitions/definitions.js",
    "../@npmcli/config/lib/definitions/definitions.js",
    "lib/utils/config/definitions.js",
    "lib/config/defaults.js",
)
"""Where npm's source names its default, below its folder; by version and by how it is packaged."""
_DEFAULT = re.compile(r"(?:'registry', \{\s{0,99}default:|\bregistry:)\s{0,9}'(https?://[^'\s]{1,300})'")


def settings(around: Surroundings) -> dict[str, str]:
    """Return npm's settings that name registries, credentials or certificates for them, as they count in the end."""
    folder = _folder(around)
    variables = _variables(around.environ)
    brought = _read(around, folder / "npmrc") if folder else {}
    user = _read(around, Path(variables.get("userconfig") or around.home / FILE))
    everybody = _read(around, _global_file(around, {**user, **variables}))
    found = {**brought, **everybody, **user, **variables}
    if not found.get("registry") and folder and (default := _default(around, folder)):
        found["registry"] = default
    return {name: value for name, value in found.items() if _matters(name)}


def built_in(around: Surroundings) -> str:
    """Return the registry that an installed npm has by default; empty without an npm that says it."""
    folder = _folder(around)
    return _default(around, folder) if folder else ""


def authorities(around: Surroundings, found: Mapping[str, str]) -> Authorities:
    """Return what npm trusts: its settings `cafile` and `ca`, and what Node.js adds."""
    named = (found.get("cafile", ""), around.environ.get("NODE_EXTRA_CA_CERTS", ""))
    written = (found[name].replace("\\n", "\n") for name in ("ca", "ca[]") if "-----BEGIN" in found.get(name, ""))
    return Authorities(tuple(around.path(one) for one in dict.fromkeys(named) if one), "\n".join(written))


def registries(found: Mapping[str, str]) -> dict[str, str]:
    """Return the URLs of registries by scope, the one for all packages under ''."""
    named = {name.removesuffix("registry").removesuffix(":"): url for name, url in found.items() if _is_registry(name)}
    return {scope: named[scope] for scope in sorted(named) if named[scope]}


def _matters(name: str) -> bool:
    return name.startswith("//") or _is_registry(name) or name in _CERTIFICATES


def _is_registry(name: str) -> bool:
    return name == "registry" or (name.startswith("@") and name.endswith(":registry"))


def _variables(environ: Mapping[str, str]) -> dict[str, str]:
    found = {}
    for name, value in environ.items():
        if name.lower().startswith(_PREFIX) and value:
            key = name[len(_PREFIX) :]
            found[key if key.startswith("//") else key[:1] + key[1:].replace("_", "-").lower()] = value
    return {(key if key.startswith("//") else key.lower()): value for key, value in found.items()}


def _folder(around: Surroundings) -> Path | None:
    """Return the folder of the installed npm: its program is `bin/npm-cli.js` in there."""
    program = around.program("npm")
    return program.resolve().parent.parent if program else None


def _global_file(around: Surroundings, found: Mapping[str, str]) -> Path:
    if named := found.get("globalconfig"):
        return Path(named)
    node = around.program("node")
    prefix = found.get("prefix") or around.environ.get("PREFIX") or (node.resolve().parent.parent if node else "/usr")
    return Path(prefix) / "etc" / "npmrc"


def _default(around: Surroundings, folder: Path) -> str:
    for place in _DEFINITIONS:
        if found := _DEFAULT.search(around.text(folder / place)):
            return found[1]
    return ""


def _read(around: Surroundings, path: Path) -> dict[str, str]:
    """Return the settings in a file of npm's form: `name = value` lines; sections have no meaning there."""
    found: dict[str, str] = {}
    for line in around.text(path).splitlines():
        if line.lstrip().startswith("["):
            break
        name, equals, value = line.partition("=")
        if equals and not name.lstrip().startswith((";", "#")):
            key, said = (_replaced(one, around.environ) for one in (name.strip(), _value(value.strip())))
            # A list is written as several lines with the same name.
            found[key] = f"{found[key]}\n{said}" if key.endswith("[]") and key in found else said
    return found


def _value(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    for mark in (" ;", " #"):
        text = text.partition(mark)[0]
    return text.strip()


def _replaced(text: str, environ: Mapping[str, str]) -> str:
    """Return `text` with `${NAME}` replaced; one that is not set stays, and with `?` is empty."""
    return _VARIABLE.sub(lambda found: environ.get(found[1], "" if found[2] else found[0]), text)
