"""Kinds of files and folders: what a path means for a system, from its text alone."""

from __future__ import annotations

import fnmatch
import posixpath
import re
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.outline_data import words
from runner.risk.model.value import HOLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

LONGEST_PATH = 1_000
"""Characters of a path without detours that are compared."""
TOO_LONG = frozenset(["outside"])
"""What a longer path counts as: it may lead anywhere."""

HOME = expression(
    r"^(?:/home/(?!\*)[^/]+|/users/(?!\*|shared)[^/]+|/root|/var/root|[a-z]:/users/(?!public|\*)[^/]+"
    r"|\$\{?home\}?|%userprofile%|%homepath%|\$env:userprofile)(?=/|$)",
    re.IGNORECASE,
)
# Windows folders known by an environment variable, in each of the three ways of writing one.
VARIABLES = {
    "appdata": "~/AppData/Roaming",
    "localappdata": "~/AppData/Local",
    "temp": "/tmp",
    "tmp": "/tmp",
    "tmpdir": "/tmp",
    "userprofile": "~",
    "home": "~",
    "homepath": "~",
    "windir": "C:/Windows",
    "systemroot": "C:/Windows",
    "systemdrive": "C:",
    "programdata": "C:/ProgramData",
    "programfiles": "C:/Program Files",
    "programfiles(x86)": "C:/Program Files",
    "allusersprofile": "C:/ProgramData",
    "public": "C:/Users/Public",
}
# Climbing out of wherever the program stands, to a folder that only the root has.
CLIMB = expression(r"^(?:\.\./)+(?=(?:etc|root|home|proc|sys|var|usr|boot|windows)(?:/|$))", re.IGNORECASE)
# The root of the whole system by way of a process, and the folder in which one stands.
ROOTS = expression(r"^//?proc/(?:self|thread-self|\d{1,9})/(?:root(?=/)|cwd/)")
# Everything below a folder, however deep.
DEEP = expression(r"(?<!/\*\*)(?:/\*\*)++(?:/\*)?$")
GUESSED = sorted(
    words(
        "/etc/shadow /etc/shadow- /etc/gshadow /etc/passwd /etc/sudoers /etc/ssh/ssh_host_rsa_key /etc/krb5.keytab"
        " /proc/self/environ ~/.ssh ~/.ssh/id_rsa ~/.ssh/id_ed25519 ~/.ssh/id_ecdsa ~/.aws ~/.aws/credentials ~/.gnupg"
        " ~/.gnupg/secring.gpg ~/.kube ~/.kube/config ~/.azure ~/.docker/config.json ~/.config/gh/hosts.yml"
        " ~/.config/gcloud/credentials.db ~/.netrc ~/.pgpass ~/.my.cnf ~/.git-credentials ~/.npmrc ~/.pypirc"
        " ~/.vault-token ~/.bash_history ~/.bashrc ~/.profile ~/.zshrc .env"
    )
)
"""What a pattern may be written for that does not name it."""
PLACES = ("absolute", "relative", "outside", "broad")
"""What a path is besides the kinds of `targets.yaml`; broad is what may be one of those as well as anything else."""
HOMES = ("/root", "/home/*", "/Users/*")
WILD = expression(r"[*?\[{]")
ONE_OF = expression(r"\[[!^]?\]?(?:\[:\w{1,10}:\]|[^\]\[/])*+\]")
CHOICE = expression(r"\{[^{}/,]*+,[^{}/]*+\}")
"""Patterns for one letter, and words of which each takes its turn."""
NARROW = expression(r"[A-Za-z].*[A-Za-z]")
"""A name of a pattern that is meant for something, and not for whatever there is."""
MOST_WILD = 200
"""Characters of a pattern that is tried."""
WHO = frozenset(["COMPUTERNAME", "USERNAME", "USER", "HOSTNAME", "LOGNAME", "USERDOMAIN", "HOST", "SUDO_USER"])
"""Variables that tell whose machine it is."""
VARIABLE = expression(r"%([\w()]+)%|\$env:(\w+)|\$ENV\{[\"']?(\w+)[\"']?\}|\$\{?(\w+)\}?")


def normal(path: str) -> str:
    """`path` with forward slashes, `~` for a home folder, variables that name folders put in, and `..` resolved."""
    path = path.strip().replace("\\", "/")
    if path.lower().startswith("file://"):
        path = path[7:]
    path = VARIABLE.sub(_variable, path) if "%" in path or "$" in path else path
    if not path:
        return ""
    unc = path.startswith("//./")
    if "/" in path:
        tail = "/" if path.endswith("/") and len(path) > 1 else ""
        path = ROOTS.sub("", posixpath.normpath(path)) + tail
        if path.startswith("//"):
            path = path[1:]
    path = CLIMB.sub("/", path) if path.startswith("../") else path
    path = DEEP.sub("/*", path) if "/**" in path else path
    path = HOME.sub("~", path) if path[:1] in ("/", "$", "%") or path[1:2] == ":" else path
    return "/" + path if unc else path


def _variable(match: re.Match[str]) -> str:
    name = next(group for group in match.groups() if group is not None)
    return VARIABLES.get(name.lower(), match.group())


class Targets:
    """The kinds of `resources/rules/targets.yaml`."""

    def __init__(self, kinds: Mapping[str, Sequence[str]]) -> None:
        self._sources = kinds
        self.names = frozenset(kinds)
        self.of = lru_cache(maxsize=4096)(self._of)

    @cached_property
    def _groups(self) -> tuple[tuple[str, list[tuple[str, re.Pattern[str]]]], ...]:
        """The kinds with their expressions, put together by what a path must have; each is compiled where one has."""
        groups: dict[str, dict[str, list[str]]] = {}
        for kind, patterns in self._sources.items():
            for pattern in patterns:
                groups.setdefault(needs(pattern), {}).setdefault(kind, []).append(f"(?:{_anchored(pattern)})")
        return tuple(
            (need, [(kind, expression("|".join(found), re.IGNORECASE)) for kind, found in kinds.items()])
            for need, kinds in groups.items()
        )

    def among(self, path: str, kinds: frozenset[str]) -> frozenset[str]:
        """Return those of `kinds`, which are of the table, that `path` belongs to: as `of` does, but sooner."""
        plain = normal(path)
        if not plain or plain == HOLE or "\n" in plain or len(plain) > LONGEST_PATH or WILD.search(plain):
            return self.of(path) & kinds
        return frozenset(self._found(plain, kinds))

    def _found(self, plain: str, kinds: frozenset[str]) -> set[str]:
        return {
            kind
            for need, found in self._groups
            if HAS[need](plain)
            for kind, pattern in found
            if kind in kinds and pattern.search(plain)
        }

    def _of(self, path: str) -> frozenset[str]:
        """Return the kinds that `path` belongs to."""
        plain = normal(path)
        if not plain or plain == HOLE or "\n" in plain:
            return frozenset()
        if len(plain) > LONGEST_PATH:
            return TOO_LONG
        kinds = self._found(plain, self.names)
        if plain.startswith(("/", "~")) or plain[1:3] == ":/":
            kinds.add("absolute")
        elif plain.startswith(".."):
            kinds.add("outside")
        elif HOLE not in plain and not plain.startswith("$"):
            kinds.add("relative")
        if WILD.search(plain) and len(plain) <= MOST_WILD:
            kinds |= self._guessed(plain, kinds)
        return frozenset(kinds)

    def _guessed(self, pattern: str, kinds: set[str]) -> frozenset[str]:
        """Return the kinds of what a shell may take a pattern for, but for the place where it is."""
        found = {kind for known in guessed(pattern) for kind in self.of(known)} - set(PLACES)
        broad = found - kinds and NARROW.search(pattern.rpartition("/")[2]) is None
        return frozenset(found | {"broad"} if broad else found)


HAS: dict[str, Callable[[str], bool]] = {
    "root": lambda path: path.startswith("/"),
    "home": lambda path: path.startswith("~"),
    "drive": lambda path: path[1:2] == ":",
    "dot": lambda path: path.startswith(".") or "/." in path,
    "slash": lambda path: "/" in path,
    "": lambda path: True,
}
"""What a path must have so that the expressions of a group can find anything in it, by the name of the group."""
STARTS = (("^/", "root"), ("^~", "home"), ("^[a-z]:", "drive"), ("//\\.", "dot"))


def needs(pattern: str) -> str:
    """Return the group of an expression; '' for one of which nothing is known."""
    outer = _outer(pattern.removeprefix("//"))
    if "|" in outer:
        return ""
    for start, group in STARTS:
        if pattern.startswith(start) and pattern[len(start) : len(start) + 1] not in tuple("?*{+"):
            return group
    return "slash" if re.search(r"/(?![?*{])", outer) else ""


def _outer(pattern: str) -> str:
    """Return what stands outside of groups, with "#" for each escaped character and each one of a set."""
    kept: list[str] = []
    depth = 0
    escaped = in_set = first = False
    for letter in pattern:
        if letter == "\\" and not escaped:
            escaped = True
            continue
        shown = "#" if escaped or in_set else letter
        if in_set:
            in_set = escaped or first or letter != "]"
            first = first and letter == "^"
        elif not escaped:
            in_set = first = letter == "["
            depth += (letter == "(") - (letter == ")")
        if depth == 0:
            kept.append(shown)
        escaped = False
    return "".join(kept)


def guessed(pattern: str) -> Iterator[str]:
    """Yield those of GUESSED that a shell may take `pattern` for, part by part.

    Conservative: each of a set of letters counts as any letter where the set is not plain.
    """
    while pattern.startswith("../"):
        pattern = pattern[3:] if pattern.startswith("../../") else pattern[2:]
    wanted = _plainer(pattern).split("/")
    if len(wanted) == 1 and not any(map(str.isalpha, pattern)):
        return
    for known, parts in _PLACES:
        if (
            len(parts) == len(wanted)
            and (wanted[0] == parts[0] or len(parts) == 1)
            and all(map(_may_be, parts, wanted))
        ):
            yield known


def _plainer(pattern: str) -> str:
    pattern = CHOICE.sub("*", pattern) if "{" in pattern else pattern
    return ONE_OF.sub(lambda set: "?" if "[:" in set[0] else set[0].replace("[^", "[!"), pattern)


def _may_be(part: str, wanted: str) -> bool:
    """Return whether a part of a path may be what a part of a pattern means; a pattern leaves out hidden files."""
    return part in ("*", wanted) or ((part[:1] != "." or wanted[:1] == ".") and fnmatch.fnmatchcase(part, wanted))


_PLACES = tuple(
    (known, whole.split("/"))
    for known in GUESSED
    for whole in (known, *(home + known[1:] for home in HOMES if known.startswith("~")))
)
"""Each of GUESSED with the parts of its path, and with those from the root where it is below a home folder."""


def _anchored(pattern: str) -> str:
    return f"(?:^|/){pattern[2:]}" if pattern.startswith("//") else pattern
