"""A contained program under a kernel of its own: gVisor's, started in bubblewrap in place of the program.

Bubblewrap lays out what the program sees, over the working copy, and the network with its gate. What it would start is
`runsc run` on all of that as its root. So the kernel of the machine mounts the layer, and the changes are where they
always are: a layer of gVisor's own (`--overlay2`) could be read by nobody else.

`runsc` needs namespaces of its own, so bubblewrap's filter on system calls is not laid over it. It takes one itself,
that lets through far less. The program inside has gVisor's kernel alone to call.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from runner.sandbox.gvisor.bundle import memory_mount
from runner.sandbox.local import contained
from runner.sandbox.local.contained import Bind

if TYPE_CHECKING:
    from runner.sandbox.gvisor.program import Runsc
    from runner.sandbox.local.contained import Contained

PLACE = "/run/assent"
"""Folder with what is gVisor's, as bubblewrap shows it. The program sees an empty one."""
PROGRAM, BUNDLE, STATE = f"{PLACE}/runsc", f"{PLACE}/bundle", f"{PLACE}/state"
NAME = "try"
NOT_STARTED = 128
"""Exit code of runsc where it could not start the program; it prints why."""
NAMESPACES = ("pid", "ipc", "uts", "mount")
NOT_STOPPED = (contained.ENV, "--ignore-signal=TSTP", "--")
"""Nobody outside would hear that the program has stopped, and nobody inside could continue it. A shell for typing into
has the key for its own jobs all the same."""
UNSHARE = "/usr/bin/unshare"
OPTIONS = (
    "--rootless",
    "--ignore-cgroups",
    "--overlay2=none",
    # Else gVisor would keep what it has read, and not see what the person saves meanwhile.
    "--file-access=shared",
)


def enclosed(what: Contained, runsc: Runsc) -> Contained:
    """Return how `what` is started in gVisor."""
    # gVisor's own network has the program's loopback alone; the machine's is that of bubblewrap, with the gate.
    network = "none" if what.gate is None else "host"
    words = (PROGRAM, f"--root={STATE}", *OPTIONS, f"--network={network}", "run", f"--bundle={BUNDLE}", NAME)
    return replace(
        what,
        program=words,
        binds=(*what.binds, Bind(runsc.path, PROGRAM)),
        files={f"{BUNDLE}/config.json": json.dumps(_specification(what)).encode()},
        has_own_kernel=True,
    )


def _specification(what: Contained) -> dict[str, Any]:
    """Return what `runsc run` is to start, in the words of the OCI runtime specification."""
    limits = contained.limits(what)
    return {
        "ociVersion": "1.0.2",
        "process": {
            # gVisor takes all three for the terminal then.
            "terminal": all(map(os.isatty, range(3))),
            # To gVisor whoever starts it is root; no capability comes with that.
            "user": {"uid": 0, "gid": 0},
            "args": [*_as_themselves(), *NOT_STOPPED, *_without_variables(what.program)],
            "cwd": os.getcwd(),
            "env": [f"{name}={value}" for name, value in contained.environment(what.variables or {}).items()],
            "capabilities": {kind: [] for kind in ("bounding", "effective", "inheritable", "permitted", "ambient")},
            "noNewPrivileges": True,
            "rlimits": [{"type": f"RLIMIT_{name}", "soft": most, "hard": most} for name, most in limits.items()],
        },
        # What may not be written to is read-only in bubblewrap.
        "root": {"path": "/", "readonly": False},
        "hostname": what.hostname,
        "mounts": [
            {"destination": "/proc", "type": "proc", "source": "proc"},
            {"destination": "/dev", "type": "tmpfs", "source": "tmpfs"},
            memory_mount("/dev/shm", ["rw", "nosuid", "nodev", f"size={contained.MEMORY_BYTES}", "mode=1777"]),
            memory_mount(PLACE, ["ro", "mode=0555"]),
        ],
        "linux": {"namespaces": [{"type": one} for one in NAMESPACES]},
    }


def _as_themselves() -> tuple[str, ...]:
    """Return what gives the program the ids of its account back, in a namespace of gVisor's kernel."""
    if os.geteuid() == 0:
        return ()
    return (UNSHARE, f"--map-user={os.geteuid()}", f"--map-group={os.getegid()}", "--")


def _without_variables(program: tuple[str, ...]) -> tuple[str, ...]:
    """Return the program as `env` takes it, which would take a name with `=` for a variable."""
    return contained.AS_WORDS + program if "=" in program[0] else program
