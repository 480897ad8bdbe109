"""What the program has to know of each language: one value a language, in one table.

How code is read and how it is started stands where that is done, by `match`: the type checker names those places.
"""

from __future__ import annotations

from dataclasses import dataclass

from runner.model.plan import Registry
from runner.model.request import Language


@dataclass(frozen=True, slots=True)
class LanguageSupport:
    """One language that agents may ask to run."""

    title: str
    """As it is written on screen."""
    suffix: str
    """Ending of the file that the code is put into, without a point."""
    endings: tuple[str, ...]
    """Of files that are programs in it."""
    also: tuple[str, ...]
    """Endings of files that are read as it, and that `assent run` does not take for it."""
    programs: tuple[str, ...]
    """Interpreters in a first line that begins with #!; a file with the first of them in that line is read as it."""
    package: str
    """Debian's package with its interpreter."""
    sample: tuple[str, str]
    """A program, and what it must print."""
    idle: str
    """Code that does nothing."""
    image: str
    """Name of the setting for its image."""
    packages: str = ""
    """Name of the setting for what every new sandbox starts with; '' where there are no packages for it."""
    registry: Registry | None = None
    """Where its packages come from."""


LANGUAGES = {
    Language.PYTHON: LanguageSupport(
        title="Python",
        suffix="py",
        endings=(".py",),
        also=(".pyw",),
        programs=("python",),
        package="python3",
        sample=("print(6 * 7)\n", "42"),
        idle="pass",
        image="python_image",
        packages="python_packages",
        registry=Registry.PYPI,
    ),
    Language.JAVASCRIPT: LanguageSupport(
        title="JavaScript",
        suffix="js",
        endings=(".js", ".mjs", ".cjs"),
        also=(".jsx", ".ts", ".tsx", ".mts", ".cts"),
        programs=("node",),
        package="nodejs",
        sample=("console.log(6 * 7)\n", "42"),
        idle=";",
        image="javascript_image",
        packages="javascript_packages",
        registry=Registry.NPM,
    ),
    Language.SHELL: LanguageSupport(
        title="Bash",
        suffix="sh",
        endings=(".sh", ".bash"),
        also=(".zsh", ".ksh", ".command"),
        programs=("sh", "bash"),
        package="bash",
        sample=("echo $((6 * 7))\n", "42"),
        idle=":",
        image="shell_image",
    ),
}
"""Every language, in the order in which they are shown."""


def language_of(registry: Registry) -> Language:
    """Return the language whose packages come from `registry`."""
    return next(language for language, support in LANGUAGES.items() if support.registry is registry)
