"""Packs a root file system into an archive that every engine loads: equal input gives an equal image id."""

from __future__ import annotations

import datetime
import hashlib
import io
import json
import platform
import tarfile
from typing import TYPE_CHECKING

from runner.model.workspace import WORKSPACE

if TYPE_CHECKING:
    from pathlib import Path

    from runner.sandbox.images.recipe import Recipe

EPOCH = 1735689600
"""The time that everything in an image bears: the beginning of 2025."""
USER = "1000:1000"
ENVIRONMENT = ("PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", f"HOME={WORKSPACE}")
LIST = "./usr/share/assent/packages"
MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}


def pack(recipe: Recipe, root: Path, archive: Path) -> None:
    """Write `archive` from the tar archive `root`. Raises OSError, and ValueError where `root` is something else."""
    layer = _digest(root)
    config = json.dumps(_config(recipe, _version(recipe, root), layer), sort_keys=True).encode()
    name = hashlib.sha256(config).hexdigest()
    manifest = [{"Config": f"{name}.json", "RepoTags": [recipe.tag], "Layers": [f"{layer}/layer.tar"]}]
    with tarfile.open(archive, "w") as out:
        _add(out, "manifest.json", json.dumps(manifest).encode())
        _add(out, f"{name}.json", config)
        with root.open("rb") as content:
            out.addfile(_entry(f"{layer}/layer.tar", root.stat().st_size), content)


def labels(recipe: Recipe, version: str) -> dict[str, str]:
    """By which an image is found again, and by which anyone can see what it is."""
    return {
        "org.opencontainers.image.title": recipe.title,
        "org.opencontainers.image.description": f"Sandbox of Assent for {recipe.title}.",
        "org.opencontainers.image.version": version,
        "org.opencontainers.image.created": _moment(),
        "assent.language": recipe.language,
        "assent.version": version,
        "assent.recipe": recipe.digest,
    }


def _config(recipe: Recipe, version: str, layer: str) -> dict[str, object]:
    return {
        "architecture": MACHINES.get(platform.machine(), platform.machine()),
        "os": "linux",
        "created": _moment(),
        "config": {
            "User": USER,
            "Env": list(ENVIRONMENT),
            "WorkingDir": WORKSPACE,
            "Cmd": list(recipe.command),
            "Labels": labels(recipe, version),
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{layer}"]},
        "history": [{"created": _moment(), "created_by": "assent images"}],
    }


def _version(recipe: Recipe, root: Path) -> str:
    """Return the language's version from the image's packages: `nodejs_20.19.2+dfsg-1_amd64` -> `20.19.2`."""
    try:
        with tarfile.open(root, "r:") as tar:
            listed = tar.extractfile(LIST)
            packages = listed.read().decode().split() if listed else []
    except (KeyError, tarfile.TarError) as error:
        raise ValueError(str(error)) from error
    for package in packages:
        name, version, _ = package.split("_")
        if name == recipe.version:
            return version.rpartition("%3a")[2].partition("-")[0].partition("+")[0]
    raise ValueError(f"the package {recipe.version} is not in it")


def _digest(path: Path) -> str:
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _add(out: tarfile.TarFile, name: str, content: bytes) -> None:
    out.addfile(_entry(name, len(content)), io.BytesIO(content))


def _entry(name: str, size: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mtime, entry.mode = size, EPOCH, 0o644
    return entry


def _moment() -> str:
    return datetime.datetime.fromtimestamp(EPOCH, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
