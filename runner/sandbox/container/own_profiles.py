"""The person's own profiles around containers: a filter of system calls, and a profile of AppArmor by its name.

They are enforced by the kernel that the engine's containers share. gVisor's programs have a kernel of their own: runsc
reads neither where it is started as engines and Assent start it, so nothing of the kind is said there.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runner.model.errors import KnownError
from runner.model.request import Isolation
from runner.sandbox.container.shape import ContainerProfiles

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from runner.sandbox.seccomp.own import OwnProfile

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+/-]{0,127}", re.ASCII)
APPARMOR = "AppArmor profile "
"""Begins its protection."""
UNCONFINED = "unconfined"
"""What Docker takes for no profile at all, in place of its own."""
OPTION = "name=apparmor"
"""How an engine says that it has AppArmor, among the security options of `docker info`."""
REMEDY = "Take security.sandbox.apparmor out of the settings, or use an engine whose machine has it."
GVISOR = "gVisor answers system calls itself, and does not read it"


@dataclass(frozen=True, slots=True)
class OwnProfiles:
    """Those that the settings name."""

    seccomp: OwnProfile | None = None
    apparmor: str = ""

    async def taken(
        self, isolation: Isolation, info: Mapping[str, Any]
    ) -> tuple[ContainerProfiles, Callable[[str], tuple[str, ...]]]:
        """Return what the engine is handed for containers of this kind, and the protections of that.

        The second is a function of the protection by Assent's own filter. `info` is what the engine says of itself.
        Raises KnownError for one that does not count, and for one that this engine cannot enforce.
        """
        if isolation is not Isolation.DOCKER:
            return ContainerProfiles(), lambda filtered: (filtered,)
        if self.apparmor:
            _require(self.apparmor, info)
        checked = None if self.seccomp is None else await asyncio.to_thread(self.seccomp.checked)
        more = (f"{APPARMOR}{self.apparmor} of the engine's machine",) if self.apparmor else ()
        return ContainerProfiles("" if checked is None else checked.text, self.apparmor), lambda filtered: (
            *((filtered,) if checked is None else checked.protections(filtered)),
            *more,
        )

    def during(self, profiles: ContainerProfiles) -> str:
        """Return the beginning of a sentence on a trial that failed with `profiles`; '' where there are none."""
        names = [self.seccomp.name] if profiles.seccomp and self.seccomp is not None else []
        names += [profiles.apparmor] if profiles.apparmor else []
        return f"With your profile {' and '.join(names)}: " if names else ""

    def inactive(self, isolation: Isolation) -> tuple[str, ...]:
        """Return which of them say nothing in containers of this kind, with the reason."""
        if isolation is Isolation.DOCKER:
            return ()
        named = () if self.seccomp is None else (f"your seccomp profile {self.seccomp.name}: {GVISOR}",)
        return (*named, *((f"your AppArmor profile {self.apparmor}: {GVISOR}",) if self.apparmor else ()))

    async def news(self, isolation: Isolation) -> str:
        """Return what has become of the file since it was checked, in words; '' for nothing."""
        if self.seccomp is None or isolation is not Isolation.DOCKER:
            return ""
        return await asyncio.to_thread(self.seccomp.news)


def _require(name: str, info: Mapping[str, Any]) -> None:
    """Raise KnownError where the engine has no AppArmor, or the name stands for no profile."""
    if name == UNCONFINED:
        raise KnownError(f"The AppArmor profile {UNCONFINED} is none: it would take away the engine's own.", REMEDY)
    if not NAME.fullmatch(name):
        raise KnownError(f"{name!r} can be the name of no AppArmor profile.", REMEDY)
    if not any(str(one).split(",")[0] == OPTION for one in info.get("SecurityOptions") or ()):
        raise KnownError(f"The container engine has no AppArmor, so its profile {name} cannot be enforced.", REMEDY)
