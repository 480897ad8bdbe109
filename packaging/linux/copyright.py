"""Writes the licences of everything that the package holds, as Debian's copyright file (format 1.0).

Usage: copyright.py TREE FILE. The texts are those that the wheels carry; a wheel that carries none and whose licence
is none of those that every Debian system has stops the build.
"""

from __future__ import annotations

import sys
from importlib.metadata import Distribution, PathDistribution
from pathlib import Path

COMMON = {
    "Apache-2.0": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "LGPL": "LGPL-3",
    "GPL": "GPL-3",
}
"""Beginnings of licence names -> the file in /usr/share/common-licenses."""
COMMON_TEXT = "On Debian systems the text is in /usr/share/common-licenses/{}."
APACHE = "Apache License Version 2.0, January 2004"
"""In the text that every Debian system has."""
HEAD = """\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Assent

Files: *
Copyright: 2026 The Assent developers
License: Apache-2.0
 On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.

Files: usr/lib/assent/app/PySide6/* usr/lib/assent/app/shiboken6/*
Copyright: The Qt Company Ltd. and other contributors
License: LGPL-3
 On Debian systems the text is in /usr/share/common-licenses/LGPL-3.
 The libraries are files of their own in these folders and may be replaced by others.
"""
BESIDE = {
    "usr/lib/assent/app/resources/fonts/Inter-*": "Inter-OFL.txt",
    "usr/lib/assent/app/resources/fonts/JetBrainsMono-*": "JetBrainsMono-OFL.txt",
}
OWN_ICONS = ("assent*.svg", "mark-*.svg")


def main(tree: Path, file: Path) -> None:
    """Write the file. Raises SystemExit where a licence has no text."""
    parts = [HEAD]
    for pattern, name in BESIDE.items():
        text = (tree / "app/resources/fonts" / name).read_text("utf-8")
        parts.append(_stanza(pattern, text.splitlines()[0], "OFL-1.1", text))
    icons = (tree / "app/resources/icons/LICENSE").read_text("utf-8")
    parts.append(_stanza("usr/lib/assent/app/resources/icons/*", "Lucide Icons and Contributors", "ISC", icons))
    own = " ".join(f"usr/lib/assent/app/resources/icons/{name}" for name in OWN_ICONS)
    parts.append(_stanza(own, "2026 The Assent developers", "Apache-2.0", COMMON_TEXT.format("Apache-2.0")))
    for info in sorted((tree / "app").glob("*.dist-info"), key=lambda info: info.name.lower()):
        if not info.name.startswith(("assent", "pyside6", "shiboken6")):
            parts.append(_of(PathDistribution(info), info))
    python = (tree / "python/licenses/python").read_text("utf-8")
    parts.append(_stanza("usr/lib/assent/python/*", "Python Software Foundation and others", "PSF-2", python))
    file.write_text("\n".join(parts), "utf-8")


def _of(one: Distribution, info: Path) -> str:
    name = one.metadata["Name"]
    said = one.metadata.get("License-Expression") or (one.metadata.get("License") or "").split("\n")[0]
    texts = [
        path.read_text("utf-8", "replace")
        for path in sorted(info.rglob("*"))
        if path.is_file() and path.name.upper().startswith(("LICEN", "COPYING", "NOTICE", "AUTHORS"))
    ]
    if not texts and one.metadata.get_all("License-File"):
        raise SystemExit(f"{name} names files with its licence, and they are not in {info}.")
    whole = one.metadata.get("License") or ""
    if not texts and "\n" in whole:
        texts = [whole]
    common = next((file for start, file in COMMON.items() if said.startswith(start)), "")
    if not texts and not common:
        classified = [entry for entry in one.metadata.get_all("Classifier") or () if entry.startswith("License ::")]
        if not classified and not said:
            raise SystemExit(f"{name} has no text of its licence.")
        texts = [f"{said}\n{chr(10).join(classified)}\nThe wheel carries no text of it."]
    texts = [COMMON_TEXT.format("Apache-2.0") if APACHE in " ".join(text.split()) else text for text in texts]
    text = "\n\n".join(dict.fromkeys(texts)) or COMMON_TEXT.format(common)
    holder = one.metadata.get("Author-email") or one.metadata.get("Author") or f"the authors of {name}"
    return _stanza(f"usr/lib/assent/app/{name}", holder, name, text)


def _stanza(files: str, holder: str, licence: str, text: str) -> str:
    lines = "\n".join(f" {line.rstrip()}" if line.strip() else " ." for line in text.strip().splitlines())
    return f"Files: {files}\nCopyright: {' '.join(holder.split())}\nLicense: {licence}\n{lines}\n"


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
