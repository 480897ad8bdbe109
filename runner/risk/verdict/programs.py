"""Words for the programs that a script starts."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.model.verdict import Verb
from runner.risk.model.outline_data import words
from runner.risk.model.value import HOLE, UNKNOWN
from runner.risk.shell.commands.asked import ACTS, CORRECTS, VerbKind, asked, by_name
from runner.risk.shell.commands.dry import is_dry
from runner.risk.shell.commands.table import known_as
from runner.risk.shell.strangers import is_stranger
from runner.risk.verdict.naming import WHOLE_PLACES, Does, Named, file_name, listed, path_of, quoted, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.risk.model.acts import Act
    from runner.risk.model.value import Value
    from runner.risk.rules.targets import Targets

    Described = tuple[Verb, Named] | None

LONGEST_LINE = 2_000
LONGEST_COMMAND = 64
"""Characters of a command that a sentence shows whole, where there is room; of a longer one both ends are shown."""
QUIET = words(
    "echo printf print cat head tail less more bat nl sort uniq fold column strings wc od hexdump paste expand fmt pr "
    "grep egrep fgrep rg awk gawk mawk nawk sed gsed cut tr rev tac seq expr bc date sleep true false : test [ cal "
    "basename dirname realpath readlink pwd cd pushd popd dirs export local declare typeset readonly set unset shift "
    "read mapfile readarray exit return break continue wait trap alias unalias type which command builtin let getopts "
    "shopt umask ulimit jobs fg bg tee xargs yes comm join diff cmp md5sum sha1sum sha256sum sha512sum cksum base64 "
    "base32 xxd jq yq column tput clear stty env printenv uname hostname whoami id nproc time ls dir tree stat file du "
    "df find mktemp eval exec source . sudo doas nohup setsid nice ionice stdbuf timeout watch parallel coproc if then "
    "do"
)
"""Commands that are not named as programs that are started: the shell's own, those for texts, those that start what
is named itself."""
INTERPRETERS = words("python python2 python3 node deno bun sh bash dash zsh ksh perl ruby php su busybox script flock")
"""Programs that are named by what they run, where that is known."""
WITH_COMMAND = words("git docker podman kubectl oc helm terraform cargo go make npm pnpm yarn poetry uv gh pip pip3")
"""Programs whose first word says what they do."""


def commands(act: Act, targets: Targets) -> Described:
    name = act.name
    path = act.get("name").text
    if act.get("instead").text:
        return Verb.STARTS, Named("stand-ins", does=Does("tests with", f"a stand-in for {quoted(path, 30)}", ""))
    in_file = "/" in path and (path[0] != "/" or known_as(name) is None)
    if not name or name in QUIET or in_file or HOLE in name:
        return None
    line = act.get("line").text[:LONGEST_LINE]
    words = line.split()[1:]
    whole = quoted(line, LONGEST_COMMAND) if words else ""
    if name not in WITH_COMMAND:
        named = Named(named_program(name), place=name[:40], whole=whole, does=_does(name, act))
        return Verb.STARTS, _dry(named, act)
    first = _verb(words)
    if first == "branch" and name == "git" and not {"-d", "--delete"}.isdisjoint(words):
        return Verb.STARTS, Named(
            "git branch", place="git", whole=whole, does=Does("deletes", "merged branches", "git")
        )
    if name == "git" and act.get("own").text:
        return Verb.STARTS, Named("git", place="git", does=Does("changes", "a copy of its own", f"git {first}"))
    shown_name = named_program(f"{name} {first}" if first else name)
    if first == "run" and name in WITH_SCRIPTS and (script := _verb([*words[words.index("run") + 1 :]])):
        shown_name = f"{shown_name} {quoted(script)}"
    return Verb.STARTS, _dry(Named(shown_name, place=name[:40], whole=whole, does=_does(name, act)), act)


def _dry(named: Named, act: Act) -> Named:
    """Say of a command that only shows what it would do that it is a dry run."""
    given = [one.text for one in act.get("words").items or ()]
    # What a program that nobody knows does with the word is not known either.
    if not any(word[:1] == "-" for word in given) or is_stranger(act.name) or not is_dry(act.name, given):
        return named
    line = act.get("line").text
    if len(line) > LONGEST_COMMAND:
        line = " ".join((act.name, *[word for word in given if word[:1] != "-"][:MOST_NAMED]))
    return named._replace(
        words=f"{named.words}{DRY_RUN}", whole="", does=Does("shows what", quoted(line, 60), WOULD_DO)
    )


MOST_NAMED = 3
DRY_RUN = " (dry run)"
WOULD_DO = f"would do{DRY_RUN}"
NOT_SAID = words("git cargo go make npm pnpm yarn poetry uv pip pip3 npx bunx uvx")
"""Programs whose own words say best what they do, to who uses them."""
SAYS = frozenset((VerbKind.LOOKS, VerbKind.CHECKS, VerbKind.WORKS, VerbKind.CHANGES))


def _does(name: str, act: Act) -> Does | None:
    """Return what a program that is known does, by the verb among its words or by what it is for."""
    if name in NOT_SAID or is_stranger(name):
        return None
    given = act.get("words").items or []
    arguments = [one.text for one in given]
    if name in ENGINES and (image := image_of(arguments)):
        return Does("runs", f"{quoted(image)} in a container", named_program(name))
    if any(map(ACTS.fullmatch, arguments)) or not ABOUT_ITSELF.isdisjoint(arguments) or arguments[:1] == ["-E"]:
        return None
    if (purpose := by_name(name)) is not None:
        verb, effect = purpose
        if effect is VerbKind.CHECKS and any(map(CORRECTS.fullmatch, arguments)):
            verb = f"{verb} and corrects"
        what = listed([path_of(one).words for one in _files(given)], 3)
        return Does(verb, what, named_program(name)) if what or not verb.endswith(" in") else None
    known = known_as(name)
    found = asked(name, arguments, known.valued if known is not None else "")
    if found is None or found.effect not in SAYS:
        return None
    which = next((one for one in given if one.text == found.name), UNKNOWN)
    path = path_of(which).words if A_FILE.fullmatch(found.name) and name != "aws" else ""
    if path in WHOLE_PLACES:
        path, found = "", found._replace(name="")
    named = [quoted(found.thing)] if found.thing and not path else []
    named += [path or quoted(found.name)] if found.name.strip(HOLE) else []
    what = " ".join(named)
    return Does(found.verb, what, named_program(name)) if what or found.effect is not VerbKind.LOOKS else None


ABOUT_ITSELF = words("--version --help -h -V -help -version")
ENGINES = words("docker podman nerdctl")
ALONE = expression(
    r"-[ditqP]{1,5}|--(?:rm|detach|interactive|tty|init|privileged|read-only|no-healthcheck|publish-all)"
)
"""Options of `docker run` that take no value."""


def image_of(arguments: Sequence[str]) -> str:
    """Return the image that `docker run` starts a container of; '' for anything else."""
    rest = list(arguments[1:] if arguments[:1] == ["container"] else arguments)
    if rest[:1] != ["run"]:
        return ""
    rest = rest[1:]
    while rest and rest[0].startswith("-"):
        rest = rest[1:] if "=" in rest[0] or ALONE.fullmatch(rest[0]) else rest[2:]
    return rest[0] if rest and HOLE not in rest[0] else ""


def _files(given: Sequence[Value]) -> list[Value]:
    """Return the words of a command that are files by their look: those behind an option only where no others are."""
    files: list[Value] = []
    behind: list[Value] = []
    for before, one in pairwise((UNKNOWN, *given)):
        if one.text[:1] not in ("-", "+") and (A_FILE.fullmatch(one.text) is not None or "found" in one.labels):
            (behind if before.text.startswith("-") and "=" not in before.text else files).append(one)
    return files or behind


A_FILE = expression(r"[^\s:=]{0,200}(?:/|\.[a-z]\w{0,7}\Z)[^\s:=]{0,200}")


WITH_SCRIPTS = words("npm pnpm yarn poetry uv")
VALUED = words(
    "-n --namespace -C -c --context -f --file -p --profile -R --repo --git-dir --work-tree -H --prefix -w -o"
)
"""Options of these programs that stand before the verb, and take a value."""


def _verb(given: Sequence[str]) -> str:
    """Return the word that says what the program is to do, which is no option and no value of one."""
    skip = False
    for word in given[:MOST_BEFORE]:
        if skip:
            skip = False
        elif word.startswith("-"):
            skip = word in VALUED
        else:
            return word if WORD.fullmatch(word) else ""
    return ""


MOST_BEFORE = 12
"""Words among which the verb is looked for."""


def named_program(name: str) -> str:
    """Return the name of a program or package; one that reads like words of ours is quoted."""
    plain = PLAIN_NAME.fullmatch(name) is not None and SIGN.search(name) is not None
    first, _, second = name.partition(" ")
    known = first in WITH_COMMAND and (not second or WORD.fullmatch(second) is not None)
    return shown(name) if plain or known else quoted(name)


WORD = expression(r"[a-z][a-z-]{1,20}")
PLAIN_NAME = expression(r"[a-z0-9@][\w.@/+=-]*")
SIGN = expression(r"[\d._@/+=-]")
"""What no plain word has."""


def containers(act: Act, targets: Targets) -> Described:
    mounted = [file_name(one) for one in act.get("path").texts if one.startswith(("/", "~", ".."))]
    if not mounted:
        return None
    return Verb.STARTS, Named(f"a container that has {listed(mounted)} of this machine")
