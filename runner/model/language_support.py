"""The facts about each language that the program has to know: one value a language, in one table.

How code is read and how it is started stands where that is done, by `match`: the type checker names those places.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runner.model.bundle import NODE_FOLDER, PYTHON_FOLDER
from runner.model.plan import Registry
from runner.model.request import Language

if TYPE_CHECKING:
    from collections.abc import Mapping


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
class Toolchain:
    """The way a language is run and read by values alone, without any part of the program for it."""

    program: str
    """Name of the compiler or interpreter."""
    asks: tuple[str, ...]
    """Arguments by which it prints its version: the first text of the form 1.2 or 1.2.3 in its output counts."""
    least: tuple[int, int]
    """The oldest version that runs code, by its first two numbers."""
    start: str
    """Text for Bash that compiles and runs a program.

    It finds the path of `program` in $1, that of the file with the code in $2, a private folder for what is compiled in
    $3, and the memory that there is, in MB, in $4. It ends with `exec`, so that the program takes the place of the
    shell. Environment variables of the request are set when it starts.
    """
    root: tuple[str, ...] = ()
    """Arguments by which it prints the folder that it is installed in; without, that is above its own."""
    shown: tuple[str, ...] = ()
    """What else of the system it reads, as patterns of paths; the local sandbox shows it, and no other settings."""
    prepare: str = ""
    """Text for sh that compiles ahead what every program uses, as its image is built, into the folder $1.

    `start` finds that folder, which it cannot change, in CACHE; '' where there is none, as in the local sandbox.
    """
    reading: Mapping[str, Any] | None = None
    """Data by which its code is read, as in `resources/rules/languages`; None where that folder has it."""


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
    image: str = ""
    """Name of the setting for its image; '' where that for all images counts."""
    toolchain: Toolchain | None = None
    """None where the program has parts of its own for this language."""
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
    Language.GO: LanguageSupport(
        title="Go",
        suffix="go",
        endings=(".go",),
        also=(),
        programs=("go",),
        package="golang-go",
        sample=('package main\n\nimport "fmt"\n\nfunc main() {\n\tfmt.Println(6 * 7)\n}\n', "42"),
        idle="package main\n\nfunc main() {}\n",
        toolchain=Toolchain(
            program="go",
            asks=("version",),
            least=(1, 19),
            root=("env", "GOROOT"),
            # In a folder with nothing else, so that no file of the workspace decides how it is compiled: as a module of
            # its own, which imports nothing by a path outside of it. Without C: that would be compiled with whatever
            # options the code names.
            start="""
(cp -- "$2" "$3/main.go" && cd -- "$3" || exit
export CGO_ENABLED=0 GO111MODULE=on GOENV=off GOFLAGS= GOPATH="$3/path" GOPROXY=off GOTOOLCHAIN=local GOWORK=off
export GOCACHE="${CACHE:-$3/cache}"
printf %s "$EPOCHSECONDS" >trimmed
said=$("$1" mod init main 2>&1) || { printf '%s\\n' "$said" >&2; exit 1; }
"$1" build -buildvcs=false -o program main.go) || exit
unset CACHE
exec "$3/program"
""",
            prepare="""
export CGO_ENABLED=0 GO111MODULE=off GOENV=off GOFLAGS= GOPATH=/tmp/path GOCACHE="$1" GOPROXY=off
export GOTOOLCHAIN=local GOWORK=off HOME=/tmp
go build std || exit
# When each was made is in there as well.
find "$1" -name '*-a' -exec sed -i -E 's/[0-9]{19}$/1000000000000000000/' {} +
rm -rf "$1/trim.txt" "$1/README" /tmp/path
# Go ends with an error where it cannot note there when it last looked for what is old.
ln -s /tmp/.build/trimmed "$1/trim.txt"
""",
        ),
    ),
    Language.RUST: LanguageSupport(
        title="Rust",
        suffix="rs",
        endings=(".rs",),
        also=(),
        programs=("rustc",),
        package="rustc",
        sample=('fn main() {\n    println!("{}", 6 * 7);\n}\n', "42"),
        idle="fn main() {}\n",
        toolchain=Toolchain(
            program="rustc",
            asks=("--version",),
            least=(1, 63),
            root=("--print", "sysroot"),
            # An installer that is not run would make this link.
            prepare="ln -sf gcc /usr/bin/cc\n",
            start="""
(cp -- "$2" "$3/main.rs" && cd -- "$3" && "$1" --edition 2021 --crate-name main -C debuginfo=0 main.rs) || exit
exec "$3/main"
""",
        ),
    ),
    Language.JAVA: LanguageSupport(
        title="Java",
        suffix="java",
        endings=(".java",),
        also=(),
        programs=("java",),
        package="default-jdk-headless",
        sample=(
            "public class Main {\n    public static void main(String[] given) {\n"
            "        System.out.println(6 * 7);\n    }\n}\n",
            "42",
        ),
        idle="class Main {\n    public static void main(String[] given) {}\n}\n",
        toolchain=Toolchain(
            program="java",
            asks=("--version",),
            least=(17, 0),
            shown=("/etc/java-*-openjdk",),
            # The installers that are not run would make these links, and what the virtual machine starts from.
            prepare="""
for one in java javac jar; do ln -sf "../lib/jvm/default-java/bin/$one" /usr/bin/; done
java -Xshare:dump >/dev/null
""",
            # No files with figures in /tmp; one thread for garbage, as processes and threads are counted together. No
            # class of the workspace takes the place of one that the code names.
            start="""
cp -- "$2" "$3/Main.java" || exit
set -- "$1" -XX:-UsePerfData -XX:+UseSerialGC -XX:TieredStopAtLevel=1 "-Xmx$(($4 * 6 / 10))m" -cp "$3" "$3/Main.java"
exec "$@"
""",
        ),
    ),
}
"""Every language, in the order in which they are shown; packages add theirs at the end."""
OWN = tuple(LANGUAGES)
"""Those of Assent, without what packages add."""


def add(name: str, support: LanguageSupport) -> Language:
    """Add a language that a package brings, for all of this process. Returns its name as a `Language`."""
    # What makes a member of an enumeration; nothing public does it later.
    member = str.__new__(Language, name)
    member._name_, member._value_ = name.upper(), name
    Language._member_map_[member._name_] = member
    Language._member_names_.append(member._name_)
    Language._value2member_map_[name] = member
    LANGUAGES[member] = support
    return member


def language_of(registry: Registry) -> Language:
    """Return the language whose packages come from `registry`."""
    return next(one for one, support in LANGUAGES.items() if support.packages and support.packages.registry is registry)


def packages_of(language: Language | None) -> PackageSupport | None:
    """Return what there is for packages of a language; None without."""
    return None if language is None else LANGUAGES[language].packages
