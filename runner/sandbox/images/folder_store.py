"""Images unpacked into folders, for gVisor that Assent starts itself: what a container engine's own store is to it."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import re
import shutil
import tarfile
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.sandbox.images.store import NotLoaded
from runner.system.durable import replace_file
from runner.system.places import Places
from runner.system.private_folder import make_folder
from runner.system.removal import remove
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterator
    from typing import IO

CHUNK = 1 << 22
"""Bytes between two reports of how far it is."""
MOST_JSON = 1 << 20
"""Bytes of a manifest or a configuration."""
MOST_BYTES = 4 << 30
"""Of all files of an image."""
ID = re.compile(r"sha256:([0-9a-f]{64})")
TAG = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}:[a-zA-Z0-9._-]{1,32}")
DRAFT = ".draft-"
MADE_SAFE = ~(0o6000 | 0o022)
"""What is left of a file's mode: neither does it give its owner's rights, nor may others write to it."""


class FolderStore:
    """A folder for each image, named by the image's id: `root` with its files, and `lock`, held while it is used.

    Beside them a file for each tag, with the id and the labels of its image. Several consoles may share it.
    """

    def __init__(self, folder: Path | None = None) -> None:
        """`folder` is made when the first image is loaded; by default it is below the data of Assent."""
        self._given = folder

    @property
    def folder(self) -> Path:
        return self._given or Places.standard().images

    def described(self, tag: str) -> dict[str, Any] | None:
        """Return the image of that tag as a container engine describes one; None where there is none. Blocks."""
        try:
            found = json.loads(self._pointer(tag).read_text("utf-8"))
            if not (self._place(found["Id"]) / "root").is_dir():
                return None
            return {"Id": str(found["Id"]), "Config": {"Labels": dict(found["Labels"])}}
        except (OSError, ValueError, KeyError, TypeError):
            return None

    @contextlib.contextmanager
    def used(self, image: str) -> Iterator[Path]:
        """Yield the root folder of an image, by id or tag, which stays meanwhile. Raises FileNotFoundError."""
        place = self._place(self._id(image))
        lock = os.open(place / "lock", os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(lock, fcntl.LOCK_SH)
            if not (place / "root").is_dir():
                raise FileNotFoundError(image)
            yield place / "root"
        finally:
            os.close(lock)

    async def found(self, tag: str) -> dict[str, Any] | None:
        return await asyncio.to_thread(self.described, tag)

    async def discard(self, id: str) -> None:
        """Remove an image that has no tag any more; one that is in use stays until an image is loaded next."""
        await asyncio.to_thread(self._discard, id)

    async def load(self, archive: Path) -> AsyncGenerator[float]:
        """Put an image in; yields the part that is done. Raises NotLoaded and OSError, leaving nothing."""
        size = max(1, archive.stat().st_size)
        loop, parts = asyncio.get_running_loop(), asyncio.Queue[float | None]()
        stopped, said = False, 0

        def report(done: int) -> None:
            nonlocal said
            if stopped:
                raise NotLoaded("stopped")
            if done - said < CHUNK:
                return
            said = done
            with contextlib.suppress(RuntimeError):  # the loop may be gone
                loop.call_soon_threadsafe(parts.put_nowait, min(1.0, done / size))

        loading = spawn("unpack an image", asyncio.to_thread(self._load, archive, report))
        loading.add_done_callback(lambda _: parts.put_nowait(None))
        try:
            while (part := await parts.get()) is not None:
                yield part
            await loading
        finally:
            stopped = True
            await asyncio.gather(loading, return_exceptions=True)

    # ---- all of these block ----

    def _id(self, image: str) -> str:
        """Raises FileNotFoundError."""
        if ID.fullmatch(image):
            return image
        if (found := self.described(image)) is None:
            raise FileNotFoundError(image)
        return str(found["Id"])

    def _pointer(self, tag: str) -> Path:
        if not TAG.fullmatch(tag):
            raise ValueError(tag)
        return self.folder / f"{tag.replace(':', '@')}.json"

    def _place(self, id: str) -> Path:
        found = ID.fullmatch(id)
        if found is None:
            raise ValueError(id)
        return self.folder / found[1]

    def _load(self, archive: Path, report: Callable[[int], None]) -> None:
        make_folder(self.folder)
        self._clear_away()
        draft = Path(tempfile.mkdtemp(prefix=DRAFT, dir=self.folder))
        try:
            tag, id, labels = _unpacked(archive, draft / "root", report)
            place = self._place(id)
            (draft / "lock").touch(mode=0o600)
            if not (place / "root").is_dir():
                remove(place)
                draft.rename(place)
            replace_file(self._pointer(tag), json.dumps({"Id": id, "Labels": labels}))
        except (KeyError, TypeError, ValueError, EOFError, tarfile.TarError) as error:
            raise NotLoaded(f"this is no image ({error})") from error
        finally:
            remove(draft)

    def _discard(self, id: str) -> None:
        place = self._place(id)
        if id in self._tagged():
            return
        try:
            lock = os.open(place / "lock", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            remove(place)
            return
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            remove(place)
        except BlockingIOError:
            return
        finally:
            os.close(lock)

    def _tagged(self) -> set[str]:
        pointers = (path.name.removesuffix(".json").replace("@", ":") for path in self.folder.glob("*@*.json"))
        return {str(found["Id"]) for tag in pointers if (found := self.described(tag))}

    def _clear_away(self) -> None:
        """Remove images without a tag that nobody uses, and what a build that was killed has left."""
        for path in list(self.folder.iterdir()):
            if path.name.startswith(DRAFT) and not _fresh(path):
                remove(path)
            elif re.fullmatch(r"[0-9a-f]{64}", path.name):
                self._discard(f"sha256:{path.name}")


def _fresh(path: Path) -> bool:
    """Return whether another console may be unpacking there: an image takes a few seconds."""
    try:
        return path.stat().st_mtime > path.parent.stat().st_mtime - 3600
    except OSError:
        return True


def _unpacked(archive: Path, root: Path, report: Callable[[int], None]) -> tuple[str, str, dict[str, str]]:
    """Unpack an archive of `runner.sandbox.images.archive`; its tag, its id and its labels."""
    with tarfile.open(archive, "r:") as whole:
        (manifest,) = json.loads(_text(whole, "manifest.json"))
        config = str(manifest["Config"])
        labels = json.loads(_text(whole, config))["config"]["Labels"]
        (layer,) = manifest["Layers"]
        content = whole.extractfile(layer)
        if content is None:
            raise ValueError("it has no files")
        root.mkdir(mode=0o755)
        with tarfile.open(fileobj=content, mode="r|") as files:
            _extract(files, content, root, report)
    (tag,) = manifest["RepoTags"]
    id = f"sha256:{config.removesuffix('.json')}"
    return str(tag), id, {str(key): str(value) for key, value in labels.items()}


def _text(whole: tarfile.TarFile, name: str) -> bytes:
    content = whole.extractfile(name)
    if content is None or whole.getmember(name).size > MOST_JSON:
        raise ValueError(name)
    return content.read()


def _extract(files: tarfile.TarFile, content: IO[bytes], root: Path, report: Callable[[int], None]) -> None:
    """Put files, folders and links below `root`, and nothing else; no entry may lead out of it.

    Raises ValueError, and OSError where the disk is full.
    """
    left = MOST_BYTES
    owned = os.geteuid() == 0
    for member in files:
        name = os.path.normpath(member.name)
        if name.startswith(("/", "..")):
            raise ValueError(f"an entry leads out of it: {member.name}")
        place = root / name
        # What an earlier entry has made a link must not lead anywhere.
        if place != root and place.parent.resolve() != root.resolve() / os.path.dirname(name):
            raise ValueError(f"an entry stands behind a link: {member.name}")
        if place.is_symlink():  # a folder of that name would change the mode of what it leads to
            raise ValueError(f"an entry is there twice: {member.name}")
        left -= member.size
        if left < 0:
            raise ValueError("it is too large")
        _put(files, member, place, root)
        if owned and not member.islnk():
            os.chown(place, member.uid, member.gid, follow_symlinks=False)
        if not (member.issym() or member.islnk()):
            place.chmod(member.mode & 0o7777 & MADE_SAFE)
        report(content.tell())


def _put(files: tarfile.TarFile, member: tarfile.TarInfo, place: Path, root: Path) -> None:
    if member.isdir():
        place.mkdir(exist_ok=True)
    elif member.issym():
        place.symlink_to(member.linkname)
    elif member.islnk():
        source = root / os.path.normpath(member.linkname)
        if not source.resolve().is_relative_to(root.resolve()) or source.is_symlink():
            raise ValueError(f"a link leads out of it: {member.name}")
        place.hardlink_to(source)
    elif member.isfile():
        data = files.extractfile(member)
        assert data is not None
        with place.open("xb") as file:
            shutil.copyfileobj(data, file, 1 << 20)
    else:
        raise ValueError(f"neither file nor folder nor link: {member.name}")
