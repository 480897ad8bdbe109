"""Starts programs in bubblewrap: own namespaces, a read-only system, nothing else of the host."""

from __future__ import annotations

import contextlib
import functools
import os
import platform
import resource
import select
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.model.request import Isolation, Limits
from runner.model.workspace import WORKSPACE
from runner.sandbox.local import leftovers, syscalls, trusted
from runner.sandbox.local.bubblewrap_start import (
    REMEDY,
    closed_to_others,
    first_process,
    in_memory,
    pipe,
    system_folders,
)
from runner.sandbox.local.bubblewrap_start import SYSTEM as SYSTEM_FOLDERS
from runner.sandbox.local.child import Child, Identities, Program, View, as_user, rlimits, send
from runner.sandbox.local.collect import Left
from runner.sandbox.local.control_groups import ControlGroups
from runner.sandbox.local.group import GROUPED
from runner.sandbox.local.name_files import FILES
from runner.sandbox.local.syscalls import FILTERED
from runner.sandbox.local.trial import (
    FEW,
    IN_MEMORY,
    NETWORK,
    OTHER_NAMESPACE,
    OTHER_USER,
    PROCESSES,
    SYSTEM,
    TrialLook,
)
from runner.sandbox.room import TEMPORARY_BYTES
from runner.sandbox.seccomp.libseccomp import compiled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from runner.sandbox.contract import ProjectLayer
    from runner.sandbox.local.group import ControlGroup
    from runner.sandbox.local.interpreters import Interpreter
    from runner.sandbox.seccomp.own import CheckedProfile

SHOWN_ETC = ("/etc/ld.so.cache", "/etc/alternatives")
"""What is shown of the host's /etc: what the loader and the system's own links need."""
USER_INSIDE = 1000
TRY_SECONDS = 10.0
TRIAL = b"echo on\nread -r _\n"
CLOCK_STEP = 0.02
"""Seconds by which the times of files may lag behind the clock."""
READY_EVERY = 0.0003
"""Seconds between two looks at whether its mounts are made."""
VIEW = View(WORKSPACE, "/run/assent", "/tmp")
SHARED_MEMORY = "/dev/shm"
OTHERS = tuple("/proc/{pid}/root" + place for place in (VIEW.temporary, SHARED_MEMORY))


class Bubblewrap:
    """Bubblewrap on this machine.

    A console that runs as root needs no user namespace; the code then runs under a user
    id of its own, for root itself no limit on processes holds. Any other console uses a user namespace.

    Each mount costs every run 0.1 to 0.2 ms: what is small is copied in instead.
    """

    def __init__(
        self,
        program: str,
        groups: ControlGroups | KnownError,
        *,
        may_nest: bool = False,
        unfiltered: str = "",
        profile: CheckedProfile | None = None,
    ) -> None:
        """`groups` says why runs have no control groups, `unfiltered` why system calls are not filtered.

        What `profile` refuses is refused as well. Raises KnownError for one that cannot be compiled.
        """
        self._program = program
        self._groups = groups
        self._unfiltered = unfiltered
        self._profile = profile
        self._filters = () if unfiltered else _filters(profile)
        self._identities = Identities() if os.geteuid() == 0 else None
        self._unshared = _unshared(self._identities is not None, may_nest)
        self._unshared_over_project = _unshared(False, may_nest)
        self._system = system_folders()
        self._shown = functools.cache(_shown)

    @classmethod
    def tried(cls, profile: CheckedProfile | None = None) -> Bubblewrap:
        """Find bubblewrap and try it with everything it will be used with. Raises KnownError."""
        if not (program := trusted.find("bwrap")):
            raise KnownError(f"bubblewrap is not installed. {trusted.elsewhere('bwrap')}".rstrip(), REMEDY)
        unfiltered = "" if syscalls.program() else f"no filter for {platform.machine()}"
        groups = _groups()
        if profile is not None and unfiltered:
            raise KnownError(f"Your seccomp profile {profile.name} cannot be used here: {unfiltered}.")
        for may_nest in (False, True):  # bubblewrap before 0.8 cannot forbid it
            filtering = cls(program, groups, may_nest=may_nest, unfiltered=unfiltered, profile=profile)
            if not (problem := filtering.problem()):
                return filtering
            if profile is not None and not cls(program, groups, may_nest=may_nest).problem():
                raise KnownError(
                    f"With your seccomp profile {profile.name} a trial run does not work: {problem}.",
                    "Allow what a shell needs, or take the profile out of the settings.",
                )
            if (
                profile is None
                and not unfiltered
                and not (without := cls(program, groups, may_nest=may_nest, unfiltered=problem)).problem()
            ):
                # What failed once may have failed for want of time, memory or processes at that moment.
                return without if filtering.problem() else filtering
        raise KnownError(f"bubblewrap does not work here: {problem}", REMEDY)

    def problem(self) -> str:
        """Return what keeps a trial run from working or being protected; '' when all is well. Blocks for some 10 ms."""
        try:
            with contextlib.ExitStack() as ours, contextlib.ExitStack() as handed:
                reader, writer = pipe(handed, ours)
                identity = self.identity
                command = (*as_user(identity), "/bin/sh", f"{VIEW.workspace}/try.sh")
                program = Program(
                    leftovers.new_name(), ("try.sh", TRIAL), {}, command, {}, Limits(), reader, (), identity, ()
                )
                child = self.start(program)
                ours.enter_context(child.process)
                ours.callback(child.clean)
                ours.callback(child.process.kill)
                failed = self._looked_at(child)
                os.write(writer, b"end\n")
                _, said = child.process.communicate(timeout=TRY_SECONDS)
        except KnownError as error:
            return error.what.rstrip(".")
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        if child.process.returncode:
            return said.decode("utf-8", "replace").strip() or "no reason given"
        return failed and f"a trial run was without this protection: {failed}"

    def _looked_at(self, child: Child) -> str:
        """Return the first protection that a trial run is without, which is the first one where it did not start."""
        assert child.process.stdout is not None
        ready, _, _ = select.select([child.process.stdout], [], [], TRY_SECONDS)
        if not ready or not os.read(child.process.stdout.fileno(), 10):
            return self.protections[0]
        pids = child.processes() or [child.root]
        return TrialLook(pids[-1], Limits(), TEMPORARY_BYTES).failed(self.protections)

    def version(self) -> str:
        said = subprocess.run([self._program, "--version"], capture_output=True, text=True, check=False).stdout
        return said.strip().rpartition(" ")[2]

    @property
    def isolation(self) -> Isolation:
        return Isolation.LOCAL

    @property
    def protections(self) -> tuple[str, ...]:
        """All of them were looked at in the trial run."""
        whose = OTHER_USER if self._identities else OTHER_NAMESPACE
        own = (FILTERED,) if self._profile is None else self._profile.protections(FILTERED)
        filtered = () if self._unfiltered else own
        grouped = (GROUPED,) if isinstance(self._groups, ControlGroups) else ()
        return (NETWORK, PROCESSES, whose, SYSTEM, IN_MEMORY, FEW, *filtered, *grouped)

    @property
    def missing(self) -> tuple[str, ...]:
        unfiltered = (f"{FILTERED}: {self._unfiltered}",) if self._unfiltered else ()
        return (*unfiltered, *((f"{GROUPED}: {self._groups.what}",) if isinstance(self._groups, KnownError) else ()))

    @property
    def protections_over(self) -> tuple[str, ...]:
        """Of a run over a project, which takes the files of this account: as it, in a user namespace of its own."""
        # No limit on processes holds for root, but that of a control group.
        lost = {IN_MEMORY, OTHER_USER, *((FEW,) if self._identities and isinstance(self._groups, KnownError) else ())}
        own = () if OTHER_NAMESPACE in self.protections else (OTHER_NAMESPACE,)
        return (*(one for one in self.protections if one not in lost), *own)

    @property
    def identity(self) -> int | None:
        return self._identities.new() if self._identities else None

    def refusal(self, _tool: Interpreter) -> KnownError | None:
        return None

    def view(self, _name: str) -> View:
        return VIEW

    def start(self, program: Program) -> Child:
        """Start `program`. Raises KnownError where bubblewrap fails and OSError where it cannot be started."""
        with contextlib.ExitStack() as failing:
            group = self._groups.new(program.name, program.limits) if isinstance(self._groups, ControlGroups) else None
            clean = group.remove if group is not None else _nothing
            failing.callback(clean)
            child = self._started(program, group, clean)
            failing.pop_all()
        return child

    def _started(self, program: Program, group: ControlGroup | None, clean: Callable[[], None]) -> Child:
        with contextlib.ExitStack() as kept:
            with contextlib.ExitStack() as handed:
                reader, writer = pipe(kept, handed)
                hold, release = pipe(handed, kept)
                files = self._files(program, handed)
                # With its own end of the pipe bubblewrap waits for ever. Otherwise it would see the pipe closed where
                # the console was killed just now, and start the code without limits.
                channels = (("info-fd", writer), ("block-fd", hold), ("sync-fd", release), *self._calls(handed))
                entering = _entering(program.layer)
                process = self._popen(
                    program,
                    files,
                    channels,
                    (*(() if group is None else group.entry), *entering.words),
                    entering.passed,
                )
            root = first_process(reader, process)
            self._limit(root, program)
            left = _left(root, program) if program.collected else None
            try:
                if program.layer is not None:
                    _require_shown(root, program.layer)
                if program.doors is not None:
                    program.doors.open(root)
            except BaseException:
                _give_up(process, root, left)
                raise
            os.write(release, b"go")
        workspace = "" if program.layer is not None else program.kept or "/proc/{pid}/root" + VIEW.workspace
        return Child(process, root, signal.SIGKILL, workspace, clean, left, OTHERS, True, group)

    def _calls(self, opened: contextlib.ExitStack) -> tuple[tuple[str, int], ...]:
        """Return the filters of system calls. The one of Assent is loaded first: a profile may forbid more to load."""
        option = "seccomp" if len(self._filters) == 1 else "add-seccomp-fd"
        return tuple((option, in_memory(one, opened)) for one in self._filters)

    def _popen(
        self,
        program: Program,
        files: dict[str, int],
        channels: tuple[tuple[str, int], ...],
        before: tuple[str, ...],
        namespaces: tuple[int, ...],
    ) -> subprocess.Popen[bytes]:
        options = [word for name, fd in channels for word in (f"--{name}", str(fd))]
        return subprocess.Popen(
            [*before, *self._command(program, files), *options, "--", *program.command],
            stdin=program.stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=program.environment,
            cwd="/",
            pass_fds=(*program.inherited, *(fd for _, fd in channels), *files.values(), *namespaces),
            start_new_session=True,
        )

    def _files(self, program: Program, opened: contextlib.ExitStack) -> dict[str, int]:
        """Return everything that is copied in, by its place inside, as open descriptors."""
        user = program.identity or USER_INSIDE
        home = program.environment.get("HOME", VIEW.workspace)
        contents = {
            "/etc/passwd": f"root:x:0:0::/:/bin/false\nsandbox:x:{user}:{user}::{home}:/bin/sh\n".encode(),
            "/etc/group": f"root:x:0:\nsandbox:x:{user}:\n".encode(),
            f"{program.code_folder or VIEW.workspace}/{program.code[0]}": program.code[1],
        }
        contents |= FILES if program.doors is not None else {}
        contents |= {f"{VIEW.inside}/{name}": data for name, data in program.inside.items()}
        return {place: in_memory(data, opened) for place, data in contents.items()}

    def _limit(self, root: int, program: Program) -> None:
        """Set the limits that the code will inherit, before it starts. One more process is bubblewrap's own."""
        processes = program.limits.processes + (self._identities is None)
        bounds = {**rlimits(program.limits, program.unused), "NPROC": processes}
        for name, value in bounds.items():
            kind = getattr(resource, f"RLIMIT_{name}")
            _, hard = resource.getrlimit(kind)
            bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
            with contextlib.suppress(ProcessLookupError):  # bubblewrap has failed: its exit tells
                resource.prlimit(root, kind, (bound, bound))

    def _command(self, program: Program, files: dict[str, int]) -> list[str]:
        size = program.limits.disk_mb << 20
        small = min(size, TEMPORARY_BYTES)
        unshared = self._unshared if program.layer is None else self._unshared_over_project
        return [
            *(self._program, *unshared, "--die-with-parent", "--new-session", "--hostname", "sandbox"),
            *self._system,
            *("--proc", "/proc", *self._closed(program), "--dev", "/dev"),
            *_tmpfs(SHARED_MEMORY, small),
            *_tmpfs(VIEW.temporary, small),
            *(("--bind", program.kept, VIEW.workspace) if program.kept else _tmpfs(VIEW.workspace, size)),
            *self._shown(program.folders),
            *(word for place, fd in files.items() for word in ("--perms", "0444", "--file", str(fd), place)),
            *("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", VIEW.workspace),
        ]

    def _closed(self, program: Program) -> list[str]:
        """Return what keeps code that runs as root, over a project, from what root alone may do with files."""
        if program.layer is None or self._identities is None:
            return []
        # Root may write to /proc/sys without any capability: what stands there is the machine's.
        return ["--remount-ro", "/proc", *closed_to_others("/usr/local")]


@dataclass(frozen=True, slots=True)
class _Entering:
    """How a command is started where a layer is mounted."""

    words: tuple[str, ...] = ()
    passed: tuple[int, ...] = ()


def _entering(layer: ProjectLayer | None) -> _Entering:
    if layer is None or layer.mounts is None:
        return _Entering()
    words, passed = [trusted.need("nsenter"), f"--mount=/proc/self/fd/{layer.mounts}"], [layer.mounts]
    if layer.users is not None:
        words += [f"--user=/proc/self/fd/{layer.users}", "--preserve-credentials"]
        passed.append(layer.users)
    return _Entering((*words, "--"), tuple(passed))


def _require_shown(root: int, layer: ProjectLayer) -> None:
    """Raise KnownError unless the workspace of `root`, which waits for the word to start, is this very layer."""
    found = _workspace_stat(root)
    if found is None or (found.st_dev, found.st_ino) != (layer.device, layer.inode):
        raise KnownError(
            "The sandbox does not show the project as the program at work sees it, so nothing was run in it.",
            "Run it in the program's own shell, which is contained as well.",
        )


def _unshared(as_root: bool, may_nest: bool) -> tuple[str, ...]:
    kinds = ("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try")
    if as_root:  # the two are needed to become somebody else, and are lost by it
        return (*kinds, "--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID")
    user = ("--unshare-user", "--uid", str(USER_INSIDE), "--gid", str(USER_INSIDE))
    return (*kinds, *user, *(() if may_nest else ("--disable-userns",)), "--cap-drop", "ALL")


def _filters(profile: CheckedProfile | None) -> tuple[bytes, ...]:
    """Return the programs that the kernel takes, none where the machine is not known. Raises KnownError."""
    own = syscalls.program(without=frozenset(() if profile is None else profile.widened))
    return tuple(filter(None, (own, b"" if profile is None else syscalls.leaving_newer(compiled(profile.filter)))))


def _groups() -> ControlGroups | KnownError:
    """Return where control groups can be made, or why nowhere."""
    try:
        return ControlGroups.found()
    except KnownError as error:
        return error


def _nothing() -> None:
    """Leave all as it is: nothing was laid out on the host."""


def _give_up(process: subprocess.Popen[bytes], root: int, left: Left | None) -> None:
    """End bubblewrap before the code has started."""
    # First what waits inside: it would not hear of the end of its parent, and holds the pipes.
    send(root, signal.SIGKILL)
    process.kill()
    process.communicate()
    if left is not None:
        left.close()


def _left(root: int, program: Program) -> Left | None:
    """Return the workspace; None when it fails."""
    if _workspace_stat(root) is None:
        return None
    try:
        since = time.time() - CLOCK_STEP if program.kept else 0.0
        return Left.of(f"/proc/{root}/root{VIEW.workspace}", program.code[0], since)
    except OSError:
        return None


def _workspace_stat(root: int) -> os.stat_result | None:
    """Return what the workspace is, which bubblewrap makes before it waits for the word to start the code.

    None when it fails.
    """
    host, deadline = os.stat("/"), time.monotonic() + TRY_SECONDS
    while time.monotonic() < deadline:
        try:
            # Until its root is its own, what it sees under the name of the workspace is the host's.
            if not os.path.samestat(os.stat(f"/proc/{root}/root"), host):
                return os.stat(f"/proc/{root}/root{VIEW.workspace}")
        except ProcessLookupError:
            return None
        except OSError:
            if not os.path.exists(f"/proc/{root}"):
                return None
        time.sleep(READY_EVERY)
    return None


def _shown(folders: tuple[str, ...]) -> list[str]:
    """Return what is shown of the host besides its system, below folders open to everybody.

    The folders that bubblewrap makes by itself are open to root alone.
    """
    options = _parents((*folders, "/etc/passwd", f"{VIEW.inside}/orders"))
    for path in folders:
        options += ["--ro-bind", path, path]
    for path in SHOWN_ETC:
        options += ["--ro-bind-try", path, path]
    if os.path.islink("/etc/localtime"):
        options += ["--symlink", os.path.realpath("/etc/localtime"), "/etc/localtime"]
    return options


def _parents(paths: Iterable[str]) -> list[str]:
    above = {str(parent) for path in paths for parent in Path(path).parents}
    made = sorted(above - {"/", *SYSTEM_FOLDERS})
    return [word for path in made for word in ("--perms", "0755", "--dir", path)]


def _tmpfs(path: str, size: int) -> tuple[str, ...]:
    return ("--perms", "1777", "--size", str(size), "--tmpfs", path)
