"""The configuration of a container: hardening (spec X3) and limits (spec X4), as the engine's API wants them."""

from __future__ import annotations

import functools
import json
import os
import socket
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from runner.model.request import Isolation, Language
from runner.model.workspace import WORKSPACE
from runner.sandbox import programs
from runner.sandbox.container.starter import ENVIRONMENT, command, watched
from runner.sandbox.room import TEMPORARY_MB

if TYPE_CHECKING:
    from runner.model.request import Limits
    from runner.sandbox.contract import Bounds

NAMES = {Isolation.GVISOR: "runsc", Isolation.GVISOR_DIRECT: "runsc", Isolation.DOCKER: "runc"}
"""Runtimes, as engines usually call them."""
USER = 1000
KEEPER_MB = 2
"""More for /tmp, where the keeper's own copy of bash takes some 1.3 until the run has ended."""
OWN_PROCESSES = 2
"""The init process and the starter's own."""
GVISOR_THREADS = 256
"""gVisor's own threads count against the container's limit: with 64 in all it ends before it has begun."""
GVISOR_MB = 128
"""For gVisor's kernel and the programs it maps, which count against the container's limit as well. With less it
keeps reading programs from disk again instead of running out."""
GVISOR_OWN_MB = 32
"""Of these, what its kernel holds for itself: readings above the limit by more than this end a run."""
RELAY_MB = 16
"""What the relay of a networked run may take under gVisor on top; under runc it is within the limits of the run, as
one of its processes. So containers that wait fit runs with and without a network."""
RUN_LABEL = "assent.run"
"""Carries the run's name, which says what process it belongs to (`leftovers.new_name`)."""
HOST_LABEL = "assent.host"
"""The machine that process is on: several may share an engine."""


@dataclass(frozen=True, slots=True)
class BoundProject:
    """A folder of the engine's machine that is the workspace."""

    path: str
    user: int
    group: int
    """Of the code in the container: whoever the folder belongs to."""


@dataclass(frozen=True, slots=True)
class ContainerProfiles:
    """What the person has the engine enforce besides."""

    seccomp: str = ""
    """A filter of system calls, in Docker's JSON form; '' for Assent's own."""
    apparmor: str = ""
    """A profile of AppArmor, by the name under which the engine's machine has it; '' leaves it to the engine."""


@dataclass(frozen=True, slots=True)
class Shape:
    """All that decides what a container can do; two runs of equal shape may use containers made alike."""

    isolation: Isolation
    runtime: str
    """Name under which the engine knows it."""
    image: str
    language: Language
    limits: Limits
    bounds: Bounds | None = None
    """How much is collected of what the run leaves; None collects nothing."""
    project: BoundProject | None = None
    """What the workspace is; None for one in memory."""
    main: str = f"{WORKSPACE}/main"
    """Where the code is put, without its ending."""
    profiles: ContainerProfiles = ContainerProfiles()

    @property
    def container(self) -> Shape:
        """Without what only concerns the run and not the container: its time, and how much output is kept."""
        plain = replace(self.limits, seconds=0.0, output_bytes=0)
        return replace(self, limits=plain)


def config(shape: Shape, name: str) -> dict[str, Any]:
    """Return the body of the call that creates the container."""
    return {
        "Image": shape.image,
        "Entrypoint": [],
        "Cmd": _command(shape),
        "User": ":".join(map(str, _owner(shape))),
        "WorkingDir": WORKSPACE,
        "Env": [f"{key}={value}" for key, value in _environment(shape).items()],
        "Hostname": "sandbox",
        "Labels": {RUN_LABEL: name, HOST_LABEL: host()},
        "NetworkDisabled": True,
        "OpenStdin": True,
        "StdinOnce": True,
        "AttachStdin": True,
        "AttachStdout": True,
        "AttachStderr": True,
        "HostConfig": _confinement(shape) | _bounds(shape),
    }


def _command(shape: Shape) -> list[str]:
    words = command(shape.language, shape.limits, shape.main)
    if shape.isolation is Isolation.E2B and shape.language is Language.JAVASCRIPT:
        # Node.js as its makers build it would take the authorities of this machine only from its first environment.
        words.insert(1, "--use-openssl-ca")
    if shape.bounds is None:
        return words
    return watched(words, shape.language, shape.bounds, private=_copies_keeper(shape))


def _environment(shape: Shape) -> dict[str, str]:
    """Return the variables; over a project it is not the home, where a file such as `.bashrc` is obeyed by programs."""
    return ENVIRONMENT if shape.project is None else {**ENVIRONMENT, "HOME": ENVIRONMENT["TMPDIR"]}


def _owner(shape: Shape) -> tuple[int, int]:
    return (USER, USER) if shape.project is None else (shape.project.user, shape.project.group)


def _copies_keeper(shape: Shape) -> bool:
    """Return whether the keeper is a copy of bash that nobody may read; gVisor cannot start one, nor needs it."""
    return shape.bounds is not None and not shape.isolation.is_gvisor


def own_processes(shape: Shape) -> int:
    """Return processes of ours in the container besides the starter's own."""
    init = OWN_PROCESSES - (shape.isolation is Isolation.E2B and shape.bounds is not None)
    return init + (shape.bounds is not None)


def temporary_bytes(limits: Limits) -> int:
    """Return the most that /tmp holds for the code, and /dev/shm as well, beside the workspace."""
    return min(limits.disk_mb, TEMPORARY_MB) << 20


def _confinement(shape: Shape) -> dict[str, Any]:
    hardening = ["no-new-privileges:true"]
    if shape.isolation is Isolation.DOCKER:
        hardening.append(f"seccomp={shape.profiles.seccomp or seccomp()}")
        if shape.profiles.apparmor:
            hardening.append(f"apparmor={shape.profiles.apparmor}")
    shared_mb = temporary_bytes(shape.limits) >> 20
    temporary_mb = shared_mb + KEEPER_MB * _copies_keeper(shape)
    user, group = _owner(shape)
    workspace = f"rw,exec,nosuid,nodev,size={shape.limits.disk_mb}m,uid={user},gid={group},mode=0755"
    bound = None if shape.project is None else {"Type": "bind", "Source": shape.project.path, "Target": WORKSPACE}
    return {
        "Runtime": shape.runtime,
        "NetworkMode": "none",
        "ReadonlyRootfs": True,
        "CapDrop": ["ALL"],
        "SecurityOpt": hardening,
        "IpcMode": "private",
        # Started without an engine of containers, the keeper itself is the first process.
        "Init": shape.isolation not in (Isolation.GVISOR_DIRECT, Isolation.E2B) or shape.bounds is None,
        "LogConfig": {"Type": "none", "Config": {}},
        "Tmpfs": {
            # Owner and not only mode: runc gives a mount the mode of the folder it covers.
            **({WORKSPACE: workspace} if bound is None else {}),
            "/tmp": f"rw,exec,nosuid,nodev,size={temporary_mb}m,uid={user},gid={group},mode=1777",
        },
        **({} if bound is None else {"Mounts": [bound]}),
        "ShmSize": shared_mb << 20,
    }


def _bounds(shape: Shape) -> dict[str, Any]:
    """Return the limits; the workspace is in memory and so counts against the memory limit as well."""
    limits, gvisor = shape.limits, shape.isolation.is_gvisor
    memory = limits.memory_mb + (GVISOR_MB if gvisor else 0) << 20
    ulimits = {"core": 0, "nofile": 1024}
    if gvisor:  # counts inside only; under runc it would count this user's processes on the whole machine
        ulimits["nproc"] = limits.processes + (shape.bounds is not None or shape.isolation is Isolation.GVISOR_DIRECT)
    return {
        "Memory": memory,
        "MemorySwap": memory,
        "NanoCpus": int(limits.cpu_cores * 1e9),
        "PidsLimit": limits.processes + own_processes(shape) + (GVISOR_THREADS if gvisor else 0),
        "Ulimits": [{"Name": name, "Soft": value, "Hard": value} for name, value in ulimits.items()],
    }


@functools.cache
def seccomp() -> str:
    """Our own profile, as the engine takes it."""
    return json.dumps(json.loads(programs.seccomp("sandbox.json")), separators=(",", ":"))


@functools.cache
def host() -> str:
    """This machine, and what part of it sees the same processes."""
    try:
        return f"{socket.gethostname()}-{os.stat('/proc/self/ns/pid').st_ino}"
    except OSError:
        return socket.gethostname()
