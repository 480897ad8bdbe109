"""Images in folders: unpacked whole or not at all, within their folder, kept while used, removed when replaced."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import os
import tarfile
from contextlib import aclosing
from typing import TYPE_CHECKING

import pytest

from runner.sandbox.images.folder_store import FolderStore
from runner.sandbox.images.store import NotLoaded

if TYPE_CHECKING:
    from pathlib import Path

TAG = "assent-python:1"


def entry(
    name: str, content: bytes = b"", *, kind: bytes = tarfile.REGTYPE, link: str = "", mode: int = 0o644
) -> Entry:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode, info.size = kind, link, mode, len(content)
    info.uid = info.gid = os.getuid()
    return info, content


Entry = tuple[tarfile.TarInfo, bytes]


def packed(entries: list[Entry]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for info, content in entries:
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


def archive(folder: Path, *entries: Entry, tag: str = TAG) -> tuple[Path, str]:
    """An archive as `runner.sandbox.images.archive` packs it, and the id of its image."""
    layer = packed(list(entries))
    config = json.dumps({"config": {"Labels": {"assent.recipe": hashlib.sha256(layer).hexdigest()}}}).encode()
    name = hashlib.sha256(config).hexdigest()
    manifest = json.dumps([{"Config": f"{name}.json", "RepoTags": [tag], "Layers": ["l/layer.tar"]}]).encode()
    path = folder / f"{name[:8]}.tar"
    path.write_bytes(
        packed([entry("manifest.json", manifest), entry(f"{name}.json", config), entry("l/layer.tar", layer)])
    )
    return path, f"sha256:{name}"


async def loaded(store: FolderStore, path: Path) -> list[float]:
    async with aclosing(store.load(path)) as parts:
        return [part async for part in parts]


def load(store: FolderStore, path: Path) -> list[float]:
    return asyncio.run(loaded(store, path))


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path / "images")


def test_what_is_unpacked_is_found_and_has_no_rights_of_its_owner(store: FolderStore, tmp_path: Path) -> None:
    path, id = archive(
        tmp_path,
        entry("./usr", kind=tarfile.DIRTYPE, mode=0o755),
        entry("./usr/su", b"x", mode=0o6777),
        entry("./usr/same", kind=tarfile.LNKTYPE, link="./usr/su"),
        entry("./bin", kind=tarfile.SYMTYPE, link="usr"),
        entry("./out", kind=tarfile.SYMTYPE, link="/usr/sbin/rmt"),
    )
    assert store.described(TAG) is None
    load(store, path)
    found = store.described(TAG)
    assert found is not None and found["Id"] == id and found["Config"]["Labels"]["assent.recipe"]
    for name in (TAG, id):
        with store.used(name) as root:
            assert (root / "bin/su").read_bytes() == b"x"
            assert (root / "usr/su").stat().st_mode & 0o7777 == 0o755
            assert (root / "usr/same").samefile(root / "usr/su")
            assert os.readlink(root / "out") == "/usr/sbin/rmt"
    load(store, path)
    assert store.described(TAG) == found


@pytest.mark.parametrize(
    "entries",
    [
        [entry("../out", b"x")],
        [entry("/etc/out", b"x"), entry("../../out", b"x")],
        [entry("./a", kind=tarfile.SYMTYPE, link=".."), entry("./a/out", b"x")],
        [entry("./a", kind=tarfile.SYMTYPE, link="/tmp"), entry("./a/out", b"x")],
        [entry("./a", kind=tarfile.LNKTYPE, link="../../../etc/passwd")],
        [entry("./a", kind=tarfile.SYMTYPE, link="/etc/passwd"), entry("./b", kind=tarfile.LNKTYPE, link="./a")],
        [entry("./a", kind=tarfile.SYMTYPE, link="/tmp"), entry("./a", kind=tarfile.DIRTYPE, mode=0o700)],
        [entry("./a", kind=tarfile.CHRTYPE)],
        [entry("./a", kind=tarfile.FIFOTYPE)],
    ],
)
def test_nothing_leads_out_of_it_and_nothing_is_left(store: FolderStore, tmp_path: Path, entries: list[Entry]) -> None:
    path, _ = archive(tmp_path, *entries)
    with pytest.raises(NotLoaded):
        load(store, path)
    assert store.described(TAG) is None
    assert list(store.folder.iterdir()) == []
    assert sorted(one.name for one in tmp_path.iterdir()) == sorted(["images", path.name])


def test_what_is_no_image_is_refused(store: FolderStore, tmp_path: Path) -> None:
    path = tmp_path / "x.tar"
    for content in (b"", b"x" * 5000, packed([entry("manifest.json", b"[]")]), packed([entry("other", b"")])):
        path.write_bytes(content)
        with pytest.raises(NotLoaded):
            load(store, path)
    for name in ("../x:1", "nix", "a/b:1", "sha256:x", ""):
        with pytest.raises((FileNotFoundError, ValueError)), store.used(name):
            pass


def test_a_replaced_image_stays_while_it_is_used(store: FolderStore, tmp_path: Path) -> None:
    (first, old), (second, new) = (archive(tmp_path, entry("./n", text)) for text in (b"1", b"2"))
    load(store, first)
    with store.used(old) as root:
        load(store, second)
        asyncio.run(store.discard(old))
        assert (root / "n").read_bytes() == b"1"
        asyncio.run(store.discard(new))  # has its tag
    with store.used(TAG) as root:
        assert (root / "n").read_bytes() == b"2"
        load(store, second)
        assert not (store.folder / old.removeprefix("sha256:")).exists()
        assert (root / "n").exists()


def test_a_build_that_is_stopped_leaves_nothing(store: FolderStore, tmp_path: Path) -> None:
    path, _ = archive(tmp_path, *(entry(f"./f{number}", b"x" * 500_000) for number in range(60)))

    async def body() -> None:
        async with aclosing(store.load(path)) as parts:
            await anext(parts)

    asyncio.run(body())
    assert not list(store.folder.glob(".draft-*"))
