"""Writes what the system shows of Assent into a folder: man page, completions of three shells, icons in their sizes.

Usage: pages.py FOLDER. All of it follows from the program: the parser of the command and the icon of the window.
SOURCE_DATE_EPOCH dates the man page, so that two builds are the same.
"""

from __future__ import annotations

import os
import sys
import time
from importlib import metadata
from pathlib import Path

import shtab
from argparse_manpage.manpage import Manpage
from PySide6.QtGui import QGuiApplication

from app.look.mark import SIZES, app_image
from runner.commands.cli import DESCRIPTION, whole_parser

FILES = """\
.SH FILES
.TP
.I ~/.config/assent/assent.yaml
settings
.TP
.I ~/.local/share/assent
the history, and the files that runs left
.SH SEE ALSO
The pages under Help in the window, which are also in
.IR /usr/lib/assent/app/resources/help .
"""


def main(folder: Path) -> None:
    """Write everything below `folder`."""
    parser = whole_parser()
    page = Manpage(parser, format="single-commands-section")
    page.source, page.manual = f"Assent {metadata.version('assent')}", "User Commands"
    page.date = time.strftime("%Y-%m-%d", time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", "0"))))
    page.description = DESCRIPTION
    _write(folder / "assent.1", f"{page}".rstrip() + "\n" + FILES)
    for shell, name in (("bash", "assent.bash"), ("zsh", "_assent"), ("fish", "assent.fish")):
        _write(folder / "completions" / name, shtab.complete(parser, shell))
    application = QGuiApplication(["pages", "-platform", "offscreen"])
    for size in SIZES:
        _draw(folder / f"icons/{size}x{size}/apps/assent.png", size)
    del application


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def _draw(path: Path, size: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not app_image(size).save(str(path)):
        raise SystemExit(f"{path} cannot be written.")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
