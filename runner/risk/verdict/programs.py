"""Words for the programs that a script starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.model.verdict import Verb
from runner.risk.model.outline_data import words
from runner.risk.model.value import HOLE
from runner.risk.shell.commands.dry import is_dry
from runner.risk.shell.commands.table import known_as
from runner.risk.verdict.naming import Named, file_name, listed, quoted, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.risk.model.acts import Act
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
    "umask ulimit jobs fg bg tee xargs yes comm join diff cmp md5sum sha1sum sha256sum sha512sum cksum base64 base32 "
    "xxd jq yq column tput clear stty env printenv uname hostname whoami id nproc time ls dir tree stat file du df "
    "find mktemp eval exec source . sudo doas nohup setsid nice ionice stdbuf timeout watch parallel coproc if then do"
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
    in_file = "/" in path and (path[0] != "/" or known_as(name) is None)
    if not name or name in QUIET or in_file or HOLE in name:
        return None
    line = act.get("line").text[:LONGEST_LINE]
    words = line.split()[1:]
    whole = quoted(line, LONGEST_COMMAND) if words else ""
    if name not in WITH_COMMAND:
        return Verb.STARTS, Named(named_program(name), place=name[:40], whole=whole)
    first = _verb(words)
    shown_name = named_program(f"{name} {first}" if first else name)
    if first == "run" and name in WITH_SCRIPTS and (script := _verb([*words[words.index("run") + 1 :]])):
        shown_name = f"{shown_name} {quoted(script)}"
    dry = " (dry run)" if is_dry(name, words) else ""
    return Verb.STARTS, Named(f"{shown_name}{dry}", place=name[:40], whole=f"{whole}{dry}" if whole else "")


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
