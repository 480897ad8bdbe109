"""The recipe of each image: one file of `images/` per image."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from runner.model.errors import KnownError
from runner.model.language_support import LANGUAGES
from runner.model.request import Language

if TYPE_CHECKING:
    from collections.abc import Iterable

FOLDER = Path(__file__).resolve().parents[3] / "images"
SCRIPT = FOLDER / "rootfs.sh"
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The parser of PyYAML itself takes ten times as long, which was a tenth of all that `assent doctor` computes."""
BASE = "shell"
"""The image whose packages are in all others."""
SUITE = "trixie"
"""The Debian release that images are made of: Python 3.13, Node.js 20, Bash 5.2."""
INSTEAD = "or leave the image out of the settings: Assent has its own (assent images)"
"""Said beside a command that pulls an image which may be nowhere, as that of an example."""
TAG = "1"
"""Goes up when the sandbox needs something of an image that earlier ones do not have."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """One image; two with the same `digest` are made in the same way."""

    name: str
    title: str
    language: str
    version: str
    """The package whose version is the language's."""
    command: tuple[str, ...]
    packages: tuple[str, ...]
    remove: tuple[str, ...]
    """Paths below the root, as shell patterns, that the packages bring and nothing needs."""
    prepare: str = ""
    """Text for sh, run in the image when all is unpacked: its argument is the folder for what is compiled ahead."""

    @property
    def tag(self) -> str:
        return f"assent-{self.name}:{TAG}"

    @property
    def digest(self) -> str:
        data = json.dumps([SUITE, asdict(self)], sort_keys=True).encode() + SCRIPT.read_bytes()
        return hashlib.sha256(data).hexdigest()


def names() -> tuple[str, ...]:
    """Return every image there is, by name."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))


def own_tags() -> tuple[str, ...]:
    """Return the tags of Assent's own images."""
    return tuple(recipe(name).tag for name in names())


def remedy(images: Iterable[str]) -> str:
    """Return the commands that bring `images`: Assent's own are built, others are pulled."""
    own = own_tags()
    wanted = list(dict.fromkeys(images))
    commands = ["assent images"] * any(image in own for image in wanted)
    others = [f"docker pull {image}" for image in wanted if image not in own]
    return "; ".join([*commands, *others]) + (f"  # {INSTEAD}" if others else "")


def recipe(name: str) -> Recipe:
    """Raises KnownError where there is no image of that name."""
    if name not in names():
        raise KnownError(f"There is no image named {name!r}.", f"These exist: {', '.join(names())}.")
    data = _read(name)
    packages = dict.fromkeys([*_read(BASE)["packages"], *data["packages"]])
    return Recipe(
        name=name,
        title=data["title"],
        language=data["language"],
        version=data["version"],
        command=tuple(data["command"]),
        packages=tuple(packages),
        remove=tuple(data["remove"]),
        prepare=_prepare(data["language"]),
    )


def _prepare(language: str) -> str:
    support = LANGUAGES.get(Language(language))
    return "" if support is None or support.toolchain is None else support.toolchain.prepare


def _read(name: str) -> dict[str, Any]:
    data = yaml.load((FOLDER / f"{name}.yaml").read_text("utf-8"), LOADER)
    assert isinstance(data, dict)
    return data
