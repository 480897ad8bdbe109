"""What programs of JavaScript ask a service for by a client that is not known here, as names and settings say it.

A library is the client of a service where it was handed a key or an address, or where what is called goes through
something that is called so (`Client`, `connect`, `login`). The verb of a method, wherever it stands in its name
(`messageDelete`), and a text that names the deed (`callService("recorder", "purge")`) say what is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.acts import VALUE_OF
from runner.risk.model.outline_data import words
from runner.risk.model.value import UNKNOWN, Value, labels_of, text
from runner.risk.trace.remote import ALTERING, COMPUTES, DELETING, LOCAL, LOOKING, PART, note_settings, opens

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from runner.risk.model.acts import Act, Place, Trail

SCHEME = expression(r"(?!file:|data:|node:)[a-z][a-z0-9+.-]{1,20}://(?:[^/@\s]{1,200}@)?(?P<host>[^/?#\s]{1,200})")
ADDRESSES = words(
    "host hosts hostname url uri baseurl baseuri serverurl endpoint node nodes brokers servers server contactpoints "
    "domain connectionstring connection site instanceurl loginurl apiurl clientid apikey accesstoken token password"
)
"""What settings are called, in small letters, that say where a service is or who asks."""
OF_ADDRESS = expression(
    rf"{VALUE_OF}(?:[A-Z0-9_]*_)?(?:URL|URI|HOST|DSN|ENDPOINT|ADDR|ADDRESS|SERVER|CONNECTION_STRING|TOKEN|KEY|SECRET|"
    r"PASSWORD|PASS)"
)
THROUGH = expression(
    r"(?i)(?:^|[.])(?:\w{0,40}(?:client|api|admin|session|service|sdk)|connect\w{0,20}|log_?in|sign_?in|authenticate)\(\)"
)
"""Parts of names that what is asked of a service goes through."""
DEEDS = DELETING | words("del unlink trash expunge clear empty flush unpublish deletion removal")
NEEDS_MORE = words("clear empty flush unlink del drop")
"""Of these the verb alone says nothing: what it is done to has to follow, or be given."""
RESETS = {("hard", "reset"), ("factory", "reset")}
NO_DEED = words("on is can did should will would before after has get list find fetch check count undo un not to")
"""What names begin with of methods that only speak of a deed."""
INSIDE = words(
    "listener listeners event events handler handlers property attribute class cookies cookie middleware filter "
    "filters child children element header headers timeout interval cache line screen route routes hook hooks "
    "observer plugin queries style"
)
"""What is in the program itself, or on a page."""
CHANGING = ALTERING | words(
    "add apply approve archive assign attach ban block cancel close confirm copy create deactivate demote deploy "
    "detach disable elevate enable forget forward grant import insert invite kick leave lock make mark merge move "
    "pause promote publish put reassign reboot register reject release rename resolve restart restore revoke "
    "rewind rotate schedule seek share stop submit suspend tag transfer trigger unarchive unassign unfollow "
    "unlock unpin unsubscribe upload upsert write"
)
"""Verbs by which something that a service keeps is changed."""
OF_CLIENT = expression(
    r"(?i)(?:set|make|add|create|register|update|write|put|apply)\w{0,40}(?:client|key|token|endpoint|project|headers?|options?|timeout|url|auth|"
    r"instance|pool|transport|app|listener|handler|plugin|middleware|logger|agent|adapter|session|context|connection|config|"
    r"hash|hmac|sign|verify|interface|stream|server|router|schema|table|page|browser|element|encoding|locale|level|channel|consumer|producer|"
    r"subscription|cursor|batch|transaction|query|command|iterator|worker|cluster|reader|writer)s?"
)
"""Methods that change or make something of the client's own."""
MAKES_CLIENT = expression(r"create\w{0,30}(?:Client|Api|API|Instance|Connection|Transport|Session)")
"""Functions that only make a client."""
ASKS = words(
    "call callservice callmethod invoke execute executekw execute_kw rpc request sendcommand command emit dispatch "
    "perform method action query_raw callfunction"
)
"""Methods, in small letters, whose text argument names what to do."""
OF_TESTS = expression(
    r"(?i)(?<![a-z])(?:memory|sinon|fake|stub|test|jest|pg-mem|pglite)|mock(?![a-z])|mocking|supertest|vitest|^nock$"
    r"|^msw|^aedes$"
)
"""Libraries that stand for a service in tests."""


def asks_to_send(name: str, args: Sequence[Value]) -> Value | None:
    """Return whether what is sent by a method goes to everybody on a list; None where it is no message to people."""
    last = name.removesuffix("()").rpartition(".")[2]
    root = name.lstrip("~").partition(".")[0].partition("(")[0]
    if root in NO_PEOPLE or name[:1] == "~":
        return None
    topic = any("topic" in (one.fields or {}) for one in args)
    if TO_MANY.search(name) is not None or (topic and MESSAGES.search(name) is not None):
        return text("yes")
    return UNKNOWN if last in TO_PEOPLE else None


NO_PEOPLE = words(
    "chrome browser process worker_threads ws WebSocket self window parent port fetch axios got request kafkajs"
)
TO_PEOPLE = words("sendMessage sendMail sendEmail sendSms sendSMS sendNotification")


def is_by_keys(name: str, args: Sequence[Value]) -> bool:
    """Return whether `destroy` gets keys of what a service keeps, as rows of tables get conditions."""
    return name.endswith(".destroy") and bool(args) and args[0].fields is None and args[0].function is None


CLOUDS = ("@aws-sdk/", "aws-sdk", "@google-cloud/", "@azure/", "@kubernetes/")
UNLOCKING = expression(r"(?i)(?:\w{1,20}\.)?(?:unlock\w*|(?:alarm_)?disarm\w*|open_(?:door|gate|cover|garage))")
"""Texts that ask a house to open a lock, or to switch off an alarm."""
SENDS = words("send broadcast publish notify dispatch deliver blast")
MESSAGES = expression(r"(?i)mails?|messag(?:e|ing)|sms|push|notif|campaign|broadcast|newsletter")
TO_MANY = expression(r"(?i)campaign|broadcast|newsletter|bulk|batch|multicast|to_?(?:all|topic|everyone)")
"""What is in the names of methods that send messages, and of those that send them to everybody on a list."""


def makes_client(act: str, name: str) -> bool:
    """Return whether what is taken for a change only makes a client: `createClerkClient`."""
    return act == "configure" and MAKES_CLIENT.fullmatch(name.removesuffix("()").rpartition(".")[2]) is not None


def note_client(trail: Trail, name: str, args: Sequence[Value], library: str, *, known: bool) -> None:
    """Note that a library is the client of a service, where a call of it says so, or where it is `known` to be."""
    if (
        not library
        or library in trail.clients
        or library.startswith((".", "@/"))
        or library in COMPUTES
        or OF_TESTS.search(library)
    ):
        return
    if known or any(map(_is_address, args)) or THROUGH.search(name):
        trail.clients.add(library)


def note_by_client(
    trail: Trail, called: Value, args: Sequence[Value], library: str, place: Place, *, awaited: bool
) -> None:
    """Note what a call of a library asks a service for; `awaited` says that the program waits for its end."""
    last = called.name.removesuffix("()").rpartition(".")[2]
    plain = [part.lower() for part in PART.findall(last)]
    command = last.endswith("Command")
    deed = INSIDE.isdisjoint(plain) and _is_deed(plain, args, awaited=awaited)
    stored = deed and awaited and not library.startswith((".", "@/")) and OF_TESTS.search(library) is None
    if not (library in trail.clients or stored) or not plain or (last[:1].isupper() and not command):
        return
    if len(plain) == 1 and not deed and all(one.function is not None for one in args):
        return  # `close()` of what it has itself
    path = args[0].text if args and args[0].text.startswith("/") else ""
    if path and last in SERVED and any(one.function is not None for one in args):
        return  # a path that is served
    fields: dict[str, Value] = {"what": next((one for one in args if one.texts), args[0] if args else UNKNOWN)}
    if deed:
        trail.add("destroy", called.name, {**fields, "on": called.owner or UNKNOWN}, place, called.labels)
    elif plain[0] in SENDS and MESSAGES.search(called.name) is not None:
        many = text("yes") if TO_MANY.search(called.name) is not None else UNKNOWN
        fields = {"how": text("message"), "data": Value(items=list(args)), "url": called.owner or UNKNOWN, "many": many}
        trail.add("send", called.name, fields, place, called.labels)
    elif last.lower() in ASKS and any(map(UNLOCKING.fullmatch, (one.text for one in args))):
        unlocks = next(one.text for one in args if UNLOCKING.fullmatch(one.text))
        trail.add("configure", called.name, {"at": text("service"), "unguards": text(unlocks)}, place, called.labels)
    elif last.lower() in ASKS and (asked := _asked(args)):
        trail.add("destroy", called.name, {**fields, "asked": text(asked)}, place, called.labels)
    elif (request := REQUEST.match(args[0].text if args else "")) is not None or (path and last in REQUESTS):
        what = text(args[0].text if request is None else request[2])
        values = {"at": text("service"), "target": what, "with": Value(items=list(args[1:]))}
        note_settings(trail.add("configure", called.name, values, place, called.labels), args, {})
    elif (plain[0] in CHANGING or (command and plain[0] not in OTHERWISE_OF_AWS)) and OF_CLIENT.fullmatch(
        last.removesuffix("Command")
    ) is None:
        where = text("the cloud" if library.startswith(CLOUDS) else "service")
        values = {"at": where, "with": Value(items=list(args))}
        note_settings(trail.add("configure", called.name, values, place, called.labels), args, {})
    elif plain[0] not in LOOKING_OF_CLIENTS and (opened := next(opens(args, {}), "")):
        values = {"at": text("service"), "with": Value(items=list(args)), "opens": text(opened)}
        trail.add("configure", called.name, values, place, called.labels)


LOOKING_OF_CLIENTS = LOOKING | words("query is on select filter log")
"""Words that names of methods of a client begin with by which nothing is opened to anybody."""
WRITING = expression(
    r"(?:write|save|export|dump|render|output|convert|print)?(?:To|As)?_?(?:File|Disk|Path|Pdf|PDF|Png|PNG|Xlsx|XLSX|Csv|CSV)(?:Sync|Async)?"
    r"|toFile|saveAs|write|save|export|outputFile"
)
READING = expression(
    r"(?:read|parse|load|open|from|import|decode|probe)_?(?:File|Path|Image|Workbook|Csv|CSV|Pdf)(?:Sync|Async)?"
)
OF_FILE = expression(r"[^\n:*?\"<>|]{0,200}[\w\])}\ufffc-]\.[A-Za-z][A-Za-z0-9]{1,5}")
"""A path that ends as files do."""


def files_by_name(trail: Trail, called: Value, args: Sequence[Value], library: str, place: Place) -> Iterator[Act]:
    """Yield the file that a method of a library writes or reads, by its name and its first path: `a.writeFile(p)`."""
    last = called.name.removesuffix("()").rpartition(".")[2]
    reads = READING.fullmatch(last) is not None
    if library.startswith((".", "@/")) or not args or not (reads or WRITING.fullmatch(last)):
        return
    path = args[0]
    if path.fields is not None and path.function is None:
        path = next(
            (path.fields[key] for key in ("path", "file", "filename", "output", "outfile") if key in path.fields),
            UNKNOWN,
        )
    found = "found" in path.labels
    if not path.texts and not found:
        return
    if not found and not all(map(OF_FILE.fullmatch, path.texts)):
        return
    again = not reads and path.exact is not None and _is_read(trail, path.exact)
    edits = {"edit": text("yes")} if (found and not reads) or again else {}
    yield trail.add("read" if reads else "write", called.name, {"path": path, **edits}, place, called.labels)


def _is_read(trail: Trail, path: str) -> bool:
    """Return whether the program has read a file before."""
    return any(act.kind == "read" and act.get("path").exact == path for act in trail.acts)


OTHERWISE_OF_AWS = LOOKING | words("scan query select batch put publish invoke send upload decrypt sign")
"""Verbs of commands of AWS that change nothing there, or are acts of their own."""


SERVED = words("get post put patch delete all use route on")
REQUESTS = words("put patch")
REQUEST = expression(r"(PUT|PATCH)\s{1,4}(/\S{1,200})")
"""How some libraries are asked: `request("PATCH /repos/a/b", {...})`."""


def _is_address(value: Value, depth: int = 0) -> bool:
    """Return whether a value says where a service is, or by which account it is asked."""
    if value.texts:
        found = SCHEME.match(value.text)
        return found is not None and LOCAL.match(found["host"]) is None
    if any(map(OF_ADDRESS.fullmatch, labels_of((value,)))):
        return True
    if depth == 3 or not value.fields:
        return False
    for key, one in value.fields.items():
        if _is_address(one, depth + 1):
            return True
        if key.lower() in ADDRESSES and one.texts and LOCAL.match(one.text) is None:
            return True
    return False


def _is_deed(plain: Sequence[str], args: Sequence[Value], *, awaited: bool) -> bool:
    """Return whether a verb in the name of a method says that something is deleted: `messageDelete`, `removeAll`."""
    if "and" in plain:  # `getAndDelete`
        plain = plain[len(plain) - plain[::-1].index("and") :]
    if not plain or plain[0] in NO_DEED:
        return False
    if tuple(plain[-2:]) in RESETS or (awaited and tuple(plain) == ("clear",)):
        return True
    at = next((at for at, part in enumerate(plain) if part in DEEDS), -1)
    if at < 0 or (at > 0 and plain[at] in NEEDS_MORE):
        return False
    return plain[at] not in NEEDS_MORE or len(plain) > 1 or bool(args)


def _asked(args: Sequence[Value]) -> str:
    """Return the text that names what a service is asked to do, where that is to delete something; '' for others."""
    for one in args:
        for known in one.texts if len(one.texts) == 1 else ():
            if len(known) <= 80 and not DEEDS.isdisjoint(part.lower() for part in PART.findall(known)):
                return known
    return ""
