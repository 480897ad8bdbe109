"""The facts about each language that the program has to know: one value a language, in one table.

How code is read and how it is started stands where that is done, by `match`: the type checker names those places.
"""

from __future__ import annotations

from dataclasses import dataclass

from runner.model.bundle import NODE_FOLDER, PYTHON_FOLDER
from runner.model.plan import Registry
from runner.model.request import Language


@dataclass(frozen=True, slots=True)
class PackageSupport:
    """Packages of a language."""

    registry: Registry
    """Where they come from."""
    setting: str
    """Name of the setting for what every new sandbox starts with."""
    folder: str
    """Where they are, below the workspace."""
    checker: str
    """The program inside a sandbox that looks whether they are as they were installed."""
    builder: str
    """The one that drives a build."""


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
    packages: PackageSupport | None = None
    """None where there are no packages for it."""
    loads: bool = False
    """Whether a program loads files beside it by name, one that it has just written as well."""


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
        packages=PackageSupport(Registry.PYPI, "python_packages", PYTHON_FOLDER, "intact.py", "build_wheel.py"),
        loads=True,
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
        packages=PackageSupport(Registry.NPM, "javascript_packages", NODE_FOLDER, "intact.cjs", "run_scripts.cjs"),
        loads=True,
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
    return next(one for one, support in LANGUAGES.items() if support.packages and support.packages.registry is registry)


def packages_of(language: Language | None) -> PackageSupport | None:
    """Return what there is for packages of a language; None without."""
    return None if language is None else LANGUAGES[language].packages
