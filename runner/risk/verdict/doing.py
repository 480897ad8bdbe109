"""Turns the acts of a program into those of its verdict: a verb each, and words for what it is done to."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.model.verdict import Verb
from runner.risk.model.value import HOLE, labels_of
from runner.risk.outline_data import words
from runner.risk.rules.starting import started_by
from runner.risk.shell.commands.infrastructure import is_dry
from runner.risk.verdict.naming import (
    AT_RUN_TIME,
    WORKING,
    Named,
    data_of,
    file_name,
    host_of,
    listed,
    path_of,
    quoted,
    shown,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from runner.risk.model.acts import Act, Place
    from runner.risk.rules.targets import Targets

A_FILE = "a file names"
LONGEST_LINE = 2_000
MOST_LOOKED_AT = 4_000
"""Acts that are named; a program that does more does the rest unnamed."""
QUIET = words(
    "echo printf print cat head tail less more bat nl sort uniq fold column strings wc od hexdump paste expand fmt pr "
    "grep egrep fgrep rg awk gawk mawk nawk sed gsed cut tr rev tac seq expr bc date sleep true false : test [ cal "
    "basename dirname realpath readlink pwd cd pushd popd dirs export local declare typeset readonly set unset shift "
    "read mapfile readarray exit return break continue wait trap alias unalias type which command builtin let getopts "
    "umask ulimit jobs fg bg tee xargs yes comm join diff cmp md5sum sha1sum sha256sum sha512sum cksum base64 base32 "
    "xxd jq yq column tput clear stty env printenv uname hostname whoami id nproc time ls dir tree stat file du df "
    "find mkdir touch mktemp rm rmdir unlink cp mv ln install chmod chown chgrp truncate dd tar zip unzip gzip gunzip "
    "xz curl wget nc ssh scp rsync psql mysql mariadb sqlite3 kill pkill killall crontab at eval exec source . sudo "
    "pip pip3 npm python python3 node sh bash dash zsh perl ruby php if then do"
)
"""Commands that are not named as programs that are started: the shell's own, those for texts, and those whose acts
are named themselves."""
WITH_COMMAND = words("git docker podman kubectl oc helm terraform cargo go make npm pnpm yarn poetry uv gh")
"""Programs whose first word says what they do."""


@dataclass(frozen=True, slots=True)
class Doing:
    """One act with the words for it."""

    verb: Verb
    named: Named
    act: Act

    @property
    def place(self) -> Place:
        return self.act.place


def doings(acts: Iterable[Act], targets: Targets) -> Iterator[Doing]:
    """Yield what the acts are in words, in the order in which they happen."""
    count = 0
    for act in acts:
        describe = BY_KIND.get(act.kind)
        if describe is None:
            continue
        found = describe(act, targets)
        if found is None:
            continue
        count += 1
        if count > MOST_LOOKED_AT:
            return
        yield Doing(found[0], found[1], act)


Described = tuple[Verb, Named] | None


def _deletes(act: Act, targets: Targets) -> Described:
    return Verb.DELETES, path_of(act.get("path"), tree=act.get("tree").text == "yes")


def _writes(act: Act, targets: Targets) -> Described:
    path = act.get("path")
    if path.text.startswith("/dev/") and not _is(path.text, "device", targets):
        return None
    if any(_is(known, "startup", targets) or _is(known, "hook", targets) for known in path.texts[:4]):
        named = path_of(path, "file")
        by = next(filter(None, map(started_by, path.texts[:4])), "") or "runs by itself"
        return Verb.RUNS_ON_START, named._replace(words=f"{named.words} ({by})")
    edits = act.get("edit").text == "yes"
    return Verb.REWRITES if edits else Verb.WRITES, path_of(path, "file")


def _moves(act: Act, targets: Targets) -> Described:
    done = _writes(act, targets)
    if done is None or done[0] is Verb.RUNS_ON_START:
        return done
    source, path = path_of(act.get("source"), "file"), done[1]
    return Verb.MOVES, Named(f"{source.words} to {path.words}", source.computed or path.computed, source.place)


def _reads(act: Act, targets: Targets) -> Described:
    path = act.get("path")
    if path.text.startswith("/dev/") or path.text in (":memory:", "-") or act.name == "<":
        return None
    if any(_is(known, "secret", targets) for known in path.texts[:4]):
        return Verb.READS_SECRETS, path_of(path, "file")
    named = path_of(path, "file")
    return Verb.LISTS if named.words.startswith(WORKING) else Verb.READS, named


def _makes(act: Act, targets: Targets) -> Described:
    return Verb.MAKES, path_of(act.get("path"), "folder", tree=act.get("folder").text == "yes")


def _native(act: Act, targets: Targets) -> Described:
    return Verb.RUNS_TEXT, Named("native code", computed=True)


def _shells(act: Act, targets: Targets) -> Described:
    return Verb.STARTS, Named("an interactive shell")


def _lists(act: Act, targets: Targets) -> Described:
    return Verb.LISTS, path_of(act.get("path"), "folder")


def _sends(act: Act, targets: Targets) -> Described:
    if act.name.endswith((".send", ".sendall")) and not act.get("url").texts:
        return None
    host = host_of(act.get("url"))
    if act.name.rpartition(".")[2] in ("get", "urlopen", "Request", "request", "head", "fetch") and _bare(act):
        return None
    return Verb.SENDS, Named(f"{data_of((act.get('data'),))} to {host.words}", host.computed, host.place)


def _bare(act: Act) -> bool:
    """Return whether a request carries nothing but the address: it is a download."""
    sent = act.get("data").items or []
    return not labels_of(sent) and len(sent) <= 1


def _fetches(act: Act, targets: Targets) -> Described:
    return Verb.FETCHES, host_of(act.get("url"))


def _connects(act: Act, targets: Targets) -> Described:
    return Verb.CONNECTS, host_of(act.get("host"))


def _listens(act: Act, targets: Targets) -> Described:
    host = host_of(act.get("host"))
    return Verb.LISTENS, Named("connections" if host.computed else f"connections on {host.words}", place=host.place)


def _queries(act: Act, targets: Targets) -> Described:
    changes = act.get("changes").items or []
    if not changes or "in-memory" in act.labels or act.name == "regex.exec" or act.name.startswith("unittest.mock."):
        return None
    clauses = [_clause(one.text) for one in changes]
    return Verb.CHANGES_DATA, Named(listed(clauses, 2), computed=any(AT_RUN_TIME in one for one in clauses))


def _clause(words: str) -> str:
    """Return a change of data with the name of its table quoted where it is not one word of code."""
    verb, _, table = words.rpartition(" ")
    if not table:
        return f"{verb} a table {AT_RUN_TIME}"
    return f"{verb} {shown(table) if re.fullmatch(r'[a-z][a-z0-9_.]*', table, re.IGNORECASE) else quoted(table)}"


def _discards(act: Act, targets: Targets) -> Described:
    what = act.get("what").text
    head, mark, inner = what.partition("(")
    words = f"{head}({quoted(inner.rstrip(')'))})" if mark else what
    return Verb.DISCARDS, Named(shown(words, 80))


def _destroys(act: Act, targets: Targets) -> Described:
    what, where = act.get("what"), act.get("at").text
    words = what.text or (texts[0] if (texts := [one.text for one in what.items or [] if one.texts]) else "")
    if not where:  # a method of a client: `delete_bucket(Bucket=...)`
        kind = re.sub(r"(?<!^)(?=[A-Z])", "_", act.name.rpartition(".")[2].removesuffix("Command")).lower()
        thing = kind.partition("_")[2].replace("_", " ") or "data"
        return Verb.DELETES, Named(f"{thing} {quoted(words)}" if words.strip(HOLE) else f"{thing} elsewhere", not words)
    within = act.get("within").text
    place = f"{where} ({quoted(within)})" if within else where
    return Verb.DELETES, Named(f"{quoted(words) if _is_foreign(words) else words} in {place}")


def _is_foreign(words: str) -> bool:
    """Return whether words come from the code, and not from the handler of the command."""
    return not words.startswith(("the ", "unused ", "everything", "all ", "every ", "a collection")) or len(words) > 60


def _configures(act: Act, targets: Targets) -> Described:
    target, value, where = act.get("target").text, act.get("value").text, act.get("at").text
    if where == "git":
        return Verb.CHANGES_SYSTEM, Named(f"sets {shown(target)} of git to {quoted(value)}")
    return Verb.CHANGES_SYSTEM, Named(f"changes {where} ({quoted(target)})")


def _schedules(act: Act, targets: Targets) -> Described:
    if act.get("how").text == "remove":
        return Verb.CHANGES_SYSTEM, Named("removes everything that is scheduled")
    return Verb.CHANGES_SYSTEM, Named("schedules something to run later")


def _named_elsewhere(act: Act, targets: Targets) -> Described:
    given = act.get("module") if act.kind == "import" else act.get("what")
    if given.exact is not None or not _from_outside(labels_of((given,))):
        return None
    return Verb.RUNS_NAMED, Named(_source(labels_of((given,))), computed=True)


def _from_outside(labels: frozenset[str]) -> bool:
    named = {"file", "downloaded", "argument", "input", "remote", "typed", "environment"}
    return bool(labels & named) or any(label.startswith("env:") for label in labels)


def _source(labels: frozenset[str]) -> str:
    """Say what names the code."""
    for label, source in (
        ("downloaded", "something on the network names"),
        ("remote", "something on the network names"),
        ("file", A_FILE),
        ("argument", "an argument names"),
        ("input", "the input names"),
        ("typed", "the input names"),
    ):
        if label in labels:
            return source
    return "the environment names"


def _executes(act: Act, targets: Targets) -> Described:
    code = act.get("code")
    if code.exact is not None or act.get("language").text in ("awk", "shell") or act.name in ("awk", "eval_"):
        return None
    return Verb.RUNS_TEXT, Named("code that is only known at run time", computed=True)


def _unpickles(act: Act, targets: Targets) -> Described:
    return Verb.RUNS_TEXT, Named("what unpacking objects makes it run", computed=True)


def _changes_rights(act: Act, targets: Targets) -> Described:
    path = path_of(act.get("path"))
    return Verb.CHANGES_RIGHTS, Named(path.words, path.computed, path.place)


def _stops(act: Act, targets: Targets) -> Described:
    target = act.get("target")
    if act.name.endswith((".kill", ".terminate")) and not target.texts:
        return None  # a process of its own
    known = target.text.strip(HOLE)
    return Verb.STOPS, Named(f"the process {quoted(known)}" if known else "a process", computed=not known)


def _installs(act: Act, targets: Targets) -> Described:
    package = act.get("package")
    if package.unknown:
        return None
    return Verb.INSTALLS, Named(_program(package.text) if package.text else f"packages {AT_RUN_TIME}")


def _runs(act: Act, targets: Targets) -> Described:
    """Programs that other languages start: a known command is named by the shell's own act."""
    program = act.get("program")
    if program.text.replace(HOLE, "").strip():
        return None
    return Verb.STARTS, Named(_unknown_program(labels_of((program,))), computed=True)


def _starts(act: Act, targets: Targets) -> Described:
    path = act.get("path")
    if not path.text.replace(HOLE, "").strip():
        return Verb.STARTS, Named(_unknown_program(labels_of((path,))), computed=True)
    if act.language == "shell" or act.kind == "start":
        named = path_of(path, "program")
        return Verb.STARTS, named
    return None


def _unknown_program(labels: frozenset[str]) -> str:
    return f"a program that {_source(labels)}" if _from_outside(labels) else f"a program {AT_RUN_TIME}"


def _commands(act: Act, targets: Targets) -> Described:
    name = act.name
    if not name or name in QUIET or "/" in act.get("name").text or HOLE in name:
        return None
    words = act.get("line").text[:LONGEST_LINE].split()[1:]
    first = next((word for word in words[:3] if re.fullmatch(r"[a-z][a-z-]{1,20}", word)), "")
    shown_name = _program(f"{name} {first}" if name in WITH_COMMAND and first else name)
    return Verb.STARTS, Named(f"{shown_name} (dry run)" if is_dry(name, words) else shown_name, place=name[:40])


def _program(name: str) -> str:
    """Return the name of a program or package; one that reads like words of ours is quoted."""
    plain = re.fullmatch(r"[a-z0-9@][\w.@/+=-]*", name) is not None and SIGN.search(name) is not None
    return shown(name) if plain or name.partition(" ")[0] in WITH_COMMAND else quoted(name)


SIGN = re.compile(r"[\d._@/+=-]")
"""What no plain word has."""


def _containers(act: Act, targets: Targets) -> Described:
    mounted = [file_name(one) for one in act.get("path").texts[:3] if one.startswith(("/", "~", ".."))]
    if not mounted:
        return None
    return Verb.STARTS, Named(f"a container that has {listed(mounted)} of this machine")


def _is(path: str, kind: str, targets: Targets) -> bool:
    return kind in targets.of(path)


Describe = Callable[["Act", "Targets"], Described]
BY_KIND: dict[str, Describe] = {
    "delete": _deletes,
    "write": _writes,
    "append": _writes,
    "extract": _writes,
    "open": _writes,
    "copy": _writes,
    "link": _writes,
    "move": _moves,
    "make": _makes,
    "native": _native,
    "shell": _shells,
    "terminal": _shells,
    "console": _shells,
    "read": _reads,
    "use": _reads,
    "search": _lists,
    "walk": _lists,
    "send": _sends,
    "fetch": _fetches,
    "connect": _connects,
    "listen": _listens,
    "query": _queries,
    "discard": _discards,
    "destroy": _destroys,
    "configure": _configures,
    "schedule": _schedules,
    "import": _named_elsewhere,
    "by-data": _named_elsewhere,
    "execute": _executes,
    "unpickle": _unpickles,
    "chmod": _changes_rights,
    "chown": _changes_rights,
    "kill": _stops,
    "install": _installs,
    "run": _runs,
    "start": _starts,
    "command": _commands,
    "container": _containers,
}
"""What acts of each kind are in words; the others are named by the findings about them."""
