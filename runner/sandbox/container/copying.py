"""Copies the workspace of a kept container, and puts a copy back: archives through a process of our own in there."""

from __future__ import annotations

import asyncio
import tempfile
from typing import TYPE_CHECKING, BinaryIO

from runner.model.errors import KnownError
from runner.sandbox.container import archive
from runner.sandbox.container.exec import end_all, exit_code, start
from runner.sandbox.container.failures import Denied, EngineGone
from runner.sandbox.container.frames import Frames
from runner.sandbox.container.starter import BASH
from runner.sandbox.output import Stream
from runner.sandbox.programs import script
from runner.sandbox.workspace_copy import CHUNK, MOST_BYTES, SECONDS, NotCopied, WorkspaceCopy, contents
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

    from runner.sandbox.container.engine import ContainerEngine, Streams

PUT_BACK_SECONDS = 30.0
"""For files to be put back; where more is allowed, for the next piece of them to be taken."""
LAST_WORDS_SECONDS = 5.0
LONGEST_WORD = 100
WORDS = {
    "large": f"its files are larger than {MOST_BYTES >> 20} MB",
    "denied": "some of it may not be read",
}
"""What `copying.sh` says is wrong."""


async def copy(
    client: ContainerEngine, container: str, folder: Path, left: tuple[str, ...], seconds: float = SECONDS
) -> WorkspaceCopy:
    """Return a copy of the workspace without the folders `left` at its top; contents go to the disk of `folder`.

    Ends whatever runs in the container. Raises NotCopied, also where it takes more than `seconds`.
    """
    file = None
    try:
        file = await asyncio.to_thread(contents, folder)
        words = ["out", str(MOST_BYTES), *left]
        async with asyncio.timeout(seconds):
            code, said = await _executed(client, container, words, None, file)
        if code:
            raise NotCopied(WORDS.get(said, "the sandbox did not hand it out"))
        return await asyncio.to_thread(archive.read, file, left)
    except BaseException as error:
        if file is not None:
            file.close()
        if isinstance(error, TimeoutError):
            raise NotCopied(f"copying it took more than {seconds:.0f} s") from error
        if isinstance(error, (Denied, EngineGone)):
            raise NotCopied("the sandbox did not hand it out") from error
        if isinstance(error, OSError):
            raise NotCopied(f"it could not be copied: {(error.strerror or str(error)).lower()}") from error
        raise


async def put_back(
    client: ContainerEngine,
    container: str,
    folder: Path,
    copy: WorkspaceCopy,
    left: Collection[str],
    seconds: float = PUT_BACK_SECONDS,
    sent: Callable[[int, int], object] = lambda _done, _whole: None,
) -> None:
    """Put what is in `copy` in place of all that is in the workspace but the folders `left`.

    `sent` gets the bytes that are handed over and how many they are. Raises KnownError; what is in the workspace is
    then not known. Where the console ends meanwhile, so does the container.
    """
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            size = await asyncio.to_thread(archive.write, file, copy, copy.without(left))
            loop = asyncio.get_running_loop()
            end = loop.time() + seconds
            async with asyncio.timeout(min(seconds, PUT_BACK_SECONDS)) as limit:

                def moved(done: int) -> None:
                    limit.reschedule(min(end, loop.time() + PUT_BACK_SECONDS))
                    sent(done, size)

                code, said = await _executed(client, container, ["in", str(size), *left], file, None, moved)
    except (Denied, EngineGone, TimeoutError) as error:
        raise KnownError("The sandbox did not take the files back.", "Look at what is in it.") from error
    except (OSError, ValueError) as error:
        raise KnownError(f"The files could not be put back: {error}.", "Look at what is in it.") from error
    if code:
        why = "there is no room for them" if said == "room" else "some that are there may not be removed"
        raise KnownError(f"The files could not be put back: {why}.", "Look at what is in it.")


async def _executed(
    client: ContainerEngine,
    container: str,
    words: list[str],
    given: BinaryIO | None,
    taken: BinaryIO | None,
    sent: Callable[[int], object] = lambda _done: None,
) -> tuple[int, str]:
    """Run `copying.sh`; how it ended, and its word. Raises Denied, EngineGone, OSError, and NotCopied for too much."""
    started = await start(client, container, [*BASH, script("copying.sh"), "copying", *words])
    refused = asyncio.Event()
    feeding = spawn("an archive", _feed(started.attached, given, sent, refused))
    frames, said, room = Frames(), b"", archive.LONGEST_ARCHIVE
    try:
        while data := await started.attached.read():
            for stream, piece in frames.feed(data):
                if stream is not Stream.OUT:
                    said = (said + piece)[:LONGEST_WORD]
                elif taken is not None:
                    room -= len(piece)
                    if room < 0:
                        raise NotCopied(WORDS["large"])
                    taken.write(piece)
        if refused.is_set():
            raise EngineGone("The sandbox takes no more of an archive.", "Try again.")
    except BaseException:
        await end_all(client, container)
        raise
    finally:
        feeding.cancel()
        await asyncio.gather(feeding, return_exceptions=True)
        started.attached.close()
    return await exit_code(client, started.id), said.decode("latin-1")


async def _feed(
    attached: Streams, given: BinaryIO | None, sent: Callable[[int], object], refused: asyncio.Event
) -> None:
    if given is None:
        return
    given.seek(0)
    try:
        while piece := given.read(CHUNK):
            await attached.write(piece)
            sent(given.tell())
    except OSError:
        # Where the program has ended, what it has said of that is on its way, and counts.
        await asyncio.sleep(LAST_WORDS_SECONDS)
        refused.set()
        attached.close()
