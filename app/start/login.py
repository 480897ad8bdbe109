"""Starts Assent with the desktop, where the settings ask for it: a file in the folder that the desktop reads."""

from __future__ import annotations

import contextlib
import hashlib
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.model.translation import tr
from runner.system.durable import replace_file
from runner.system.plain_file import read_file
from runner.system.private_folder import make_folder

if TYPE_CHECKING:
    from pathlib import Path

    from runner.system.places import Places

NAME = "assent.desktop"
MINIMIZED = "--minimized"
"""The argument with which the window starts minimized."""
ENTRY = """\
[Desktop Entry]
Type=Application
Name=Assent
Comment=Written by Assent, as its settings ask for it. Once you change it, Assent leaves it alone.
Exec={command}{arguments}
Icon=assent
Terminal=false
StartupWMClass=assent
"""
SUM = "X-Assent-Sum="
"""Begins the last line: a hash of the lines before it, by which a change is seen."""


def file_for(places: Places) -> Path | None:
    """Return the file that the desktop reads at login; None where Assent has a folder of its own (`ASSENT_HOME`)."""
    return None if places.home is None else places.config.parent / "autostart" / NAME


def keep(file: Path, command: str, *, wanted: bool, before: bool, minimized: bool = False) -> None:
    """Make `file` what the settings ask for, where that has changed since `before`. Raises KnownError.

    `minimized`: the window is to start so.

    What the person did to it in the desktop's own settings meanwhile counts more than an unchanged setting.
    """
    text = entry(command, minimized=minimized)
    if wanted != before or (wanted and outdated(file, text)):
        apply(file, text, wanted=wanted)


def entry(command: str, *, minimized: bool = False) -> str:
    """Return the file that starts `command` at login."""
    return signed(ENTRY.format(command=quoted(command), arguments=f" {MINIMIZED}" if minimized else ""))


def apply(file: Path, text: str, *, wanted: bool) -> None:
    """Write `text` to `file` or remove it. Raises KnownError where it is the person's own, or cannot be written."""
    try:
        mine = _is_mine(file)
        if mine is False:  # and not None, where there is none
            what = tr("{file} is not as Assent has written it, so it stays.", file=file)
            raise KnownError(what, tr('Remove it (rm "{file}"), then start Assent again.', file=file))
        if wanted:
            make_folder(file.parent)
            replace_file(file, text)
        elif mine:
            file.unlink()
    except OSError as error:
        raise KnownError(
            tr("Starting at login could not be changed: {error}.", error=error), tr("Check the rights of the folder.")
        ) from error


def outdated(file: Path, text: str) -> bool:
    """Return whether `file` is Assent's and is not `text`, as after a checkout was moved or a setting changed."""
    with contextlib.suppress(OSError):
        return bool(_is_mine(file)) and read_file(file).decode() != text
    return False


def quoted(command: str) -> str:
    """Return the path of a program as the specification of desktop entries wants it in `Exec`."""
    for special in ("\\", '"', "`", "$"):
        command = command.replace(special, "\\" + special)
    # Twice: once for the quotes of the argument, once because the value is a string.
    return '"{}"'.format(command.replace("\\", "\\\\").replace("%", "%%"))


def signed(text: str) -> str:
    """Return `text` with its hash."""
    return f"{text}{SUM}{hashlib.sha256(text.encode()).hexdigest()}\n"


def _is_mine(file: Path) -> bool | None:
    """Return whether `file` is as Assent wrote it; None where there is none. A link is the person's."""
    if not file.exists() and not file.is_symlink():
        return None
    if file.is_symlink():
        return False
    try:
        text = read_file(file).decode()
    except UnicodeDecodeError:
        return False
    body, found, _ = text.rpartition(SUM)
    return bool(found) and signed(body) == text
