"""Doctor's checks of the person's own profiles: which count, and in which sandboxes they are enforced."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from runner.commands.check import Check, State
from runner.model.errors import KnownError
from runner.model.request import Isolation
from runner.sandbox.container.own_profiles import APPARMOR
from runner.sandbox.seccomp.own import PROFILE, STOPPED, WIDENED, check

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.sandbox.contract import Readiness
    from runner.settings.loading import Settings

SECCOMP_NAME, APPARMOR_NAME = "Seccomp profile", "AppArmor profile"
OTHERS = (
    "An open console enforces the file as it was at its start. It says nothing in gVisor, which answers system calls "
    "itself, nor in sandboxes that others promise."
)
SELINUX = "What SELinux adds is the engine's own, and Assent changes nothing about it."
SHOWN = 16
"""Digits of a SHA-256; a request's details have all."""


def checks(settings: Settings, found: Mapping[Isolation, Readiness]) -> list[Check]:
    """Return a check for each profile that the settings name; `found` are the sandboxes. Reads the file."""
    return [
        *([_seccomp(settings, found)] if settings.seccomp_profile else ()),
        *([_apparmor(settings.apparmor_profile, found)] if settings.apparmor_profile else ()),
    ]


def _seccomp(settings: Settings, found: Mapping[Isolation, Readiness]) -> Check:
    try:
        checked = check(Path(os.path.expanduser(settings.seccomp_profile)), settings.seccomp_allows)
    except KnownError as error:
        return Check(SECCOMP_NAME, State.BAD, f"{error.what} {STOPPED}", error.remedy)
    parts = [
        f"{checked.name}, SHA-256 {checked.sha256[:SHOWN]}\N{HORIZONTAL ELLIPSIS}: {_where(found, PROFILE, WIDENED)}"
    ]
    if checked.widened:
        parts.append(f"It allows more than Assent's own filter: {', '.join(checked.widened)}.")
    if checked.unknown:
        names = ", ".join(checked.unknown)
        parts.append(f"No system call is known by these names here, so they stay forbidden: {names}.")
    enforced = bool(_enforcing(found, PROFILE, WIDENED))
    state = State.WARN if checked.widened or not enforced else State.OK
    return Check(SECCOMP_NAME, state, " ".join((*parts, OTHERS)))


def _apparmor(name: str, found: Mapping[Isolation, Readiness]) -> Check:
    enforced = bool(_enforcing(found, APPARMOR))
    why = "" if enforced or Isolation.DOCKER not in found else f" {found[Isolation.DOCKER].problem}"
    what = f"{name}: {_where(found, APPARMOR)}{why} What it allows cannot be seen from here. {SELINUX}"
    return Check(APPARMOR_NAME, State.OK if enforced else State.WARN, what)


def _where(found: Mapping[Isolation, Readiness], *begins: str) -> str:
    """Return where a profile is enforced, as a sentence; its protection begins with one of `begins`."""
    names = _enforcing(found, *begins)
    return f"enforced in {' and '.join(names)}." if names else "enforced nowhere now, as no sandbox for it works here."


def _enforcing(found: Mapping[Isolation, Readiness], *begins: str) -> list[str]:
    named = {Isolation.LOCAL: "the local sandbox", Isolation.DOCKER: "Docker"}
    return [
        name
        for isolation, name in named.items()
        if (ready := found.get(isolation)) is not None
        and ready.ready
        and any(one.startswith(begins) for one in ready.protections)
    ]
