"""The OCI bundle that `runsc run` starts, made from a container's configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runner.sandbox.container.starter import BASH
from runner.sandbox.programs import script

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

NAMESPACES = ("pid", "ipc", "uts", "mount", "network")


def specification(make: Mapping[str, Any], root: Path) -> dict[str, Any]:
    """Return the `config.json` of the container that `make` describes (`container.shape.config`), on `root`.

    No network namespace is named by a path, so the container has one of its own with nothing in it. The limits on
    memory, processor and processes are those of a control group, which is not for gVisor to make.
    """
    host = make["HostConfig"]
    user, group = map(int, str(make["User"]).split(":"))
    return {
        "ociVersion": "1.0.2",
        "process": {
            "terminal": False,
            "user": {"uid": user, "gid": group},
            "args": _command(make),
            "cwd": make["WorkingDir"],
            "env": list(make["Env"]),
            "capabilities": {kind: [] for kind in ("bounding", "effective", "inheritable", "permitted", "ambient")},
            "noNewPrivileges": True,
            "rlimits": [_limit(one) for one in host["Ulimits"]],
        },
        "root": {"path": str(root), "readonly": bool(host["ReadonlyRootfs"])},
        "hostname": make["Hostname"],
        "mounts": [
            {"destination": "/proc", "type": "proc", "source": "proc"},
            {"destination": "/dev", "type": "tmpfs", "source": "tmpfs"},
            {"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": ["ro", "nosuid", "noexec", "nodev"]},
            *(memory_mount(place, options.split(",")) for place, options in host["Tmpfs"].items()),
            memory_mount("/dev/shm", ["rw", "noexec", "nosuid", "nodev", f"size={host['ShmSize']}", "mode=1777"]),
        ],
        "linux": {"namespaces": [{"type": one} for one in NAMESPACES]},
    }


def _command(make: Mapping[str, Any]) -> list[str]:
    words = list(make["Cmd"])
    return [*BASH, script("first.sh"), "first", *words] if make["HostConfig"]["Init"] else words


def _limit(one: Mapping[str, Any]) -> dict[str, object]:
    return {"type": f"RLIMIT_{str(one['Name']).upper()}", "soft": one["Soft"], "hard": one["Hard"]}


def memory_mount(place: str, options: list[str]) -> dict[str, object]:
    """Return the mount of a folder in memory."""
    return {"destination": place, "type": "tmpfs", "source": "tmpfs", "options": options}
