"""Commands that mend what `assent doctor` finds, for the machine it runs on; each can be pasted into a shell."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from runner.gateway.own_command import typed_command
from runner.model.language_support import LANGUAGES
from runner.model.request import Isolation, Language
from runner.sandbox.container.failures import gone
from runner.sandbox.container.sandbox import UNREPORTED
from runner.sandbox.container.trial import TOO_OLD
from runner.sandbox.docker import endpoint
from runner.sandbox.gvisor import engine_feeds
from runner.sandbox.gvisor.fetch import PLACE, next_step, put_in_place
from runner.sandbox.gvisor.program import is_old, is_recent, located
from runner.sandbox.local.control_groups import OWN_GROUP
from runner.sandbox.local.group import GROUPED
from runner.system import installed
from runner.system.places import Places

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from runner.commands.check import Check
    from runner.sandbox.contract import Readiness

RESTRICTED = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
"""1 on Ubuntu from 24.04: only programs with a profile of AppArmor may make namespaces."""
SWITCHES = {
    Path("/proc/sys/kernel/unprivileged_userns_clone"): "sudo sysctl -w kernel.unprivileged_userns_clone=1",
    Path("/proc/sys/user/max_user_namespaces"): "sudo sysctl -w user.max_user_namespaces=15000",
}
"""Switches that forbid namespaces where they say 0, and the command that allows them until the next start."""
PROFILE = (
    "sudo apt-get install apparmor-profiles"
    " && sudo install -m 644 /usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/"
    " && sudo apparmor_parser -r /etc/apparmor.d/bwrap-userns-restrict"
)
MANAGERS = (
    ("apt-get", "sudo apt-get install"),
    ("dnf", "sudo dnf install"),
    ("pacman", "sudo pacman -S"),
    ("zypper", "sudo zypper install"),
)
"""Programs that install packages, and how they are called; the first that is there."""
OTHER_NAMES = {
    ("docker.io", "dnf"): "moby-engine",
    ("docker.io", "pacman"): "docker",
    ("docker.io", "zypper"): "docker",
    ("python3", "pacman"): "python",
    ("python3-pip", "pacman"): "python-pip",
}
LEAST_NODE = 20
OLDEST = "20180501"
"""Stands for a package that is not offered: a day before gVisor was published."""
NEWER_NODE = "sudo apt-get install npm && sudo npm install -g node@22"
ASK_SECONDS = 10.0
SOCKET = Path("/var/run/docker.sock")
SYSTEMD = "/run/systemd/system"
"""Is there where systemd runs the system."""
UNITS = ("/usr/lib/systemd/system/docker.service", "/lib/systemd/system/docker.service")
OWN_COMMAND = re.compile(r"(?:^|(?<=&& )|(?<=: ))assent (?=[a-z])")
ENGINE_GONE = frozenset(gone(error).what for error in (OSError(), PermissionError()))
"""What an engine of this machine says that does not answer or lets nobody in."""
INTO_GROUP = 'sudo usermod -aG docker "$USER"  # then log in again; this group is as powerful as root'


def as_typed(*checks: Check) -> tuple[Check, ...]:
    """Return `checks` with `assent` in each fix as a shell finds it here; in a checkout that is a path."""
    command = typed_command()
    return tuple(replace(check, fix=OWN_COMMAND.sub(lambda _: f"{command} ", check.fix)) for check in checks)


def install(package: str) -> str:
    """Return the command that installs `package`, by the name that Debian gives it."""
    name, command = next(((name, command) for name, command in MANAGERS if shutil.which(name)), MANAGERS[0])
    return f"{command} {OTHER_NAMES.get((package, name), package)}"


def debian(packages: Sequence[str]) -> str:
    """Return what installs packages that have these names on Debian alone; elsewhere a sentence."""
    if any(shutil.which(name) for name, _ in MANAGERS[1:]) and not shutil.which("apt-get"):
        return "Install the packages of this distribution that hold them."
    return f"sudo apt-get install {' '.join(packages)}"


def registries(absent: Sequence[str]) -> str:
    """Return what brings the programs that name their registries by default; '' where none is `absent`.

    On Debian for pip the wheel alone: pip itself would bring a compiler.
    """
    if not absent:
        return ""
    packages = {"pip": "python3-pip-whl" if shutil.which("apt-get") else "python3-pip", "npm": "npm"}
    command = install(packages[absent[0]])
    return " ".join((command, *(packages[one] for one in absent[1:]))) + "  # or name the addresses in Settings"


def bubblewrap() -> str:
    """Return what lets bubblewrap work here; '' where nothing is seen that keeps it from that."""
    if not shutil.which("bwrap"):
        return install("bubblewrap")
    if _read(RESTRICTED) == "1":
        return PROFILE
    return next((command for switch, command in SWITCHES.items() if _read(switch) == "0"), "")


def own_group(missing: Iterable[str]) -> str:
    """Return what has the memory of runs limited, where that is `missing` and systemd can do it; else ''."""
    wanted = any(line.startswith(GROUPED) for line in missing)
    return OWN_GROUP if wanted and shutil.which("systemd-run") and os.path.isdir(SYSTEMD) else ""


def reporting(missing: Iterable[str]) -> str:
    """Return what has Docker's gVisor report what code does, where that is `missing` for want of a runtime; else ''."""
    wanted = UNREPORTED.format(engine_feeds.NO_RUNTIME) in missing
    if not wanted or not located() or endpoint.find().url != endpoint.STANDARD:
        return ""
    return f"{engine_feeds.command(located())} && sudo {_read_again()}"


def engine() -> str:
    """Return what gets the container engine of this machine to answer."""
    if SOCKET.exists() and not os.access(SOCKET, os.R_OK | os.W_OK):
        return INTO_GROUP
    if any(os.path.exists(unit) for unit in UNITS) and os.path.isdir(SYSTEMD):
        return "sudo systemctl start docker"
    own = Path(__file__).resolve().parents[2] / "packaging/engine.sh"
    if installed.folder() is None and own.is_file() and os.geteuid() == 0:
        # A checkout brings one of its own, with gVisor, that touches no other; nobody but root can reach it.
        return f"{shlex.quote(str(own))} install && export DOCKER_HOST=$({shlex.quote(str(own))} start)"
    if shutil.which("dockerd"):
        return "sudo service docker start"
    return install("docker.io")


def gvisor() -> str:
    """Return what gets gVisor to work here without a container engine; '' where nothing is seen to be missing."""
    brought = "" if is_recent(located()) else recent_gvisor()
    # To build the images with.
    tools = [] if shutil.which("mmdebstrap") or shutil.which("docker") else ["mmdebstrap", "uidmap"]
    if not shutil.which("apt-get"):
        if brought or tools:
            return debian([*(["runsc"] if brought else []), *tools])
    elif steps := [step for step in (brought, debian(tools) if tools and not brought else "") if step]:
        return " && ".join([*steps, "assent images"])
    if os.geteuid() == 0:
        return ""
    if lets_only_profiled():
        return "This system lets only programs with a profile of AppArmor make user namespaces, and runsc has none."
    return next((command for switch, command in SWITCHES.items() if _read(switch) == "0"), "")


def can_fetch_gvisor() -> bool:
    """Return whether Assent brings a recent gVisor without rights that it has not, and nothing simpler brings it."""
    if lets_only_profiled() or any(map(is_recent, (located(), str(Places.standard().runsc)))):
        return False
    if os.geteuid() == 0:
        return shutil.which("mmdebstrap") is not None
    packaged = shutil.which("apt-get") is not None and not is_old(_candidate("runsc") or OLDEST)
    return not packaged and all(map(shutil.which, ("mmdebstrap", "newuidmap")))


def fetched_gvisor() -> str:
    """Return in a sentence that a recent gVisor is fetched and not taken, as others than root can replace it; or ''."""
    if is_recent(located()) or not is_recent(str(Places.standard().runsc)):
        return ""
    return "It is fetched; what is left is to put it where nobody but root can replace it."


def lets_only_profiled() -> bool:
    """Return whether this system lets only programs with a profile of AppArmor make user namespaces."""
    return os.geteuid() != 0 and _read(RESTRICTED) == "1"


def container(isolation: Isolation, ready: Readiness) -> str:
    """Return what gets a sandbox that starts from images to work here; where nothing is seen, what it says itself."""
    if ready.problem in ENGINE_GONE:
        return engine()
    if isolation is Isolation.GVISOR_DIRECT:
        return gvisor() or ready.remedy
    if isolation is Isolation.GVISOR and TOO_OLD in ready.problem:
        return docker_gvisor() or ready.remedy
    return ready.remedy


def docker_gvisor() -> str:
    """Return what has Docker's gVisor replaced by one that is recent enough; '' where that is not for this machine."""
    if endpoint.find().url != endpoint.STANDARD or not shutil.which("apt-get"):
        return ""
    path = located()
    brought = "" if is_recent(path) else recent_gvisor()
    if brought:
        path = str(Places.standard().runsc) if os.geteuid() == 0 else PLACE
    return " && ".join(filter(None, (brought, f"sudo {shlex.quote(path)} install && sudo {_read_again()}")))


def recent_gvisor() -> str:
    """Return what brings a recent runsc on Debian: its package, or where that is too old the one of Debian 13."""
    tools = [] if shutil.which("mmdebstrap") else ["mmdebstrap", "uidmap"]
    if not is_old(_candidate("runsc") or OLDEST):
        return debian(["runsc", *([] if shutil.which("docker") else tools)])
    file = Places.standard().runsc
    if is_recent(str(file)):
        return next_step(file)
    put = "" if os.geteuid() == 0 else put_in_place(file)
    return " && ".join(filter(None, (debian(tools) if tools else "", "assent images --gvisor", put)))


def _read_again() -> str:
    """Return the command, without `sudo`, that has Docker read its configuration again."""
    return "systemctl reload docker" if os.path.isdir(SYSTEMD) else 'kill -HUP "$(cat /var/run/docker.pid)"'


def interpreter(language: Language) -> str:
    """Return what brings the interpreter of `language`, by npm where this system's own Node.js is too old."""
    package = LANGUAGES[language].package
    offered = _offered_by_apt(package) if language is Language.JAVASCRIPT else None
    return install(package) if offered is None or offered >= LEAST_NODE else NEWER_NODE


def _offered_by_apt(package: str) -> int | None:
    """Return the first number of the version that apt would install; None where that cannot be found out."""
    found = re.match(r"(?:\d+:)?(\d+)", _candidate(package))
    return int(found[1]) if found else None


def _candidate(package: str) -> str:
    """Return the version that apt would install; '' where that cannot be found out."""
    try:
        command = ["apt-cache", "policy", package]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=ASK_SECONDS, check=False, env={**os.environ, "LC_ALL": "C"}
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    found = re.search(r"(?m)^ *Candidate: (\d\S*)", done.stdout)
    return found[1] if found else ""


def _read(path: Path) -> str:
    try:
        return path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
