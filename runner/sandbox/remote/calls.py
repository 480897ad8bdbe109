"""The calls of a container engine, carried out by E2B's API: a container is a sandbox there, its programs processes."""

from __future__ import annotations

import contextlib
import hashlib
import secrets
import threading
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from runner.sandbox.container.failures import Denied, EngineGone
from runner.sandbox.container.readings import ContainerReading
from runner.sandbox.container.shape import HOST_LABEL, RUN_LABEL
from runner.sandbox.container.starter import BASH
from runner.sandbox.programs import remote, script
from runner.sandbox.remote import failures
from runner.sandbox.remote.client import ControlPlane
from runner.sandbox.remote.processes import ProcessEnd, SandboxAddress
from runner.sandbox.remote.short import run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.sandbox.remote.processes import ProcessStreams
    from runner.sandbox.remote.service import Service

TITLE = "assent-"
"""Before the run's name in the name of a container."""
USER = 61000
"""No account of any template has this number, so nothing there lets it become root again."""
LIFE_SECONDS = 300
"""After which E2B ends a sandbox by itself, unless it is prolonged: a console that is gone pays no longer."""
PROLONG_SECONDS = 90.0
WAIT_SECONDS = 9.0
PROBE_SECONDS = 30.0
PREPARE_SECONDS = 20.0
MOST_EXECUTIONS = 1000
ALL = "0.0.0.0/0"
PINNED = " build "
"""Between a template's name and its build, in the id of an image."""
NOT_PINNED = "template {}, not pinned"
ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
AS_USER = ("setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--no-new-privs")
TO_ALL = {"SIGUSR1": "TERM", "SIGUSR2": "KILL"}
"""What these signals to the first process of a sandbox that is kept mean for all others in it."""
TICK_SECONDS = 0.01
KILLED = 128 + 9


@dataclass(slots=True)
class RemoteContainer:
    """A sandbox of the service, and its first process."""

    name: str
    config: dict[str, Any]
    address: SandboxAddress
    ended: ProcessEnd = field(default_factory=ProcessEnd)
    streams: ProcessStreams | None = None
    removed: bool = False
    readings: RemoteReadings | None = None

    @property
    def kept(self) -> bool:
        return bool(self.config["Cmd"][-1] == script("keeping.sh"))

    def close(self) -> None:
        """Close its streams; may be called on any thread."""
        readings = None if self.readings is None else self.readings.streams
        for streams in filter(None, (self.streams, readings)):
            streams.ended_as.settle(KILLED)
            streams.close()


@dataclass(slots=True)
class RemoteExecution:
    """A process that is or was to be started in a sandbox."""

    container: RemoteContainer
    words: Sequence[str]
    ended: ProcessEnd = field(default_factory=ProcessEnd)


class RemoteReadings:
    """The last reading that came from a sandbox."""

    def __init__(self, streams: ProcessStreams) -> None:
        self.streams = streams
        self._last = ContainerReading(0.0, 0, None, None)
        self._rest = b""

    def take(self, data: bytes) -> None:
        """Take more of what `readings.sh` writes; what is no reading is skipped."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        self._rest = self._rest[-100:]
        for line in lines[-1:]:
            with contextlib.suppress(ValueError, OverflowError):
                memory, ticks, processes, files = map(int, line.split())
                # Files are in memory there, and count as such.
                self._last = ContainerReading(ticks * TICK_SECONDS, memory + files << 10, files << 10, processes)

    def read(self) -> ContainerReading | None:
        return None if self.streams.ended else self._last


class RemoteCalls:
    """Implements `runner.sandbox.container.engine.Calls`. Everything blocks and may be called on any thread."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.plane = ControlPlane(service)
        self._lock = threading.Lock()
        self._containers: dict[str, RemoteContainer] = {}
        self._executions: dict[str, RemoteExecution] = {}
        self._prolonging: threading.Thread | None = None
        self._closing = threading.Event()
        self.tokens = True
        """Whether the last sandbox has got a token, without which nothing in it starts programs."""

    def info(self) -> dict[str, Any]:
        """Raises KnownError where the service cannot be used."""
        self.plane.open()
        self.plane.sandboxes({HOST_LABEL: "none"})
        return {"Runtimes": {}, "ServerVersion": self.service.host}

    def version(self) -> dict[str, Any]:
        self.plane.sandboxes({HOST_LABEL: "none"})
        return {"Version": self.service.host}

    def inspect_image(self, image: str) -> dict[str, Any]:
        """Return the id of a template: with its build where the service says it, else that it is not pinned."""
        name = template_of(image)
        build = self._build(name)
        return {"Id": f"{name}{PINNED}{build}" if build else NOT_PINNED.format(name)}

    def create_container_from_config(self, config: dict[str, Any], name: str) -> dict[str, str]:
        run, image = name.removeprefix(TITLE), str(config["Image"])
        body = {
            "templateID": template_of(image),
            "timeout": LIFE_SECONDS,
            "metadata": {RUN_LABEL: run, HOST_LABEL: hidden(config["Labels"][HOST_LABEL])},
            "envVars": {},
            # Whatever it may reach, it reaches through the gate of this machine. Without a list of servers for names
            # every sandbox that may reach one name may speak to 8.8.8.8 as well.
            "allow_internet_access": False,
            "network": {"denyOut": [ALL], "dnsServers": []},
        }
        made = self.plane.create(body)
        id = made["sandboxID"]
        container = None
        try:
            url = self.service.sandbox(id, str(made.get("domain") or ""))
            address = SandboxAddress(self.service.host, url, id, str(made.get("envdAccessToken") or ""))
            container = RemoteContainer(run, config, address)
            self.tokens = bool(address.token)
            with self._lock:
                self._containers[id] = container
            if PINNED in image and (now := self._build(template_of(image))) != image.partition(PINNED)[2]:
                raise Denied(
                    HTTPStatus.CONFLICT,
                    f"the template was built anew since this was asked (now {now or 'unknown'}): ask again",
                )
        except BaseException:
            if container is None:
                self.plane.remove(id)
            else:
                self.remove_container(id)
            raise
        self._prolong()
        return {"Id": id}

    def found(self, container: str) -> RemoteContainer:
        """Raises Denied where there is none of that id or name, as of a console that is gone."""
        with self._lock:
            if (found := self._containers.get(container)) is None:
                run = container.removeprefix(TITLE)
                found = next((one for one in self._containers.values() if one.name == run), None)
        if found is None:
            raise Denied(HTTPStatus.NOT_FOUND, f"no such sandbox: {container}")
        return found

    def start(self, container: str) -> None:
        """Prepare the sandbox and start its first process."""
        found = self.found(container)
        if found.streams is None:
            return
        host = found.config["HostConfig"]
        mounts = [_megabytes(str(host["Tmpfs"][place])) for place in ("/workspace", "/tmp")]
        sizes = map(str, (USER, *mounts, host["ShmSize"] >> 20))
        said = self._run(found, [*BASH, remote("prepare.sh"), "prepare", *sizes], PREPARE_SECONDS)
        if said.strip() != "prepared":
            raise Denied(HTTPStatus.INTERNAL_SERVER_ERROR, "its workspace could not be made")
        order = "keep" if found.kept else "first"
        found.streams.start(found.address, self.entered(found, found.config["Cmd"], order), ENVIRONMENT)

    def entered(self, container: RemoteContainer, words: Sequence[str], order: str = "later") -> list[str]:
        """Return the command that starts `words` in the workspace, as nobody, with the container's limits."""
        host = container.config["HostConfig"]
        limits = str(USER), str(host["PidsLimit"]), str(host["Memory"] >> 10)
        return [*BASH, remote("enter.sh"), "enter", order, *limits, *container.config["Env"], *words]

    def kill(self, container: str, signal: str | int | None = None) -> None:
        found, name = self.found(container), str(signal or "SIGKILL")
        if name == "SIGKILL":
            self._end(found)
        elif found.kept:
            # Done when this returns: passed on by its first process, it could end what is run there next.
            self._signal_all(found, TO_ALL[name])
        elif found.streams is not None and found.streams.pid:
            self._shell(found, 'kill -s "$1" "$2"', name.removeprefix("SIG"), str(found.streams.pid))

    def pause(self, container: str) -> None:
        self._signal_all(self.found(container), "STOP")

    def unpause(self, container: str) -> None:
        self._signal_all(self.found(container), "CONT")

    def wait(self, container: str) -> dict[str, int]:
        found = self.found(container)
        if not found.ended.over.wait(WAIT_SECONDS):
            raise failures.silent(self.service.host)
        return {"StatusCode": self._code(found.ended)}

    def inspect_container(self, container: str) -> dict[str, Any]:
        found = self.found(container)
        running = not found.ended.over.is_set()
        return {"State": {"Pid": 1 if running else 0, "Running": running, "OOMKilled": False}}

    def remove_container(self, container: str, v: bool = False, link: bool = False, force: bool = False) -> None:
        try:
            found = self.found(container)
        except Denied:
            if not container.startswith(TITLE):
                self.plane.remove(container)
                return
            for one in self.plane.sandboxes({RUN_LABEL: container.removeprefix(TITLE)}):
                self.plane.remove(str(one.get("sandboxID", "")))
            raise
        self._end(found)
        with self._lock:
            self._containers.pop(found.address.id, None)
            for id in [id for id, one in self._executions.items() if one.container is found]:
                del self._executions[id]
        found.close()

    def containers(self, *, all: bool = False, filters: Any = None) -> list[dict[str, Any]]:
        """Return those of this machine that the service has."""
        named = next((text for text in (filters or {}).get("label", ()) if text.startswith(f"{HOST_LABEL}=")), "")
        host = named.removeprefix(f"{HOST_LABEL}=")
        found = self.plane.sandboxes({HOST_LABEL: hidden(host)} if host else {})
        labels = [one.get("metadata") for one in found]
        return [
            {"Id": str(one.get("sandboxID", "")), "Labels": label if isinstance(label, dict) else {}}
            for one, label in zip(found, labels, strict=True)
        ]

    def exec_create(self, container: str, cmd: Any, *, stdin: bool = False, workdir: Any = None) -> dict[str, str]:
        execution, id = RemoteExecution(self.found(container), list(cmd)), secrets.token_hex(16)
        with self._lock:
            while len(self._executions) >= MOST_EXECUTIONS:
                del self._executions[next(iter(self._executions))]
            self._executions[id] = execution
        return {"Id": id}

    def execution(self, id: str) -> RemoteExecution:
        """Raises Denied."""
        with self._lock:
            if (found := self._executions.get(id)) is None:
                raise Denied(HTTPStatus.NOT_FOUND, "no such process")
            return found

    def exec_inspect(self, exec_id: str) -> dict[str, Any]:
        one = self.execution(exec_id)
        over = one.ended.over.is_set()
        code = self._code(one.ended) if over else None
        return {"Running": not over, "ExitCode": code, "ContainerID": one.container.address.id}

    def probe(self, container: str) -> list[tuple[str, str]]:
        """Return what `probe.sh` says of a sandbox. Raises EngineGone and Denied."""
        text = self._shell(self.found(container), remote("probe.sh"), str(USER), seconds=PROBE_SECONDS)
        return [(name, value) for name, _, value in (line.partition(" ") for line in text.splitlines())]

    def close(self) -> None:
        """End what is still there, and let go of the service."""
        self._closing.set()
        with self._lock:
            left = list(self._containers)
        for id in left:
            with contextlib.suppress(Denied, EngineGone):
                self.remove_container(id)
        self.plane.close()

    # ---- within ----

    def _build(self, name: str) -> str:
        """Return the build that a template has now; '' where the service does not say it."""
        try:
            listed = self.plane.templates()
        except Denied:
            return ""
        for one in listed:
            names = [one.get("templateID"), *(one.get("aliases") or ()), *(one.get("names") or ())]
            if name in names and isinstance(build := one.get("buildID"), str):
                return build
        return ""

    def _code(self, ended: ProcessEnd) -> int:
        if ended.code is None:
            assert ended.failure is not None
            raise ended.failure
        return ended.code

    def _end(self, found: RemoteContainer) -> None:
        """End the sandbox, and everything in it. Raises EngineGone and Denied."""
        if found.removed:
            return
        # Noted first: its streams break off while the call is on its way.
        found.ended.settle(KILLED)
        try:
            self.plane.remove(found.address.id)
        except Denied as error:
            if error.status != HTTPStatus.NOT_FOUND:
                raise
        found.removed = True

    def _signal_all(self, found: RemoteContainer, name: str) -> None:
        """Signal every process of the user. Without limits: with every process in use nothing could be started."""
        self._run(found, [*AS_USER, *BASH, f"kill -{name} -1"], WAIT_SECONDS)

    def _shell(self, found: RemoteContainer, text: str, *words: str, seconds: float = WAIT_SECONDS) -> str:
        return self._run(found, ["/bin/sh", "-c", text, "assent", *words], seconds)

    def _run(self, found: RemoteContainer, words: Sequence[str], seconds: float) -> str:
        """Run a program of ours as root and return what it prints. Raises EngineGone and Denied."""
        return run(found.address, words, ENVIRONMENT, seconds)

    def _prolong(self) -> None:
        with self._lock:
            if self._prolonging is None or not self._prolonging.is_alive():
                self._closing.clear()
                self._prolonging = threading.Thread(target=self._keep_alive, name="e2b keeps alive", daemon=True)
                self._prolonging.start()

    def _keep_alive(self) -> None:
        """Prolong every sandbox that is there, until there is none; one that fails is tried again next time."""
        while not self._closing.wait(PROLONG_SECONDS):
            with self._lock:
                living = [one.address.id for one in self._containers.values() if not one.removed]
                if not living:
                    self._prolonging = None
                    return
            for id in living:
                with contextlib.suppress(Denied, EngineGone):
                    self.plane.prolong(id, LIFE_SECONDS)


def template_of(image: str) -> str:
    """Return the template that an image's id, or a name, is of."""
    plain = image.partition(PINNED)[0]
    before, after = NOT_PINNED.split("{}")
    return plain.removeprefix(before).removesuffix(after) if plain.endswith(after) else plain


def hidden(host: str) -> str:
    """Return what stands for the name of this machine, which is nobody's business elsewhere."""
    return hashlib.sha256(host.encode()).hexdigest()[:24]


def _megabytes(mount: str) -> int:
    """Return the size in the options of a mount in memory."""
    size = next(part.removeprefix("size=") for part in mount.split(",") if part.startswith("size="))
    return int(size.removesuffix("m"))
