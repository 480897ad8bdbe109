"""Languages that installed packages bring, by the entry point `assent.languages`: a `LanguageSupport` each.

A package is loaded when the settings name its language, and not before. Its code then runs in this process with all
rights of the account: what is done here keeps the faults of a clumsy one from being anything but a sentence.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.model.language_support import LANGUAGES, LanguageSupport, add
from runner.system.entry_points import error_line, package_of, the_one

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from runner.model.request import Language

GROUP = "assent.languages"
LOAD_SECONDS = 20.0
REMEDY = "Ask whoever wrote it, or take the language out of the settings."
_LOCK = threading.Lock()
"""Two at once would add a language twice."""


def load(name: str) -> Language:
    """Return the language that a package brings under `name`, which is loaded where it was not yet. Raises KnownError.

    Blocks for as long as the package takes to be imported, at most LOAD_SECONDS.
    """
    with _LOCK:
        known = {one.value: one for one in LANGUAGES}
        if name in known:
            return known[name]
        entry = the_one(GROUP, name, "language")
        return add(name, _checked(f"{name} of the package {package_of(entry)}", _brought(entry)))


def _brought(entry: EntryPoint) -> object:
    """Return what the entry point stands for. Raises KnownError."""
    title = f"{entry.name} of the package {package_of(entry)}"
    found: list[object] = []
    raised: list[BaseException] = []

    def work() -> None:
        try:
            found.append(entry.load())
        except BaseException as error:  # an import may raise anything, SystemExit too
            raised.append(error)

    # A thread of its own, that holds nobody: an import may never end.
    thread = threading.Thread(target=work, name="load a language", daemon=True)
    thread.start()
    thread.join(LOAD_SECONDS)
    if raised:
        raise KnownError(f"The language {title} cannot be loaded: {error_line(raised[0])}.", REMEDY) from raised[0]
    if not found:
        raise KnownError(f"The language {title} is not loaded after {LOAD_SECONDS:g} s.", REMEDY)
    return found[0]


def _checked(title: str, brought: object) -> LanguageSupport:
    """Return it where it is a language that fits beside the others. Raises KnownError."""
    if not isinstance(brought, LanguageSupport):
        raise KnownError(f"What {title} brings is no language.", REMEDY)
    if brought.toolchain is None or not brought.toolchain.reading or brought.packages is not None or brought.image:
        raise KnownError(f"The language {title} has to bring how it is run and read, and nothing else.", REMEDY)
    for other in LANGUAGES.values():
        shared = {*brought.endings, *brought.also} & {*other.endings, *other.also}
        shared |= {*brought.programs} & {*other.programs}
        if shared or brought.title == other.title:
            what = min(shared, default=brought.title)
            raise KnownError(f"The language {title} has {what}, which {other.title} has.", REMEDY)
    return brought
