"""Gets the root file system of an image: with this machine's mmdebstrap, or in a container of a registry's Debian."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from runner.model.errors import KnownError
from runner.sandbox.images import archive, program
from runner.sandbox.images.recipe import SCRIPT, SUITE

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from runner.sandbox.images.recipe import Recipe

DEBIAN = "debian:13-slim"
INSTALL = "Install it, with what an ordinary user needs besides: apt-get install mmdebstrap uidmap"
PROXIES = ("http_proxy", "https_proxy", "no_proxy")


class RootfsSource(Protocol):
    def unpack(self, recipe: Recipe, root: Path) -> AsyncGenerator[str]:
        """Write the tar archive `root`; what is being done, line by line. Raises ProgramFailed, KnownError."""
        ...


@dataclass(frozen=True, slots=True)
class Here:
    """On this machine, which is a Debian or has mmdebstrap and Debian's keys. Needs no registry."""

    mirrors: str = ""
    """Sources for apt, a line each; none: Debian's own."""

    def unpack(self, recipe: Recipe, root: Path) -> AsyncGenerator[str]:
        environment = {**os.environ, **_orders(recipe, self.mirrors), "TMPDIR": str(root.parent)}
        return program.lines("sh", str(SCRIPT), *recipe.packages, output=root, environment=environment)


@dataclass(frozen=True, slots=True)
class InContainer:
    """In a container, for machines that are not Debian: the same script, so the same content."""

    engine: dict[str, str]
    """Variables that tell Docker's own program where the engine is."""
    mirrors: str = ""

    async def unpack(self, recipe: Recipe, root: Path) -> AsyncGenerator[str]:
        name = f"assent-build-{secrets.token_hex(4)}"
        given = {**_orders(recipe, self.mirrors), **{key: os.environ[key] for key in PROXIES if key in os.environ}}
        variables = [word for key, value in given.items() for word in ("--env", f"{key}={value}")]
        start = ("docker", "run", "--rm", "--interactive", "--init", "--name", name, "--network", "host")
        inside = ("sh", "-c", 'cat >/rootfs.sh && exec sh /rootfs.sh "$@"', "rootfs.sh", *recipe.packages)
        environment = {**os.environ, **self.engine}
        steps = program.lines(*start, *variables, DEBIAN, *inside, output=root, stdin=SCRIPT, environment=environment)
        try:
            async with contextlib.aclosing(steps):
                async for line in steps:
                    yield line
        except BaseException:
            # The container does not end with the command that started it.
            with contextlib.suppress(program.ProgramFailed):
                await program.said("docker", "rm", "--force", name, environment=environment)
            raise


async def source(engine: dict[str, str], mirror: str = "") -> RootfsSource:
    """Return the way that works on this machine; `mirror` is a Debian mirror to use instead of the machine's own.

    `engine` are the variables that tell Docker's own program where the engine is.
    """
    if not engine and not shutil.which("mmdebstrap"):
        raise KnownError("Without a container engine images are built by mmdebstrap, which is not installed.", INSTALL)
    mirrors = f"deb {mirror} {SUITE} main" if mirror else await _mirrors()
    # What apt does not copy it looks for below the new root.
    mirrors = mirrors.replace("deb file:", "deb copy:")
    return Here(mirrors) if shutil.which("mmdebstrap") else InContainer(engine, mirrors)


async def _mirrors() -> str:
    """Return where this machine's Debian packages come from, for companies and countries with their own mirrors."""
    if not shutil.which("apt-get"):
        return ""
    asked = ("apt-get", "indextargets", "--format", "$(LABEL) $(REPO_URI)", "Created-By: Packages", "Origin: Debian")
    found: dict[str, None] = {}
    async for line in program.lines(*asked):
        label, _, uri = line.partition(" ")
        suites = {"Debian": (SUITE, f"{SUITE}-updates"), "Debian-Security": (f"{SUITE}-security",)}.get(label, ())
        found.update({f"deb {uri} {suite} main": None for suite in suites})
    return "\n".join(found)


def _orders(recipe: Recipe, mirrors: str) -> dict[str, str]:
    return {
        "SUITE": SUITE,
        "MIRRORS": mirrors,
        "REMOVE": " ".join(recipe.remove),
        "PREPARE": recipe.prepare,
        "SOURCE_DATE_EPOCH": str(archive.EPOCH),
    }
