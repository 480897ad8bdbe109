"""The interpreter that packages are chosen for: the one in the sandbox that will run the code, not this one."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from packaging import tags

from runner.model.errors import KnownError

if TYPE_CHECKING:
    from packaging.tags import Tag

PROBE = """
import json, os, platform, sys
def libc():
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (AttributeError, OSError, ValueError):
        return ""
print(json.dumps({
    "implementation_name": sys.implementation.name,
    "implementation_version": "%d.%d.%d" % sys.implementation.version[:3],
    "os_name": os.name,
    "platform_machine": platform.machine(),
    "platform_python_implementation": platform.python_implementation(),
    "platform_release": platform.release(),
    "platform_system": platform.system(),
    "platform_version": platform.version(),
    "python_full_version": "%d.%d.%d" % sys.version_info[:3],
    "python_version": "%d.%d" % sys.version_info[:2],
    "sys_platform": sys.platform,
    "abiflags": sys.abiflags,
    "libc": libc(),
}))
"""
"""Python code that prints what decides which wheels an interpreter can use."""
NODE_PROBE = """
const libc = process.report.getReport().header.glibcVersionRuntime ? 'glibc' : 'musl';
console.log(JSON.stringify({ os: process.platform, cpu: process.arch, node: process.versions.node, libc }));
"""
"""JavaScript code that prints what decides which packages of npm an interpreter can use."""
NAMES = (
    *("implementation_name", "implementation_version", "os_name", "platform_machine", "platform_release"),
    *("platform_python_implementation", "platform_system", "platform_version"),
    *("python_full_version", "python_version", "sys_platform"),
)
OLDEST_GLIBC = 5
"""Minor version of glibc 2 from which there are wheels (manylinux1)."""
_VERSION = re.compile(r"3\.\d{1,3}")
_LIBC = re.compile(r"glibc 2\.(\d{1,3})")
_MACHINE = re.compile(r"[a-z0-9_]{1,32}")
LONGEST = 300


@dataclass(frozen=True)
class PythonTarget:
    """What decides which wheels fit."""

    environment: dict[str, str] = field(hash=False)
    abiflags: str = ""
    libc: str = ""

    @classmethod
    def read(cls, printed: str) -> PythonTarget:
        """Return the target that printed this, which is a sandbox's word. Raises KnownError."""
        said = _said(printed)
        environment = {name: said.get(name, "") for name in NAMES}
        plain = _MACHINE.fullmatch(environment["platform_machine"])
        if not _VERSION.fullmatch(environment["python_version"]) or not plain:
            raise _unknown()
        return cls(environment, said.get("abiflags", "")[:4], said.get("libc", ""))

    @property
    def label(self) -> str:
        """In words."""
        return f"Python {self.environment['python_version']}, {self.environment['platform_machine']}"

    @cached_property
    def ranks(self) -> dict[Tag, int]:
        """The tags of wheels that fit, each with its place: a lower one fits better."""
        major, minor = map(int, self.environment["python_version"].split("."))
        interpreter = f"cp{major}{minor}"
        platforms = self._platforms()
        known = [
            *tags.cpython_tags((major, minor), [f"{interpreter}{self.abiflags}"], platforms),
            *tags.compatible_tags((major, minor), interpreter, platforms),
        ]
        return {tag: place for place, tag in reversed(list(enumerate(known)))}

    def _platforms(self) -> list[str]:
        """Names of the platform in wheels, the best first (PEP 600)."""
        machine = self.environment["platform_machine"]
        match = _LIBC.fullmatch(self.libc)
        if self.environment["sys_platform"] != "linux" or match is None:
            return []
        old = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}
        found = []
        for minor in range(int(match[1]), OLDEST_GLIBC - 1, -1):
            found.append(f"manylinux_2_{minor}_{machine}")
            if minor in old:
                found.append(f"{old[minor]}_{machine}")
        return [*found, f"linux_{machine}"]


@dataclass(frozen=True)
class NodeTarget:
    """What decides which packages of npm fit."""

    os: str
    cpu: str
    libc: str
    version: str

    @classmethod
    def read(cls, printed: str) -> NodeTarget:
        """Return the target that printed this, which is a sandbox's word. Raises KnownError."""
        said = _said(printed)
        if not all(_MACHINE.fullmatch(said.get(name, "")) for name in ("os", "cpu", "libc")):
            raise _unknown()
        return cls(said["os"], said["cpu"], said["libc"], said.get("node", ""))

    @property
    def label(self) -> str:
        """In words."""
        return f"Node.js {self.version}, {self.os} {self.cpu}"


def _said(printed: str) -> dict[str, str]:
    try:
        found = json.loads(printed[:10_000])
    except (ValueError, RecursionError):
        raise _unknown() from None
    if not isinstance(found, dict) or not all(isinstance(one, str) and len(one) < LONGEST for one in found.values()):
        raise _unknown()
    return found


def _unknown() -> KnownError:
    return KnownError("The sandbox does not say which interpreter it has.", "Open Doctor.")
