"""The known files of a kept sandbox that code uses."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from runner.model.request import Language

if TYPE_CHECKING:
    from runner.model.request import KnownFile


class Use(NamedTuple):
    """What code uses of the known files, and what remains to be followed of the code itself."""

    rest: str
    """The code: without what starts a file, and with the text of a file that it runs in its own place."""
    files: tuple[KnownFile, ...] = ()
    """Every file that is used."""
    programs: tuple[tuple[Language, KnownFile], ...] = ()
    """Those that run by themselves, in the language in which they are run."""
    imports: frozenset[str] = frozenset()
    """Modules that are found among the known files, as the code names them."""
    modules: tuple[KnownFile, ...] = ()
    """Python modules among the files."""

    @property
    def texts(self) -> tuple[tuple[Language, str], ...]:
        """What runs besides the code, each with its language."""
        return (
            *((language, file.text) for language, file in self.programs),
            *((Language.PYTHON, file.text) for file in self.modules),
        )
