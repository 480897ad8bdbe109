"""The parts of an account's own installations that are shown, so that a program starts and finds its tools.

Programs of the system are there anyway. What is below the home folder is shown by the smallest folder that works: the
version of Node.js in which a client is installed, the folder of a package, a virtual environment. A folder that holds
secrets, as `~/.local` with its keyrings, is never shown as a whole.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

SYSTEM = ("/usr/", "/bin/", "/sbin/", "/lib/", "/lib32/", "/lib64/", "/etc/", "/opt/", "/dev/", "/proc/", "/sys/")
"""What the rings show by themselves."""
SECRETS = (
    ".aws",
    ".azure",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".config/gcloud",
    ".config/gh",
    ".config/google-chrome",
    ".docker",
    ".gem/credentials",
    ".git-credentials",
    ".gnupg",
    ".kube",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".mozilla",
    ".netrc",
    ".npmrc",
    ".password-store",
    ".pki",
    ".pypirc",
    ".ssh",
    ".terraform.d",
    ".thunderbird",
)
"""Below home. A folder above or in one of them is not shown."""
ASIDE = {".cargo/bin": (".rustup",)}
"""Folder of programs -> folders that those need besides."""
PROGRAMS = ("bin", "sbin", "shims", ".bin")
MODULES = "node_modules"
SHEBANG = 512
"""Bytes of a program that are looked at for its interpreter."""
MOST_LINKS = 500
"""Links of one folder of programs that are followed."""


def shown_for(program: str, home: Path, path: str) -> tuple[Path, ...]:
    """Return the folders and files to show read-only for a program and for the tools that PATH has.

    `program` is a name, or a path. Each is as PATH or a link names it, and none is below another one.
    """
    found = _Found(home, path)
    if named := shutil.which(program, path=path):
        found.program(Path(os.path.abspath(named)))
    for folder in path.split(os.pathsep):
        if folder.startswith("/"):
            found.folder(Path(os.path.normpath(folder)))
    return found.smallest()


class _Found:
    """Gathers what is to be shown."""

    def __init__(self, home: Path, path: str) -> None:
        self._home, self._path = home, path
        self._secrets = {home / name for name in SECRETS}
        self._above_secrets = {above for one in self._secrets for above in one.parents}
        self._shown: dict[Path, None] = {}
        self._seen: set[Path] = set()

    def program(self, named: Path) -> None:
        """Add what a program needs, by way of its links and of its interpreter."""
        if named in self._seen or len(self._seen) > MOST_LINKS:
            return
        self._seen.add(named)
        real = Path(os.path.realpath(named))
        for one in dict.fromkeys((named, real)):
            self._add_installation(one)
        for word in _interpreter(real):
            if word.startswith("/"):
                self.program(Path(word))
            elif interpreter := shutil.which(word, path=self._path):
                self.program(Path(os.path.abspath(interpreter)))

    def folder(self, folder: Path) -> None:
        """Add a folder of PATH, with what it is a part of, and with where its links lead."""
        if _is_system(folder) or not folder.is_dir():
            return
        self._add(*_installations(folder / "program"), folder)
        for name, asides in ASIDE.items():
            if folder == self._home / name:
                for aside in asides:
                    self._add(self._home / aside)
        try:
            entries = sorted(folder.iterdir())[:MOST_LINKS]
        except OSError:
            return
        for one in entries:
            if one.is_symlink() and one.is_file():
                self.program(one)

    def smallest(self) -> tuple[Path, ...]:
        """Return what was found, without what is below another one."""
        return tuple(one for one in self._shown if not any(other in one.parents for other in self._shown))

    def _add_installation(self, program: Path) -> None:
        if not _is_system(program):
            self._add(*_installations(program), program)

    def _add(self, *choices: Path) -> None:
        """Add the first folder or file that may be shown."""
        for one in choices:
            if not _is_system(one) and one.exists() and not self._holds_secrets(one):
                self._shown.setdefault(one)
                return

    def _holds_secrets(self, one: Path) -> bool:
        return one in self._above_secrets or not self._secrets.isdisjoint((one, *one.parents))


def _installations(program: Path) -> list[Path]:
    """Return the folders that a program may be a part of, the widest first."""
    found = []
    modules = [one for one in reversed(program.parents) if one.name == MODULES]
    if modules:
        top = modules[0]
        if top.parent.name == "lib" and (top.parent.parent / "bin").is_dir():
            found.append(top.parent.parent)
        found.append(top)
    elif program.parent.name in PROGRAMS and _is_installation(program.parent.parent):
        found.append(program.parent.parent)
    if program.parent.name == "versions":
        found.append(program.parent)
    return found


def _is_installation(prefix: Path) -> bool:
    """Return whether a folder has programs with their libraries, rather than a person's files beside their scripts."""
    if any((prefix / mark).exists() for mark in ("pyvenv.cfg", "conda-meta", f"lib/{MODULES}", "pkg/mod")):
        return True
    return any(part.startswith(".") for part in prefix.parts)


def _interpreter(program: Path) -> list[str]:
    """Return the programs that a script is started by; none for a program of the machine."""
    try:
        with program.open("rb") as file:
            line = file.read(SHEBANG).partition(b"\n")[0]
    except OSError:
        return []
    if not line.startswith(b"#!"):
        return []
    words = os.fsdecode(line[2:]).split()
    if words and words[0].rpartition("/")[2] == "env":
        rest = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
        return [words[0], *rest[:1]]
    return words[:1]


def _is_system(path: Path) -> bool:
    return str(path) == "/" or f"{path}/".startswith(SYSTEM)
