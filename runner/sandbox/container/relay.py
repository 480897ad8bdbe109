"""The relay of one run in a container, and the task that carries its frames to the gate."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.sandbox import networked
from runner.sandbox.container.exec import exit_code, start
from runner.sandbox.container.failures import Denied
from runner.sandbox.container.frames import Frames
from runner.sandbox.container.mux import BadFrame, Mux
from runner.sandbox.output import Stream
from runner.sandbox.programs import script
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from runner.network.gate import Gate
    from runner.network.loop import NetworkLoop
    from runner.sandbox.container.container import Container
    from runner.sandbox.container.engine import ContainerEngine, Streams
    from runner.sandbox.contract import Job

READY_SECONDS = 20.0
"""For the relay to open its doors on a busy machine."""
END_SECONDS = 2.0
"""For its connections to end, which wait for nobody."""
OVER_SECONDS = 1.0
"""For the run to end as well, where the relay has: with a container everything ends, in no order."""
ENDED = "cannot be reached any more: the relay in the sandbox was ended while the code still runs"
ABUSED = "cannot be reached any more: something in the sandbox wrote in place of its relay"
LAST_WORDS = 1000
"""Bytes that are held of what the relay complains about."""
CERTIFICATES = "/tmp/.certificates.pem"
INTERPRETERS = ("/usr/lib/assent/python3", "python3")
"""Tried in this order. Own images have the first, whatever else they are for; others may have one on their path.

Without a shell that looks first: under gVisor it takes a fifth of the time until the relay is ready.
"""
NOT_STARTED = (126, 127)
"""Exit codes that engines give a process whose program is not there, as shells do; Docker 20.10 the first."""


class ContainerRelay:
    """The way from a container to the gate. What happens to it takes nothing but the network from the run."""

    def __init__(self, client: ContainerEngine, container: str, gate: Gate, network: NetworkLoop) -> None:
        self._client = client
        self._container = container
        self._gate = gate
        self._network = network
        self._work: asyncio.Task[None] | None = None
        self._said = bytearray()
        self._over = asyncio.Event()
        """Set on the network's loop once the run is ending, and its relay may end."""

    async def open(self, certificates: bytes) -> None:
        """Start the relay and return when its doors are open. On any loop. Raises KnownError, EngineGone and Denied."""
        self._network.start()
        try:
            await asyncio.wrap_future(self._network.submit(self._open(certificates)))
        except BaseException:
            await self.close()
            raise

    def let_end(self) -> None:
        """Note that the run is ending: from now on the end of the relay is no news. On any loop; harmless twice."""
        with contextlib.suppress(RuntimeError):  # the thread has ended
            self._network.loop.call_soon_threadsafe(self._over.set)

    async def close(self) -> None:
        """End all connections, within bounds of time. On any loop; harmless when done before."""
        try:
            ended = self._network.submit(self._end())
        except RuntimeError:  # the thread has ended, and everything on it
            return
        await asyncio.wait({asyncio.wrap_future(ended)}, timeout=END_SECONDS)

    async def _end(self) -> None:
        if self._work is not None:
            self._work.cancel()
            await asyncio.wait({self._work})

    # ---- on the thread of the network ----

    async def _open(self, certificates: bytes) -> None:
        ports = networked.OpenPorts(self._gate)
        options = ["-I", "-S", "-c", script("relay.py"), CERTIFICATES, *map(str, ports.first)]
        for interpreter in INTERPRETERS:
            if (mux := await self._start([interpreter, *options], certificates)) is not None:
                break
        else:
            raise KnownError(
                "This image cannot have a network: it holds no Python for the relay.",
                "Run the code without network, or in one of Assent's own images (assent images).",
            )
        self._gate.follow(lambda port: self._listen(mux, ports, port))
        for port in self._gate.ports:  # one may have been allowed meanwhile
            self._listen(mux, ports, port)

    async def _start(self, words: list[str], certificates: bytes) -> Mux | None:
        """Return once its doors are open; None where the image has no such program.

        Raises KnownError where it ends before or takes too long, EngineGone and Denied.
        """
        process = await start(self._client, self._container, words)
        attached = process.attached
        mux = Mux(self._gate.serve, attached.write)
        self._work = spawn("relay", self._carry(attached, mux))
        opening = spawn("relay's doors", self._opened(attached, mux, certificates))
        try:
            await asyncio.wait({opening, self._work}, timeout=READY_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if opening.done() and not mux.ready.is_set():  # it takes nothing, so it is about to end
                await asyncio.wait({self._work}, timeout=OVER_SECONDS)
        finally:
            opening.cancel()
            await asyncio.gather(opening, return_exceptions=True)
        if mux.ready.is_set():
            return mux
        if self._work.done() and await exit_code(self._client, process.id) in NOT_STARTED:
            return None
        raise self._failure()

    def _listen(self, mux: Mux, ports: networked.OpenPorts, port: int) -> None:
        if ports.add(port):
            spawn("relay's listener", _listening(mux, port))

    async def _opened(self, attached: Streams, mux: Mux, certificates: bytes) -> None:
        with contextlib.suppress(OSError):  # one that has ended at once says why when it is read from
            await attached.write(b"%08x\n" % len(certificates) + certificates)
            await mux.ready.wait()

    async def _carry(self, attached: Streams, mux: Mux) -> None:
        """Take what the relay writes until it ends, writes what no relay does, or nobody wants it any more."""
        frames, why = Frames(), ENDED
        try:
            while data := await attached.read():
                for stream, piece in frames.feed(data):
                    if stream is Stream.OUT:
                        mux.feed(piece)
                    else:
                        self._said += piece[: LAST_WORDS - len(self._said)]
        except BadFrame:
            why = ABUSED
        except OSError:
            pass
        finally:
            attached.close()
            await mux.close()
        if mux.ready.is_set():
            await self._report(why)

    async def _report(self, why: str) -> None:
        """Report the end of the relay, unless it is that of the run."""
        if why == ENDED:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(OVER_SECONDS):
                    await self._over.wait()
        if not self._over.is_set():
            self._gate.cut_off(why)

    def _failure(self) -> KnownError:
        said = " ".join(self._said.decode("utf-8", "replace").split())[-200:] or "it does not answer"
        return networked.failure(said)


async def _listening(mux: Mux, port: int) -> None:
    with contextlib.suppress(OSError):  # the relay has ended
        await mux.listen(port)


async def relayed(
    job: Job, client: ContainerEngine, container: Container, network: NetworkLoop, certificates: bytes
) -> ContainerRelay | None:
    """Return the open relay of a job in `container`, which has started; None without network. Raises KnownError."""
    if job.gate is None:
        return None
    relay = ContainerRelay(client, container.id, job.gate, network)
    try:
        await relay.open(certificates)
    except Denied as error:
        raise networked.failure(error.message) from error
    return relay
