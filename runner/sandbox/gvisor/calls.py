"""The calls of a container engine, carried out with `runsc`: what containers there are, and what is done to them."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.model.errors import KnownError
from runner.sandbox.container.failures import Denied, EngineHangs
from runner.sandbox.container.shape import GVISOR_THREADS, HOST_LABEL, RUN_LABEL, USER, host
from runner.sandbox.gvisor.container import LONGEST_SOCKET, SIGKILL, DirectContainer, socket_of
from runner.sandbox.gvisor.launcher import RunscLauncher
from runner.sandbox.gvisor.memory_watch import MemoryWatch
from runner.sandbox.gvisor.program import Runsc
from runner.sandbox.local import control_groups, leftovers
from runner.sandbox.local.control_groups import ControlGroups
from runner.system.process_stat import read_proc
from runner.system.removal import remove

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Sequence

    from runner.sandbox.gvisor.feed import Feed
    from runner.sandbox.gvisor.streams import Ends
    from runner.sandbox.images.folder_store import FolderStore

TITLE = "assent-"
"""Before the run's name in the name of a container."""
WAIT_SECONDS = 9.0
MOST_EXECUTIONS = 1000
"""Programs of kept containers that are remembered; a run and its files take some three."""
HANGS = EngineHangs("gVisor does not answer.", "Open Doctor.")


@dataclass(slots=True)
class Execution:
    """A program that is or was to be started in a container."""

    container: DirectContainer
    words: Sequence[str]
    place: str
    process: subprocess.Popen[bytes] | None = None


class DirectCalls:
    """Implements `runner.sandbox.container.engine.Calls`. Everything blocks and may be called on any thread."""

    def __init__(self, images: FolderStore, program: str = "", root: Path | None = None) -> None:
        """`program` is the path of runsc, '' to find it; `root` is where the folders of containers are made."""
        self._images = images
        self._path = program
        self._root = root
        self._lock = threading.Lock()
        self._program: Runsc | None = None
        self._groups: ControlGroups | KnownError | None = None
        self._containers: dict[str, DirectContainer] = {}
        self._executions: dict[str, Execution] = {}
        self.launcher = RunscLauncher()
        self._watch = MemoryWatch()

    @property
    def groups(self) -> ControlGroups | KnownError:
        """The control groups of this machine, or why there are none; examined once."""
        with self._lock:
            if self._groups is None:
                try:
                    self._groups = ControlGroups.found()
                except KnownError as error:
                    self._groups = error
            return self._groups

    def info(self) -> dict[str, Any]:
        """Raises KnownError where gVisor is not there."""
        program = Runsc.found(self._path)
        root = self._made_root()
        if not _fits(root):
            raise KnownError(f"The path {root} is too long for gVisor's sockets.", "Set TMPDIR to a shorter one.")
        self._program = program
        _ = self.groups
        return {"Runtimes": {"runsc": {"path": program.path}}, "ServerVersion": program.version}

    def version(self) -> dict[str, Any]:
        return {"Version": "" if self._program is None else self._program.version}

    def inspect_image(self, image: str) -> dict[str, Any]:
        if (found := self._images.described(image)) is None:
            raise Denied(404, f"no such image: {image}")
        return found

    def create_container_from_config(self, config: dict[str, Any], name: str) -> dict[str, str]:
        name = name.removeprefix(TITLE)
        if self._program is None:
            self.info()
        assert self._program is not None
        group = None
        if isinstance(groups := self.groups, ControlGroups):
            bounds = config["HostConfig"]
            # The container's own first process stands in for an engine's; runsc, the gofer and theirs have threads.
            processes = int(bounds["PidsLimit"]) + GVISOR_THREADS
            group = groups.container(name, int(bounds["Memory"]), processes)
        try:
            container = DirectContainer(self._program, self._made_root() / name, config, self._images, group)
        except BaseException as error:
            if group is not None:
                group.remove()
            if isinstance(error, FileNotFoundError | ValueError):
                raise Denied(404, f"no such image: {config['Image']}") from error
            if isinstance(error, OSError):
                raise Denied(500, str(error)) from error
            raise
        with self._lock:
            self._containers[name] = container
        return {"Id": name}

    def attached(self, container: str, ends: Ends) -> None:
        """Take the streams with which the container is to start."""
        self._found(container).ends = ends

    def start(self, container: str) -> None:
        found = self._found(container)
        try:
            found.start(self.launcher)
        except (OSError, TimeoutError) as error:
            raise Denied(500, str(error) or "it does not start") from error
        self._watch.add(found)

    def kill(self, container: str, signal: str | int | None = None) -> None:
        name = str(signal or SIGKILL)
        self._done(container, lambda found: found.signal(name))

    def pause(self, container: str) -> None:
        self._done(container, lambda found: found.pause(True))

    def unpause(self, container: str) -> None:
        self._done(container, lambda found: found.pause(False))

    def wait(self, container: str) -> dict[str, int]:
        found = self._found(container)
        try:
            return {"StatusCode": found.wait(WAIT_SECONDS)}
        except TimeoutError as error:
            raise HANGS from error

    def inspect_container(self, container: str) -> dict[str, Any]:
        found = self._found(container)
        return {"State": {"Pid": found.pid(), "Running": found.running, "OOMKilled": found.out_of_memory}}

    def readings(self, container: str) -> Any:
        return self._found(container).readings()

    def begin(self, container: str) -> None:
        """Hold a container to its share of the processor; its code is sent next. Raises Denied and OSError."""
        self._found(container).begin()

    def feed(self, container: str) -> Feed | None:
        """Return the report of what the code in it does. Raises Denied where there is no such container."""
        return self._found(container).feed

    def remove_container(self, container: str, v: bool = False, link: bool = False, force: bool = False) -> None:
        name = container.removeprefix(TITLE)
        with self._lock:
            found = self._containers.get(name)
            mine = {id: one for id, one in self._executions.items() if one.container is found}
        if found is None:
            self._remove_left(name)
            return
        self._watch.remove(found)
        found.remove()
        with self._lock:
            self._containers.pop(name, None)
            for id in mine:
                self._executions.pop(id, None)
        for one in mine.values():
            if one.process is not None:
                one.process.kill()
                one.process.wait(WAIT_SECONDS)

    def containers(self, *, all: bool = False, filters: Any = None) -> list[dict[str, Any]]:
        """Return those of every console of this user."""
        try:
            names = [path.name for path in self._made_root().iterdir() if path.name.startswith("run-")]
        except OSError:
            names = []
        return [{"Id": name, "Labels": {RUN_LABEL: name, HOST_LABEL: host()}} for name in names]

    def exec_create(self, container: str, cmd: Any, *, stdin: bool = False, workdir: Any = None) -> dict[str, str]:
        execution = Execution(self._found(container), list(cmd), str(workdir or "/"))
        id = secrets.token_hex(16)
        with self._lock:
            if len(self._executions) >= MOST_EXECUTIONS:
                self._forget_ended()
            self._executions[id] = execution
        return {"Id": id}

    def exec_start(self, id: str, ends: Ends) -> None:
        """Start what was made with `exec_create`, with these streams."""
        one = self._execution(id)
        try:
            one.process = one.container.execute(self.launcher, ends, one.words, one.place, f"{USER}:{USER}")
        except (OSError, TimeoutError) as error:
            raise Denied(500, str(error) or "it does not start") from error

    def exec_inspect(self, exec_id: str) -> dict[str, Any]:
        one = self._execution(exec_id)
        code = None if one.process is None else one.process.poll()
        status = code if code is None or code >= 0 else 128 - code
        return {"Running": code is None, "ExitCode": status, "ContainerID": one.container.name}

    def close(self) -> None:
        """End every container at once; what is left of their folders is removed with the next sweep."""
        self.launcher.close()

    # ---- within ----

    def _done(self, container: str, function: Any) -> None:
        found = self._found(container)
        try:
            function(found)
        except TimeoutError as error:
            raise HANGS from error

    def _found(self, container: str) -> DirectContainer:
        """Raises Denied where there is none of that name, as of a console that is gone."""
        with self._lock:
            found = self._containers.get(container.removeprefix(TITLE))
        if found is None:
            raise Denied(404, f"no such container: {container}")
        return found

    def _execution(self, id: str) -> Execution:
        with self._lock:
            if (found := self._executions.get(id)) is None:
                raise Denied(404, "no such process")
            return found

    def _forget_ended(self) -> None:
        """Forget the older half of the programs that have ended: nobody asks for their status any more."""
        for id in list(self._executions)[: MOST_EXECUTIONS // 2]:
            process = self._executions[id].process
            if process is not None and process.poll() is not None:
                del self._executions[id]

    def _made_root(self) -> Path:
        """Raises KnownError."""
        places = [Path(place) / f"assent-gvisor-{os.getuid()}" for place in (tempfile.gettempdir(), "/tmp")]
        root = self._root or next(filter(_fits, places), places[0])
        try:
            leftovers.make_root(root)
        except OSError as error:
            raise KnownError(f"No folder for containers: {error}.", "Set TMPDIR to a folder of yours.") from error
        return root

    def _remove_left(self, name: str) -> None:
        """Remove what a console that is gone has left of a container. Raises Denied."""
        folder = self._made_root() / name
        if leftovers.owner_lives(name) or "/" in name or not name.startswith("run-"):
            raise Denied(404, f"no such container: {name}")
        mark = f"--root={folder}/".encode()
        for pid in filter(str.isdigit, os.listdir("/proc")):
            if any(word.startswith(mark) for word in read_proc(f"/proc/{pid}/cmdline").split(b"\0")):
                with contextlib.suppress(OSError):
                    os.kill(int(pid), signal.SIGKILL)
        control_groups.sweep()
        if problem := remove(folder):
            raise Denied(500, f"{folder} could not be removed: {problem}")


def _fits(root: Path) -> bool:
    """Return whether the sockets of containers whose folders are in `root` may have their paths."""
    return len(os.fsencode(socket_of(root / leftovers.new_name()))) <= LONGEST_SOCKET
