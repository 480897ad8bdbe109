"""The interface below container sandboxes: a container engine, or gVisor started by Assent itself.

The calls are named and answered as by Docker's SDK, of which these are the ones that sandboxes use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from runner.model.behaviour import Behaviour
    from runner.model.request import Language
    from runner.sandbox.container.readings import ReadingSource
    from runner.sandbox.container.start_queue import StartQueue

T = TypeVar("T")
CALL_SECONDS = 10.0
"""For an answer to an ordinary call. An engine that takes longer counts as hanging."""


class Calls(Protocol):
    """Calls of an engine. Each blocks, so each is made on a thread; raises Denied where it is not carried out."""

    def info(self) -> dict[str, Any]: ...

    def version(self) -> dict[str, Any]: ...

    def inspect_image(self, image: str) -> dict[str, Any]: ...

    def create_container_from_config(self, config: dict[str, Any], name: str) -> Any: ...

    def start(self, container: str) -> None: ...

    def kill(self, container: str, signal: str | int | None = None) -> None: ...

    def pause(self, container: str) -> None: ...

    def unpause(self, container: str) -> None: ...

    def wait(self, container: str) -> Any: ...

    def inspect_container(self, container: str) -> dict[str, Any]: ...

    def remove_container(self, container: str, v: bool = False, link: bool = False, force: bool = False) -> None: ...

    def containers(self, *, all: bool = False, filters: Any = None) -> Any: ...

    def exec_create(self, container: str, cmd: Any, *, stdin: bool = False, workdir: Any = None) -> Any: ...

    def exec_inspect(self, exec_id: str) -> dict[str, Any]: ...


class Streams(Protocol):
    """The three streams of a program in a container. Used by one task, on one loop."""

    async def read(self) -> bytes:
        """Return some of the engine's frames (`runner.sandbox.container.frames`), b'' at the end. Raises OSError."""
        ...

    async def write(self, data: bytes) -> None:
        """Send `data` to its standard input. Raises OSError."""
        ...

    @property
    def ended(self) -> bool:
        """Whether nothing will come any more and nothing is left to read."""
        ...

    def close(self) -> None:
        """Close them; who waits to read finds their end, who waits to write an error."""
        ...


class BehaviourFeed(Protocol):
    """Reports what code in a container does, one run after the other. May be used on any thread."""

    def begin(self, language: Language, *, networked: bool) -> None:
        """Begin to note what the code does that is started next."""
        ...

    @property
    def changes(self) -> int:
        """A number that grows when there is news of the run."""
        ...

    @property
    def behaviour(self) -> Behaviour:
        """What is known of the run by now."""
        ...

    def finish(self, over: float) -> Behaviour:
        """Return what the run did that was over at the moment `over` (monotonic). Blocks for a moment."""
        ...


class ContainerEngine(Protocol):
    """Carries containers. Not bound to a loop, but open streams are to that on which they were opened."""

    listeners: set[Callable[[], None]]
    """Called for each call that fails with EngineGone, on the loop of whoever awaits it."""

    @property
    def starts(self) -> StartQueue | None:
        """The line in which containers wait for their start; None where that is the engine's own business."""
        ...

    @property
    def unbound(self) -> Sequence[str]:
        """Limits that the kernel does not hold containers to here, in words with the reason; none as a rule."""
        ...

    async def call(self, function: Callable[[Calls], T], seconds: float | None = CALL_SECONDS) -> T:
        """Return what `function` does, called with the engine's calls on a thread.

        Raises EngineGone, also where it takes more than `seconds`, Denied and KnownError.
        """
        ...

    def submit(self, function: Callable[[Calls], object]) -> None:
        """Have `function` called on a thread, without a loop; nothing comes of it. May be called on any thread."""
        ...

    async def attach(self, container: str, *, errors: bool = True) -> Streams:
        """Return the three streams of a container, or without that of errors. Raises as `call`."""
        ...

    async def start_process(self, process: str) -> Streams:
        """Start what was made with `exec_create`; its three streams. Raises as `call`."""
        ...

    def readings(self, pid: int, container: str) -> ReadingSource | None:
        """Return what can be read often of a container with the first process `pid`; None where `reading` has to do."""
        ...

    def begin(self, container: str) -> None:
        """Hold a container to the limits that do not hold from its start; its code is sent next. Raises OSError."""
        ...

    async def reporting(self, runtimes: Mapping[str, Any]) -> str:
        """Return which of the engine's runtimes reports to `feed` from now on; '' for none, as where there are none."""
        ...

    async def report_no_more(self) -> None:
        """Give back the runtime that `reporting` took, as it reports nothing."""
        ...

    @property
    def unreported(self) -> str:
        """Why what code does is not reported, a clause; '' where it is, as far as is known."""
        ...

    def feed(self, container: str) -> BehaviourFeed | None:
        """Return the report of what code in a container does; None where there is none."""
        ...

    async def reading(self, container: str) -> dict[str, Any]:
        """Return what a container uses, as the engine says once a second. Raises as `call`."""
        ...

    @property
    def unshown(self) -> str:
        """Why a container cannot be shown a folder of this account, a clause; '' where it can."""
        ...

    async def close(self) -> None:
        """Break off what is under way."""
        ...
