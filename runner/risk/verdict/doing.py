"""Turns the acts of a program into those of its verdict: a verb each, and words for what it is done to."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from runner.model.expression import expression
from runner.model.verdict import Verb
from runner.risk.model.acts import (
    CONTAINER,
    NOT_REACHED,
    OF_PLACES,
    OFFLINE,
    ON_MACHINE,
    PICKED,
    TEST_ROWS,
    VALUE_OF,
    Source,
)
from runner.risk.model.outline_data import words
from runner.risk.model.value import HOLE, UNKNOWN, Value, is_absent, labels_of
from runner.risk.shell.commands.table import known_as
from runner.risk.trace.files import IN_MEMORY
from runner.risk.trace.shown import secrets
from runner.risk.trace.things import package_of
from runner.risk.verdict import files
from runner.risk.verdict.configuring import configures, is_again
from runner.risk.verdict.destroyed import MONGO, destroyed
from runner.risk.verdict.naming import (
    AT_RUN_TIME,
    FINDS,
    MEETS,
    NAMED,
    WORKING,
    Does,
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
from runner.risk.verdict.programs import LONGEST_COMMAND, WOULD_DO, commands, containers, named_program
from runner.risk.verdict.sentence import NOT_KNOWN
from runner.risk.verdict.things import changes_by_call, held_by, place_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from runner.risk.model.acts import Act, Place
    from runner.risk.rules.targets import Targets

A_FILE = "a file names"
SQL_OF_A_FILE = "runs the SQL of a file"
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
        describe = _of_mocked if MOCKED in act.labels else BY_KIND.get(act.kind)
        if describe is not None and (found := describe(act, targets)) is not None:
            named = found[1]
            if act.language == WRITTEN:
                if found[0] is Verb.STARTS and act.name == "psql":
                    continue  # a file of SQL, of which the statements are said
                named = named._replace(words=f"{named.words}{IF_RUN}", whole="", does=_if_run(named.does))
            if act.labels:
                if NOT_REACHED in act.labels:
                    named = named._replace(words=f"{named.words}{STAYS_AWAY}", place="", whole="")
                if OFFLINE in act.labels and act.kind in ("destroy", "configure", "send", "fetch"):
                    named = named._replace(words=f"{named.words}{BY_TEST}", whole="")
                named = _on_machine_named(act, _of_picked(act, named) if PICKED in act.labels else named)
            yield Doing(found[0], named, act)


WRITTEN, IF_RUN = "written", " (if run)"
"""The language of acts of a script that is written down and not started, and what is said of them."""


def _if_run(done: Does | None) -> Does | None:
    """Say of what a program does that a script is written for that it does it if that is run."""
    if done is None or done.by == WOULD_DO:
        return done and done._replace(what=f"{done.what}{IF_RUN}")
    return done._replace(by=f"{done.by}{IF_RUN}")


STAYS_AWAY = " (in a branch that is not taken as it stands)"
BY_TEST = " (answered by nock)"
MOCKED = "mocked"
"""The label of what a test has replaced, which does nothing."""


def _of_mocked(act: Act, targets: Targets) -> Described:
    if act.labels >= TEST_ROWS:
        return Verb.CHANGES_SYSTEM, Named("works on rows that are put back, in a database for tests")
    return Verb.CALLS, Named(f"stand-ins for {quoted(library_of(act.name), 30)}")


def _on_machine_named(act: Act, named: Named) -> Named:
    """Say of what is done on another machine that it is."""
    host = next((label[len(ON_MACHINE) :] for label in act.labels if label.startswith(ON_MACHINE)), None)
    if host is None or act.kind in BETWEEN_MACHINES:
        return named
    if host.startswith(CONTAINER):
        container = host[len(CONTAINER) :]
        there = f" in the container {quoted(container)}" if container else " in a container"
    else:
        there = f" on {host_of(Value((host,))).words}" if host else " on another machine"
    whole = f"{named.whole}{there}" if named.whole else ""
    return named._replace(words=f"{named.words}{there}", place="", whole=whole)


BETWEEN_MACHINES = words("connect send fetch hand tunnel")
"""Kinds of acts of which the words name a place of their own, or which are done from here."""


def _of_picked(act: Act, named: Named) -> Named:
    """Say of what is done to what was found that it is done only where a condition is met."""
    if act.kind not in OF_PLACES or MEETS in named.words:
        return named
    source, to, target = named.words.partition(" to ")
    if not source.startswith(FOUND):
        return named
    source, comma, variable = source.partition(", or where ")
    return named._replace(words=f"{source}{MEETS}{comma}{variable}{to}{target}")


FOUND = (FINDS, NAMED, "the content of what", "what is older ")


Described = tuple[Verb, Named] | None


def _native(act: Act, targets: Targets) -> Described:
    return Verb.RUNS_TEXT, Named("native code", computed=True)


def _shells(act: Act, targets: Targets) -> Described:
    return Verb.STARTS, Named("an interactive shell")


def _sends(act: Act, targets: Targets) -> Described:
    address = act.get("url")
    if act.get("how").text in ("upload", "queue"):
        what = data_of((act.get("data"),))
        what = "messages" if what == "data" and act.get("how").text == "queue" else what
        return Verb.SENDS, Named(f"{what} to {place_of(act)}")
    if act.get("how").text == "message" and IN_MEMORY in act.labels:
        return Verb.WRITES, Named(f"messages by {quoted(library_of(act.name), 30)} that nobody is sent")
    if act.get("how").text == "message":
        each = ", one after the other" if is_again(act) else ""
        data = data_of((act.get("data"),)) if secrets(labels_of((act.get("data"),))) else "messages"
        given = act.get("to")
        each_one = "to" in act.fields and not given.unknown and is_again(act)
        to = f" to {quoted(given.exact)}" if given.exact else " to each address that it finds" if each_one else ""
        each = "" if to and not given.exact else each
        through = host_of(address)
        by = f"through {through.words}" if through.place else f"by {quoted(library_of(act.name), 30)}"
        return Verb.SENDS, Named(f"{data}{to} {by}{each}")
    if act.get("asks").text and data_of((act.get("data").items or [])[1:]) == "data":
        return None
    if act.name.endswith((".send", ".sendall")) and not address.texts and not act.name.startswith("dgram."):
        return None
    if _is_request(address) or (act.name.endswith(".end") and is_absent(act.get("data"))):
        return None  # nothing is added to what was sent before
    parts = act.get("data").items
    if act.name.endswith(".delete") and parts is not None and len(parts) < 2:
        return None  # only the address, which is said to be deleted
    host, data = host_of(address), data_of(_payload(act))
    if not address.texts and not address.fields and "()" in address.name and (of := library_of(act.name)) in SERVICES:
        return Verb.SENDS, Named(f"{data} by {quoted(of, 30)}", computed=True)
    asks = act.name.rpartition(".")[2] in ASKING and not _carries(act.get("data"))
    if data == "data" and (asks or act.get("how").text == "ssh"):
        return None
    if data == "files" and "path" in act.fields:
        data = path_of(act.get("path"), "file").words
    whole = f"{data} to {host.whole}{_unchecked(act)}" if host.whole else ""
    return Verb.SENDS, Named(f"{data} to {host.words}{_unchecked(act)}", host.computed, host.place, whole)


def _checked(act: Act, targets: Targets) -> Described:
    by = quoted(library_of(act.name), 30)
    return Verb.CONNECTS, Named(f"{by}, which only checks messages in its sandbox mode and sends none")


def _payload(act: Act) -> tuple[Value, ...]:
    """Return what is sent, without the address that it is sent to."""
    address, data = act.get("url"), act.get("data")
    if data.items is None or not address.texts:
        return (data,)
    return tuple(one for one in data.items if one.texts != address.texts)


SERVICES = words(
    "openai anthropic mistralai cohere groq replicate together litellm huggingface_hub wandb mlflow sentry_sdk posthog "
    "boto3 aioboto3 google azure slack_sdk twilio stripe discord telegram notion_client github gitlab jira hubspot "
    "@anthropic-ai/sdk @mistralai/mistralai cohere-ai @google/genai @google/generative-ai groq-sdk together-ai "
    "posthog-node mixpanel @slack/web-api aws-sdk googleapis @octokit/rest dropbox"
)
"""Libraries that are named after where they send what they are given."""


def _unchecked(act: Act) -> str:
    return UNCHECKED if act.get("verify").name in ("False", "false") else ""


UNCHECKED = ", whose certificate is not checked"


def library_of(name: str) -> str:
    """Return the library of a function: `@a/b` of `@a/b.send`."""
    return package_of(name.replace("()", ""))


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
    if "kind" in act.fields:
        return Verb.FETCHES, Named(place_of(act))
    if act.name.endswith(".goto"):
        shown_host = host_of(act.get("url"))
        return Verb.FETCHES, shown_host._replace(words=f"{shown_host.words} in a browser", whole="")
    host = host_of(act.get("url"))
    whole = f"{host.whole}{_unchecked(act)}" if host.whole else ""
    return Verb.FETCHES, host._replace(words=f"{host.words}{_unchecked(act)}", whole=whole)


def _connects(act: Act, targets: Targets) -> Described:
    return Verb.CONNECTS, host_of(act.get("host"))


def _listens(act: Act, targets: Targets) -> Described:
    host, port = host_of(act.get("host")), port_of(act.get("port"))
    if port and host.computed and "host" in act.fields and not act.get("host").labels:
        return Verb.LISTENS, Named(f"connections on port {port}, from other machines too", place=port)
    words = "connections" if host.computed else f"connections on {host.words}"
    return Verb.LISTENS, Named(f"{words}, port {port}" if port else words, place=host.place or port)


def port_of(value: Value) -> str:
    """Return the number of a port, in digits; '' where it is not known."""
    known = str(value.number) if value.number is not None else value.text
    return known if known.isdigit() and len(known) < 6 else ""


def _queries(act: Act, targets: Targets) -> Described:
    if act.name.endswith(".drop") and library_of(act.name) in MONGO and "in-memory" not in act.labels:
        return Verb.DELETES, destroyed(act)
    opens = act.get("opens").text
    if opens and not act.get("effect").text.endswith("_ALL"):
        held = held_by(act)
        table = act.get("table").text or (held.name if held is not None else "")
        return Verb.CHANGES_SYSTEM, Named(
            f"gives somebody every right{f' in {identifier(table)}' if table else ''} ({quoted(opens)})"
        )
    changes = act.get("changes").items or []
    if (
        not changes
        and library_of(act.name)[:1] != "~"
        and act.get("sql").texts
        and all(map(PLANS.match, act.get("sql").texts))
    ):
        by = quoted(library_of(act.name), 30)
        return Verb.READS, Named(f"the plans of statements, which are not run, by {by}")
    library = library_of(act.name)
    inside = "in-memory" in act.labels
    if not changes and not inside and known_as(act.name) is not None and (named := _queried(act)) is not None:
        return Verb.READS, named
    if (
        not changes
        and library not in IN_FILES
        and library[:1] != "~"
        and LOOKS_UP.fullmatch(act.get("sql").exact or "")
    ):
        return Verb.READS, Named(f"a database by {quoted(library, 30)}")
    if inside or act.name.startswith("unittest.mock."):
        return None
    if not changes and "file" in act.get("sql").labels and act.get("sql").exact is None:
        return Verb.CHANGES_DATA, Named(SQL_OF_A_FILE, computed=True)
    if not changes:
        return changes_by_call(act)
    clauses = [_clause(one.text) for one in changes]
    return Verb.CHANGES_DATA, Named(listed(clauses, 2), computed=any(AT_RUN_TIME in one for one in clauses))


PLANS = expression(
    r"(?i)\s{0,9}explain\s{1,9}(?:\((?:(?!analy[sz]e)[^()]){0,300}\)\s{0,9}|verbose\s{1,9})?"
    r"(?:delete|update|insert|select|merge)\b[^;]{0,4000};?\s{0,9}\Z"
)
"""A statement that only asks a database how it would run another one."""


def _queried(act: Act) -> Named | None:
    """Name what a client on the command line asks a database for; None where it asks for nothing."""
    known = " ".join(act.get("sql").texts)
    if ASKS_FOR.search(known) is None:
        return None
    tables = listed([identifier(one[1]) for one in itertools.islice(OF_TABLE.finditer(known), 20)])
    by = quoted(act.name, 30)
    return Named(f"{tables or 'a database'} by {by}", does=Does("queries", tables or "a database", by))


ASKS_FOR = expression(r"(?i)(?:^|[\s;(])(?:select|with|show|describe|explain|from)\s")
OF_TABLE = expression(r"(?i)\b(?:from|join)\s{1,9}[\"`]?([a-z_][\w.]{0,60}+)(?!\s{0,9}\()")
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


def _mentions(act: Act, targets: Targets) -> Described:
    """Name what a service is only asked whether it would do."""
    if "tried" not in act.fields:
        return None
    call = identifier(act.name.rpartition(".")[2])
    of = quoted(library_of(act.name), 30)
    return Verb.CALLS, Named(f"{call} of {of} as a dry run ({quoted(act.get('tried').text)})", computed=True)


def _destroys(act: Act, targets: Targets) -> Described:
    if IN_MEMORY in act.labels:
        return None
    where, name = act.get("at").text, act.get("name").text
    if by := act.get("by").text:
        thing, known = act.get("what").text, name.strip(HOLE)
        if act.get("loads").text:
            of = f" of {quoted(_without_password(name))}" if known else " of a database"
            words = f"what is in {quoted(thing)}{of} already" if thing.strip(HOLE) else f"what is in{of[3:]} already"
            return Verb.DELETES, Named(f"{words} by {quoted(by, 30)}")
        words = " ".join(quoted(one) for one in (thing, name if known else "") if one)
        if not known and "name" in act.fields:
            finds = is_again(act) or labels_of((act.get("name"),)) & {"listed", "found", "output"}
            words = (f"each {words} that it finds" if words else "what it finds") if finds else f"{words} {AT_RUN_TIME}"
        return Verb.DELETES, Named(f"{words.strip() or 'something'} by {quoted(by, 30)}")
    if where and OFFLINE in act.labels:
        return Verb.DELETES, Named(f"data at {where}")
    if not where:
        return Verb.DELETES, destroyed(act)
    if left := act.get("left").items:
        kept = listed([quoted(one.text) for one in left], 4)
        return Verb.DELETES, Named(f"{act.get('what').text} in {where}, except {kept}")
    if "beside" in act.fields:
        beside = path_of(act.get("beside"), "folder").words
        return Verb.DELETES, Named(f"whatever is not in {beside} from {quoted(name)} in {where}")
    named = quoted(name) if name.strip(HOLE) else AT_RUN_TIME if "name" in act.fields else ""
    what = act.get("what").text
    words = " ".join(filter(None, (what, named))) if what or named != AT_RUN_TIME else f"something {AT_RUN_TIME}"
    within = act.get("within").text
    return Verb.DELETES, Named(f"{words} in {where}{f' ({quoted(within)})' if within else ''}")


PASSWORD = expression(r"(?i)(?<=:)[^:@/\s]{1,100}(?=@)|(?<=password=)\S{1,100}")


def _without_password(name: str) -> str:
    return PASSWORD.sub("…", name)


def _schedules(act: Act, targets: Targets) -> Described:
    if act.get("how").text == "remove":
        return Verb.CHANGES_SYSTEM, Named("removes everything that is scheduled")
    line = act.get("what").text.replace(HOLE, "").strip()
    what = f" ({quoted(line, LONGEST_SCHEDULED)})" if line and "\n" not in line else ""
    if act.name == "crontab" and "crontab" in labels_of((act.get("what"),)):
        return Verb.CHANGES_SYSTEM, Named(f"changes what is scheduled for this account{what}")
    if act.name == "crontab":
        return Verb.CHANGES_SYSTEM, Named(f"replaces everything that is scheduled for this account{what}")
    return Verb.CHANGES_SYSTEM, Named(f"schedules something to run later{what}")


LONGEST_SCHEDULED = 50


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
    if code.exact is not None or act.get("language").text in ("awk", "shell") or act.name in SAID_OTHERWISE:
        return None
    return Verb.RUNS_TEXT, Named("code that is only known at run time", computed=True)


SAID_OTHERWISE = words("awk eval_ crontab at batch")
"""What runs a text and is said by another act, or does no harm by that."""


def _unpickles(act: Act, targets: Targets) -> Described:
    return Verb.RUNS_TEXT, Named("what unpacking objects makes it run", computed=True)


def _stops(act: Act, targets: Targets) -> Described:
    target = act.get("target")
    if act.name.endswith((".kill", ".terminate")) and act.name != "process.kill" and not target.texts:
        return None  # a process of its own
    known = target.text.strip(HOLE)
    if not known and act.name == "process.kill" and ("output" in target.labels or is_again(act)):
        return Verb.STOPS, Named("processes that it finds", computed=True)
    return Verb.STOPS, Named(f"the process {quoted(known)}" if known else "a process", computed=not known)


def _installs(act: Act, targets: Targets) -> Described:
    package = act.get("package")
    if "listed" in act.fields:
        return Verb.INSTALLS, Named(f"what {path_of(act.get('listed'), 'file').words} lists")
    if package.unknown:
        return None
    if not package.text.strip(HOLE):
        words = f"packages {AT_RUN_TIME}"
    else:
        words = "its working folder" if package.text in (".", "./") else named_program(package.text)
    if not act.get("runs").text:
        return Verb.INSTALLS, Named(words)
    line = act.get("line").text
    whole = f"{words} to run {quoted(line, LONGEST_COMMAND)}" if line else ""
    return Verb.INSTALLS, Named(f"{words} to run it", whole=whole)


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
    if HOLE in folder:
        names = sorted(one[len(VALUE_OF) :] for one in act.get("path").labels if one.startswith(VALUE_OF))
        names += sorted(one[1:] for one in act.get("path").labels if VARIABLE_OF.fullmatch(one))
        named = next((one for one in names if one != "PATH"), "")
        where = f"the folder in {shown(named, 30)}" if named else f"a folder {AT_RUN_TIME}"
        return Verb.CHANGES_SYSTEM, Named(f"lets later programs be started from {where} first", computed=True)
    where = WORKING if folder == "." else file_name(folder if folder.startswith("../") else f"./{folder}")
    return Verb.CHANGES_SYSTEM, Named(f"may start programs from {where}")


def _unfollowed(act: Act, targets: Targets) -> Described:
    return Verb.CHANGES_SYSTEM, Named(shown(act.get("what").text, 80))


VARIABLE_OF = expression(r"\$[A-Z_][A-Z0-9_]{0,40}")


def _hands(act: Act, targets: Targets) -> Described:
    """Name what something gets of which nothing is known, and that nothing is."""
    given = [path_of(one).words for one in (act.get("beyond").items or act.get("paths").items or ())]
    if act.get("data").labels:
        given.append(data_of((act.get("data"),)))
    if act.get("code").items:
        given.append("a text that it may run")
    name = act.get("to").text
    library = act.get("program").text != "yes"
    known = act.get("known").text
    if known == "its key":
        return Verb.CALLS, Named(f"{quoted(name, 30)} with {listed(given)}", place=name)
    to = quoted(name, 30) if library else named_program(name) if name else f"a program {AT_RUN_TIME}"
    return Verb.HANDS, Named(f"{listed(given)} to {to}{NOT_KNOWN if name and not known else ''}")


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
    "checked": _checked,
    "fetch": _fetches,
    "connect": _connects,
    "listen": _listens,
    "query": _queries,
    "discard": _discards,
    "destroy": _destroys,
    "mention": _mentions,
    "configure": configures,
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
    "escaped mangled recoded repaired left-out stops unparsed trap accept receive assemble reduce package-setup module "
    "member quietly swell query evaluates answer bound database cut pipe-to written-secret"
)
"""Kinds of acts that use no files, no network and no other programs by themselves."""
