"""Turns the acts of a program into those of its verdict: a verb each, and words for what it is done to."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from runner.model.expression import expression
from runner.model.verdict import Verb
from runner.risk.model.acts import Source
from runner.risk.model.outline_data import words
from runner.risk.model.value import HOLE, UNKNOWN, Value, is_absent, labels_of
from runner.risk.trace.shown import secrets
from runner.risk.verdict import files
from runner.risk.verdict.naming import (
    AT_RUN_TIME,
    WORKING,
    Named,
    data_of,
    file_name,
    host_of,
    identifier,
    listed,
    path_of,
    quoted,
    shown,
)
from runner.risk.verdict.programs import commands, containers, named_program
from runner.risk.verdict.sentence import NOT_KNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from runner.risk.model.acts import Act, Place
    from runner.risk.rules.targets import Targets

A_FILE = "a file names"
MOST_LOOKED_AT = 10_000
"""Acts that are looked at, some 0.1 s; of a program that does more it is said that not all was read."""


class Doing(NamedTuple):
    """One act with the words for it."""

    verb: Verb
    named: Named
    act: Act

    @property
    def place(self) -> Place:
        return self.act.place


def doings(acts: Iterable[Act], targets: Targets) -> Iterator[Doing]:
    """Yield what the acts are in words, in the order in which they happen."""
    for act in itertools.islice(acts, MOST_LOOKED_AT):
        describe = BY_KIND.get(act.kind)
        if describe is not None and (found := describe(act, targets)) is not None:
            yield Doing(found[0], found[1], act)


Described = tuple[Verb, Named] | None


def _native(act: Act, targets: Targets) -> Described:
    return Verb.RUNS_TEXT, Named("native code", computed=True)


def _shells(act: Act, targets: Targets) -> Described:
    return Verb.STARTS, Named("an interactive shell")


def _sends(act: Act, targets: Targets) -> Described:
    address = act.get("url")
    if act.get("how").text == "message":
        each = ", one after the other" if "repeated" in act.labels else ""
        data = data_of((act.get("data"),)) if secrets(labels_of((act.get("data"),))) else "messages"
        return Verb.SENDS, Named(f"{data} by {quoted(library_of(act.name), 30)}{each}")
    if act.name.endswith((".send", ".sendall")) and not address.texts and not act.name.startswith("dgram."):
        return None
    if _is_request(address) or (act.name.endswith(".end") and is_absent(act.get("data"))):
        return None  # nothing is added to what was sent before
    host, data = host_of(address), data_of((act.get("data"),))
    asks = act.name.rpartition(".")[2] in ASKING and not _carries(act.get("data"))
    if data == "data" and (asks or act.get("how").text == "ssh"):
        return None
    whole = f"{data} to {host.whole}{_unchecked(act)}" if host.whole else ""
    return Verb.SENDS, Named(f"{data} to {host.words}{_unchecked(act)}", host.computed, host.place, whole)


def _unchecked(act: Act) -> str:
    return UNCHECKED if act.get("verify").name in ("False", "false") else ""


UNCHECKED = ", whose certificate is not checked"


def library_of(name: str) -> str:
    """Return the library of a function: `@a/b` of `@a/b.send`."""
    return name.replace("()", "").partition(".")[0]


ASKING = words("get urlopen Request request head fetch options")
"""Functions that download unless they are given something to send."""


BODIES = words("body data json form")
SENDING = words("POST PUT PATCH")


def _carries(data: Value) -> bool:
    """Return whether the options of a request give it something to send."""
    options = [one.fields for one in (data, *(data.items or ())) if one.fields]
    return any(
        not BODIES.isdisjoint(fields) or fields.get("method", UNKNOWN).text.upper() in SENDING for fields in options
    )


def _is_request(address: Value) -> bool:
    """Return whether it is a request that was put together before, which is an act of its own."""
    return not address.texts and address.name.endswith("Request()")


def _fetches(act: Act, targets: Targets) -> Described:
    if _is_request(act.get("url")):
        return None
    host = host_of(act.get("url"))
    whole = f"{host.whole}{_unchecked(act)}" if host.whole else ""
    return Verb.FETCHES, host._replace(words=f"{host.words}{_unchecked(act)}", whole=whole)


def _connects(act: Act, targets: Targets) -> Described:
    return Verb.CONNECTS, host_of(act.get("host"))


def _listens(act: Act, targets: Targets) -> Described:
    host = host_of(act.get("host"))
    return Verb.LISTENS, Named("connections" if host.computed else f"connections on {host.words}", place=host.place)


def _queries(act: Act, targets: Targets) -> Described:
    changes = act.get("changes").items or []
    library = library_of(act.name)
    if (
        not changes
        and library not in IN_FILES
        and library[:1] != "~"
        and LOOKS_UP.fullmatch(act.get("sql").exact or "")
    ):
        return Verb.READS, Named(f"a database by {quoted(library, 30)}")
    if not changes or "in-memory" in act.labels or act.name.startswith("unittest.mock."):
        return None
    clauses = [_clause(one.text) for one in changes]
    return Verb.CHANGES_DATA, Named(listed(clauses, 2), computed=any(AT_RUN_TIME in one for one in clauses))


LOOKS_UP = expression(
    r"\s{0,9}(?:select|show)\b(?!.{0,2000}\binto\b)(?:\b(?:count|sum|avg|min|max|lower|upper)\(|[^(;]){1,2000}+;?\s{0,9}",
    re.IGNORECASE | re.DOTALL,
)
"""A statement that changes nothing: functions of a database may, but for a few."""
IN_FILES = words("sqlite3 duckdb better-sqlite3 node:sqlite apsw aiosqlite sqlite unittest regex")
"""What works on a file, which is named itself, or in memory."""


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
    where, name = act.get("at").text, act.get("name").text
    if not where:
        return Verb.DELETES, _by_method(act)
    words = " ".join(filter(None, (act.get("what").text, quoted(name) if name else "")))
    within = act.get("within").text
    return Verb.DELETES, Named(f"{words} in {where}{f' ({quoted(within)})' if within else ''}")


def _by_method(act: Act) -> Named:
    """Name what the method of a client deletes: `delete_bucket(Bucket=...)`, `DeleteBucketCommand`."""
    what = act.get("what")
    name = what.text or next((one.text for one in what.items or [] if one.texts), "")
    call = act.name.rpartition(".")[2]
    if (rows := OF_MODEL.search(act.name)) is not None and not name:
        some = act.get("only").text == "some"
        return Named(f"rows of {identifier(rows[1])} that match a condition" if some else f"all rows of {rows[1]}")
    verb, _, thing = CAPITALS.sub("_", call.removesuffix("Command")).partition("_")
    thing = thing.replace("_", " ") if verb.lower() in TAKES else "something"
    if not thing.strip():
        parts = [one for one in act.name.replace("()", "").replace("[]", "").split(".")[:-1] if one not in ANY]
        thing = CAPITALS.sub(" ", parts[-1]).replace("_", " ") if len(parts) > 1 else ""
        thing = thing if OBJECT.fullmatch(thing) else "data"
    thing = " ".join(word if word.isupper() else word.lower() for word in thing.split()) or "data"
    if name.strip(HOLE):
        return Named(f"{thing} {quoted(name)}")
    return Named(f"{_each(thing) if 'repeated' in act.labels else thing} by {identifier(call)}", computed=True)


def _each(thing: str) -> str:
    """Say that it is done to whatever is found, of whatever name a method has for it."""
    if thing in ("something", "data"):
        return "whatever it finds"
    return f"all {thing} that it finds" if thing.endswith("s") else f"each {thing} that it finds"


OF_MODEL = expression(r"(\w{1,60})\.objects\.")
"""What a model of Django's is called, in the name of a method of its rows."""
CAPITALS = expression(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
"""Where a new word begins in a name: `delete|DB|Instance`."""
ANY = words("all filter each items values result results")
"""Parts of names that say nothing of what is meant."""
OBJECT = expression(r"[A-Za-z]{2,20}(?: [A-Za-z]{1,20}){0,3}")
TAKES = words("delete remove destroy drop purge terminate del batch bulk empty clear flush")
"""Words that names of methods begin with, and behind which what they delete is named."""


def _configures(act: Act, targets: Targets) -> Described:
    target, value, where = act.get("target").text, act.get("value").text, act.get("at").text
    if where == "git":
        return Verb.CHANGES_SYSTEM, Named(f"sets {identifier(target)} of git to {quoted(value)}")
    if where in COSTS:
        what = f" ({quoted(target)})" if target.strip(HOLE) else ""
        return Verb.CHANGES_SYSTEM, Named(f"{COSTS[where]} by {_call_of(act)}{what}")
    if opens := act.get("opens").text:
        what = f" {quoted(target)}" if target.strip(HOLE) else f" by {_call_of(act)}"
        if opens.partition(":")[0].lower() in RIGHTS:
            return Verb.CHANGES_SYSTEM, Named(f"gives somebody every right{what} ({quoted(opens)})")
        return Verb.CHANGES_SYSTEM, Named(f"opens {where}{what} to others ({quoted(opens)})")
    if act.get("password").text:
        return Verb.CHANGES_SYSTEM, Named(f"sets passwords of accounts by {identifier(library_of(act.name))}")
    if not target.strip(HOLE):
        return Verb.CHANGES_SYSTEM, Named(f"changes {where} by {_call_of(act)}")
    return Verb.CHANGES_SYSTEM, Named(f"changes {where} ({quoted(target)})")


def _call_of(act: Act) -> str:
    """Name the method by which something is changed; one that says no more than `create` with what it is of."""
    *before, last = act.name.replace("()", "").replace("[]", "").split(".")
    told = before and not CAPITALS.search(last) and "_" not in last and OF_CALL.fullmatch(before[-1]) is not None
    return identifier(f"{before[-1]}.{last}" if told else last)


RIGHTS = words("is_superuser issuperuser access_level role permission groupname policyarn clusterrole")
"""Settings by which somebody gets rights, in small letters."""
OF_CALL = expression(r"[A-Za-z]\w{2,40}")
COSTS = {"payments": "moves money", "rent": "rents machines or names, which costs money,"}


def _schedules(act: Act, targets: Targets) -> Described:
    if act.get("how").text == "remove":
        return Verb.CHANGES_SYSTEM, Named("removes everything that is scheduled")
    if act.name == "crontab":
        return Verb.CHANGES_SYSTEM, Named("replaces everything that is scheduled for this account")
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
    return Verb.INSTALLS, Named(named_program(package.text) if package.text else f"packages {AT_RUN_TIME}")


def _runs(act: Act, targets: Targets) -> Described:
    """Programs that other languages start: a known command is named by the shell's own act."""
    program = act.get("program")
    words = program.text.split()
    if words and HOLE not in words[0]:
        return Verb.STARTS, Named(named_program(words[0].rpartition("/")[2] or words[0]))
    return Verb.STARTS, Named(_unknownprogram(labels_of((program,))), computed=True)


def _starts(act: Act, targets: Targets) -> Described:
    path = act.get("path")
    if not path.text.replace(HOLE, "").strip():
        return Verb.STARTS, Named(_unknownprogram(labels_of((path,))), computed=True)
    if act.language == "shell" or act.kind == "start":
        named = path_of(path, "program")
        return Verb.STARTS, named
    return None


def _unknownprogram(labels: frozenset[str]) -> str:
    return f"a program that {_source(labels)}" if _from_outside(labels) else f"a program {AT_RUN_TIME}"


def _serves(act: Act, targets: Targets) -> Described:
    return Verb.LISTENS, Named("connections")


def _looks_up(act: Act, targets: Targets) -> Described:
    if hidden := secrets(labels_of((act.get("host"),))):
        return Verb.SENDS, Named(f"{data_of((Value(labels=hidden),))} in a name that it looks up")
    return Verb.CONNECTS, Named("a name server")


def _of_itself(act: Act, targets: Targets) -> Described:
    return Verb.STARTS, Named("a process of its own")


def _on_machine(words: str) -> Describe:
    """Return the description of acts that have one clause, whatever they are about."""
    return lambda act, targets: (Verb.CHANGES_SYSTEM, Named(words))


def _prints(act: Act, targets: Targets) -> Described:
    return Verb.CHANGES_SYSTEM, Named(f"prints {data_of((act.get('data'),))} for the agent to read")


def _depends(act: Act, targets: Targets) -> Described:
    labels = act.get("on").labels
    who, clock = "on a certain machine or for a certain user", "at a certain time"
    where = who if Source.WHO in labels else clock if Source.CLOCK in labels else "where it is not being tried out"
    return Verb.CHANGES_SYSTEM, Named(f"does some of it only {where}")


def _floods(act: Act, targets: Targets) -> Described:
    return Verb.CHANGES_SYSTEM, Named(f"takes up {act.get('what').text or 'the machine'} without end")


def _weakens(act: Act, targets: Targets) -> Described:
    trusting = act.get("insecure").text == "yes" and not act.get("policy").name.endswith("RejectPolicy")
    if not trusting and act.get("rejects").name not in ("False", "false"):
        return None
    return Verb.CHANGES_SYSTEM, Named("trusts whatever machine answers")


def _steers(act: Act, targets: Targets) -> Described:
    return Verb.CHANGES_SYSTEM, Named(f"sets {identifier(act.name)}, which changes what programs run")


def _enumerated(act: Act, targets: Targets) -> Described:
    how = "whose name is worked out at run time" if act.get("how").text else "that it finds by enumeration"
    words = f"a function of {identifier(act.get('of').text)} {how} (line {act.place[0]})"
    return Verb.CALLS, Named(words, computed=True)


def _finds_programs(act: Act, targets: Targets) -> Described:
    folder = act.get("path").text
    where = WORKING if folder == "." else file_name(folder if folder.startswith("../") else f"./{folder}")
    return Verb.CHANGES_SYSTEM, Named(f"may start programs from {where}")


def _unfollowed(act: Act, targets: Targets) -> Described:
    return Verb.CHANGES_SYSTEM, Named(shown(act.get("what").text, 80))


def _hands(act: Act, targets: Targets) -> Described:
    """Name what something gets of which nothing is known, and that nothing is."""
    given = [path_of(one).words for one in (act.get("beyond").items or act.get("paths").items or ())]
    if act.get("data").labels:
        given.append(data_of((act.get("data"),)))
    if act.get("code").items:
        given.append("a text that it may run")
    name = act.get("to").text
    library = act.get("program").text != "yes"
    to = quoted(name, 30) if library else named_program(name) if name else f"a program {AT_RUN_TIME}"
    return Verb.HANDS, Named(f"{listed(given)} to {to}{NOT_KNOWN if name else ''}")


Describe = Callable[["Act", "Targets"], Described]
BY_KIND: dict[str, Describe] = {
    "delete": files.deletes,
    "write": files.writes,
    "append": files.writes,
    "extract": files.writes,
    "open": files.writes,
    "copy": files.writes,
    "link": files.writes,
    "move": files.moves,
    "make": files.makes,
    "native": _native,
    "shell": _shells,
    "terminal": _shells,
    "console": _shells,
    "read": files.reads,
    "use": files.reads,
    "search": files.lists,
    "walk": files.lists,
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
    "chmod": files.changes_rights,
    "chown": files.changes_rights,
    "kill": _stops,
    "install": _installs,
    "run": _runs,
    "start": _starts,
    "command": commands,
    "container": containers,
    "archive": files.archives,
    "server": _serves,
    "lookup": _looks_up,
    "probe": _connects,
    "tunnel": _connects,
    "remote-run": _connects,
    "fork": _of_itself,
    "worker": _of_itself,
    "starts": _of_itself,
    "capture": _on_machine("records the screen, the keyboard or the clipboard"),
    "record": _on_machine("records the screen, the keyboard or the clipboard"),
    "credentials": _on_machine("reads stored passwords"),
    "clipboard-write": _on_machine("changes the clipboard"),
    "registry": _on_machine("changes the registry"),
    "processes": _on_machine("looks at the programs that run"),
    "search-environment": _on_machine("looks through the environment"),
    "identity-change": _on_machine("changes its user"),
    "print": _prints,
    "tamper": _on_machine("changes the clock"),
    "conditioned": _depends,
    "flood": _floods,
    "steer": _steers,
    "programs": _finds_programs,
    "enumerated": _enumerated,
    "hand": _hands,
    "weakens": _weakens,
    "unfollowed": _unfollowed,
}
"""What acts of each kind are in words; the others are named by the findings about them."""
WITHOUT_WORDS = words(
    "import variable compare forever crumbs mention command identity encrypt decrypt environment-change store decodes "
    "escaped mangled recoded repaired left-out unparsed trap accept receive assemble reduce package-setup module "
    "member quietly swell query evaluates answer bound database cut"
)
"""Kinds of acts that use no files, no network and no other programs by themselves."""
