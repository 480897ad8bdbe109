"""Reads the record of a trial: what was asked for, how grave that is, and which decoy secrets went where.

What was asked for is written down once more, as shell programs without any disguise, and these are read by the same
rules as all code (`programs`, `weighed`, `judged`). The record was written by the code's own process, so it is taken
for a list of what was asked for and never for a list of all that was.
"""

from __future__ import annotations

import ast
import base64
import hashlib
import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import quote

from runner.model.assessment import WHOLE, Capability, Level
from runner.model.result import Outcome
from runner.model.shown import in_quotes
from runner.model.tried import BELOW, PRINTED, PROGRAM, Tried, TriedAct, TriedKind
from runner.system.syntax_trees import syntax_tree_of_expression

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from runner.model.assessment import Assessment, Finding
    from runner.model.result import Result

MOST_RECORDS = 600
"""More than the programs in the sandbox write."""
MOST_ACTS = 40
"""Acts that are kept of a trial."""
MOST_TARGET, MOST_DATA = 400, 4_000
MOST_KEPT_DATA = 200
"""Characters of the data of an act that are kept in the history."""
MOST_LINE = 64_000
"""Characters of a line of the record, each of which may be written as twelve; a longer one is none of ours."""
MOST_PRINTED = 262_144
"""Characters of output that are searched for decoys."""
HOME = "/home/user"
"""Stands for the decoy home in the program that is read."""
DECOYS = (
    *("AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "OPENAI_API_KEY"),
    *("~/.ssh/id_rsa", "~/.ssh/id_ed25519", "~/.aws/credentials", "~/.netrc", "~/.npmrc", "~/.docker/config.json"),
)
"""Decoys that are always laid out; the code's own are named by the record."""
_CHANGING = """
delete remove destroy drop terminate purge wipe truncate revoke disable erase rmtree unlink rm transfer approve
refund payout withdraw suspend deactivate kill shutdown nuke prune
"""
CHANGING = frozenset(_CHANGING.split())
"""Words in the name of a function of a package of which nothing is known that change what cannot be taken back."""
_PLAIN = """
pandas polars numpy scipy sklearn torch tensorflow matplotlib seaborn PIL cv2 networkx sympy rich tqdm pytest
click typer react vue lodash dayjs chalk pydantic bs4 lxml
"""
PLAIN = frozenset(_PLAIN.split())
"""Packages whose functions of those names work on values of the program, on pictures and on screen."""
_DEEDS = """
set put update add create insert upsert write send publish post patch upload modify change apply merge push commit grant
share move rename replace reset cancel close archive execute run save
"""
DEEDS = CHANGING | {*_DEEDS.split()}
"""Words in the name of a function of a package that does something elsewhere."""
_READING = """
get list describe show read find search query select head count fetch load open download status info lookup exists scan
iter paginate wait print log
"""
READING = frozenset(_READING.split())
"""Words at the beginning of the name of a function of a package that changes nothing."""
_OPENING = """
connect createconnection createpool createclient create_client create_engine createengine create_pool from_url fromurl
login authenticate auth configure init initialize initializeapp
"""
OPENING = frozenset(_OPENING.split())
"""What a function of a package is called, in small letters, that opens what a key is for."""
STATEMENT = frozenset({"execute", "executemany", "exec", "query", "raw", "prepare", "executescript", "unsafe", "text"})
"""Functions of packages, in small letters, that take SQL first."""
BUILDS = frozenset({"sqlalchemy.delete", "sqlalchemy.sql.delete"})
"""Functions that only make a statement, which another runs."""
SETS_KEY = re.compile(r"(?i)set_?\w{0,20}?(?:key|token|credentials?|auth)")
"""What a function of a package is called that hands it its key."""
_CLIENT = """
api app auth client config connection credential credentials driver engine pool provider sdk service session
"""
CLIENT = frozenset(_CLIENT.split())
"""Words at the end of the name of a class of a package that is opened by a key."""
MOST_KEYS = 2
"""Different secrets that what is opened by keys is given at once; more of them are an environment as a whole."""
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
LEFT_OUT = {"kind": "more"}
"""Says that there was more than is recorded."""
KINDS = frozenset(kind.value for kind in TriedKind if kind is not TriedKind.DISCLOSE)
"""What a record may hold; where decoys went is found here."""
SCRIPT = "request.sh"
"""Name of a shell script while it is tried; what other scripts do has other lines."""
_IN_SHELL = """
: [ [[ (( . break builtin case cd continue declare dirs echo eval exit export false fi for function getopts hash if let
local mapfile popd printf pushd pwd read readarray readonly return select set shift shopt source test then times trap
true type typeset ulimit umask unset until wait while
"""
IN_SHELL = frozenset(_IN_SHELL.split())
"""Commands of the shell itself, by which nothing is asked for; what `eval` and `trap` run has lines of its own."""
_STEERS = "! alias builtin command coproc do done elif else enable esac exec fi in logout then time unalias"
STEERS = IN_SHELL | {*_STEERS.split()}
"""Words at the beginning of a command by which a shell reads what follows in another way."""
PASSES_ON = ("environment", "cat")
"""What the stand-in of a program that is not there does: it hands on its input."""
ASSIGNED = re.compile(r"[A-Za-z_]\w*(?:\[[^]]*\])?\+?=")
EXIT_CODE = re.compile(r"exit code -?\d{1,10}", re.ASCII)
OWN_FOLDERS = "/tmp/tmp."
"""Begins the path of a folder that a script makes with `mktemp`."""
TEMPORARY = re.compile(r"/tmp/tmp[.\w]{1,40}")
OUR_HOME = re.compile(r"(?<![\w/.])~(?=[/\s'\"]|$)")
WHERE = frozenset({"send", "look up", "connect", "call", "set", "run"})
"""What may hand a value on."""
HTTP = frozenset({"requests", "httpx", "aiohttp", "axios", "got", "superagent", "urllib3", "undici"})
"""Packages whose calls are requests to the host that they name."""
HOST = re.compile(r"https?://([^\s/'\"?#@]{1,200})")
AS_HEADER = re.compile(
    r"(?i)\b(?:authorization|x-api-key|private-token|auth)['\"]?\s?[:=]\s?['\"(]{0,2}[^'\"\r\n,}]{0,200}"
)
AS_ARGUMENT = re.compile(
    r"\b(?:[aA]uthorization|X-Api-Key|api_?[kK]ey|auth|auth_?[tT]oken|access_?[tT]oken|token|password|secret|private_?[kK]ey|"
    r"aws_secret_access_key|secret_?[aA]ccess_?[kK]ey|dsn|url|uri|connection_?[sS]tring)['\"]?\s?[:=]\s?['\"]?[^'\"\r\n,}]{0,200}"
)
"""How a key is given to what it is the key of: nothing is disclosed by that."""
ASKED_FOR = "request."
"""Beginning of the ids of findings about what a request asks for beside its code: the network, and hosts."""
NOT_READ = frozenset({"noted.repaired", "hidden.left-out", "risk.unparsed", "risk.too-large", "risk.too-deep"})
"""Ids of findings that say that a program could not be read as it stands."""
PARTLY_READ = "Not all of what it asked for could be read."
MOCKED = "mocked "
"""Begins the name of what a package for tests has put in place of a service; the programs in the sandbox write it."""
DRY = "DryRun"
"""The argument of Amazon's calls by which nothing is done, and only the rights to it are looked at."""
AMAZON = frozenset({"boto3", "botocore", "aioboto3"})
GRAVEST = (TriedKind.DISCLOSE, TriedKind.DELETE_FOLDER, TriedKind.DELETE, TriedKind.RUN, TriedKind.CALL, TriedKind.SEND)


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a record says, before anybody has said how grave it is."""

    acts: tuple[TriedAct, ...]
    ended: str = ""
    ended_at: int = 0
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Weighed:
    """A record, and the worst that reading says of each act, by its number."""

    found: Recorded
    worst: Mapping[int, Finding]


def decoy(seed: str, name: str) -> str:
    """Return the value of a decoy secret, as the programs in the sandbox make it."""
    return "sk-" + hashlib.sha256(f"{seed} {name}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def recorded(result: Result, mark: str, seed: str) -> Recorded:
    """Return what the record of a trial says. Never raises: the code may have written anything."""
    found: list[tuple[str, str, str, int]] = []
    decoys, places = {decoy(seed, name): name for name in DECOYS}, ("", "")
    ended, at, remarks, kinds = "", 0, [], set()
    for one in _records(result.stderr, mark):
        kind, target, data = (str(one.get(key, "")) for key in ("kind", "target", "data"))
        kinds.add(kind)
        line = _number(one.get("line"))
        match kind:
            case "begun":
                places = places if places[0] else (_whole(target[:MOST_TARGET]), _whole(data[:MOST_TARGET]))
            case "decoy" if len(decoys) < 100:
                decoys[decoy(seed, target[:200])] = _whole(target[:200])  # whose names the code has
            case "ended":
                ended, at = _whole(_one_line(target)[:160]), _number(one.get("at"))
                ended = in_quotes(ended) if ended and not EXIT_CODE.fullmatch(ended) else ended
            case _ if kind in KINDS:
                found.append((kind, _whole(target[:MOST_TARGET]), _whole(data[:MOST_DATA]), line))
            case _:
                pass
    output = _without_records(result, mark)[:MOST_PRINTED]
    acts = [*_disclosed(found, output, decoys), *_acts(found, decoys, *places)]
    if "looked" in kinds:
        remarks.append("It looked at the decoys, and may do something else without them.")
    if "unwatched" in kinds:
        remarks.append("It starts what is not watched, which may ask for more.")
    if "answered" in kinds:
        remarks.append("It asks somebody at a terminal, and was answered yes.")
    if "clock" in kinds:
        remarks.append("It asks for the time, and may do something else at another.")
    if "more" in kinds or result.meta.truncated or not {"begun", "over"} <= kinds:
        remarks.append("The record of it is not whole, so it may have asked for more.")
    if not ended and result.outcome is not Outcome.OK:
        ended = _ending(result)
    return Recorded(tuple(dict.fromkeys(acts)), ended, at, tuple(remarks))


def _ending(result: Result) -> str:
    match result.outcome:
        case Outcome.TIMED_OUT:
            return f"its time of {result.duration:.0f} s was over"
        case Outcome.FAILED:
            return f"exit code {result.exit_code}"
        case _:
            return _one_line(result.error or result.outcome.value)


def _records(text: str, mark: str) -> Iterator[Mapping[str, object]]:
    count = 0
    for line in text.split("\n"):
        if not line.startswith(mark + " "):
            continue
        if count >= MOST_RECORDS:
            yield LEFT_OUT
            return
        count += 1
        words = line[len(mark) + 1 :]
        if words.startswith("+"):
            yield from _traced(words[1:])
            continue
        try:
            one = json.loads(words) if len(line) <= MOST_LINE else None
        except (ValueError, RecursionError):
            one = None
        yield one if isinstance(one, Mapping) else LEFT_OUT


def _traced(words: str) -> Iterator[Mapping[str, object]]:
    """Yield what a line of the trace of a shell says: `request.sh:7 rm -rf build`."""
    place, _, command = words.partition(" ")
    source, _, number = place.rpartition(":")
    number, own, _ = number.partition(OWN_FOLDERS)  # where it stands, if that is a folder that it made for itself
    first = command.split(None, 1)[0] if command.strip() else ""
    if source == "main.sh" or (source, command) == PASSES_ON:
        return
    if first == "date":
        yield {"kind": "clock"}
    if command.startswith("set +x") or "BASH_XTRACEFD" in command:
        yield {"kind": "looked"}
    if first and first not in IN_SHELL and not ASSIGNED.match(command):
        line = int(number) if source == SCRIPT and number.isascii() and number.isdigit() and len(number) < 8 else 0
        yield {"kind": "run", "target": command, "line": line, "data": own}


def _without_records(result: Result, mark: str) -> str:
    lines = (line for line in result.stderr.split("\n") if not line.startswith(mark))
    return result.stdout + "\n" + "\n".join(lines)


def _number(value: object) -> int:
    return value if isinstance(value, int) and 0 <= value < 1 << 24 else 0


def _whole(text: str) -> str:
    """Return a text without halves of characters, which nothing could write."""
    return text.encode("utf-8", "replace").decode()


def _one_line(text: str) -> str:
    return " ".join(text.split())


# ---- decoys ----


def _disclosed(
    found: Iterable[tuple[str, str, str, int]], output: str, decoys: Mapping[str, str]
) -> Iterator[TriedAct]:
    """Yield where the value of a decoy went: to a host, a program, a package, the agent; plain or in other letters.

    Where it is what opens a door (a header or an argument for that), it is no disclosure: that is what keys are for.
    """
    forms = {name: _forms(value) for value, name in decoys.items()}
    for kind, target, data, line in found:
        if kind not in WHERE:
            continue
        client = kind in (TriedKind.CALL, TriedKind.SET) and _package(target) not in HTTP
        door = AS_ARGUMENT if client else AS_HEADER
        # What a package was called with before stands in the name of what it gave, and has been a call of its own.
        said = data if kind in (TriedKind.CALL, TriedKind.SET) else f"{target} {data}"
        text = target.replace(".", "") if kind == TriedKind.LOOK_UP else door.sub("", said)
        given = [name for name, each in forms.items() if any(form in text for form in each)]
        if client and _opens(target) and len(given) <= MOST_KEYS:
            given = [name for name in given if name.startswith("~")]  # a file of keys is none of a package's
        for name in given:
            yield TriedAct(TriedKind.DISCLOSE, _receiver(kind, target, data), name, line)
    for name, each in forms.items():
        if any(form in output for form in each):
            yield TriedAct(TriedKind.DISCLOSE, PRINTED, name)


def _package(target: str) -> str:
    return re.split(r"\W", target.removeprefix("new "), maxsplit=1)[0]


def _opens(target: str) -> bool:
    """Return whether a call of a package is one that a key is for: it makes a client, or connects."""
    made, target = target.startswith("new "), target.removeprefix("new ")
    owner, inner, name = target.rpartition(".")
    if name.lower() in OPENING or SETS_KEY.fullmatch(name):
        return True
    if "(" in owner or not (made or name[:1].isupper()):
        return False
    return (
        not inner or name.lower() in owner.lower() or any(word.lower() in CLIENT for word in _WORD.findall(name)[-1:])
    )


def _receiver(kind: str, target: str, data: str) -> str:
    match kind:
        case TriedKind.SEND | TriedKind.CONNECT:
            return target
        case TriedKind.LOOK_UP:
            return BELOW + ".".join(target.split(".")[-2:])
        case TriedKind.RUN if host := HOST.search(target):
            return host[1]
        case TriedKind.RUN:
            return PROGRAM + (target.split(None, 1)[0] if target.strip() else "")
        case _:
            host = HOST.search(data) if _package(target) in HTTP else None
            return host[1] if host else _function(target)


def _function(target: str) -> str:
    """Return what a function is called, without what was given on the way to it."""
    while (plain := re.sub(r"\([^()]*\)|=.*", "", target)) != target:
        target = plain
    return target


def _forms(value: str) -> tuple[str, ...]:
    """Return how a value looks as it is, turned round, in hexadecimal, in capitals, and in Base64."""
    data = value.encode()
    encoded = [base64.b64encode(bytes(shift) + data).decode() for shift in range(3)]
    # The letters at both ends depend on what stands beside the value.
    inner = [one[(shift * 8 + 5) // 6 : -4] for shift, one in enumerate(encoded)]
    return tuple(dict.fromkeys((value, value[::-1], data.hex(), value.upper(), quote(value), value[3:], *inner)))


# ---- what was asked for ----


def _acts(
    found: Iterable[tuple[str, str, str, int]], decoys: Mapping[str, str], workspace: str, home: str
) -> Iterator[TriedAct]:
    folders: set[str] = set()
    for kind, target, data, line in found:
        if kind in ("read", "write", "overwrite", "delete", "delete folder", "move", "rights", "link") and _own(
            target, home
        ):
            continue
        if kind in ("delete", "delete folder"):
            if any(target.startswith(one + "/") or target == one for one in folders):
                continue  # a part of what was noted as a whole
            folders.update({target} if kind == "delete folder" else ())
        named, more = (_named(_without_values(text, decoys), workspace, home) for text in (target, data))
        act = TriedAct(TriedKind(kind), named, more, line)
        if act.kind is TriedKind.OVERWRITE and not act.target.startswith(("~", "/")):
            act = replace(act, kind=TriedKind.WRITE)  # the decoy is there because the code names it
        if act.kind is TriedKind.RUN and _own(data, home) and "\n" not in data:
            yield replace(act, data=OWN)
        else:
            yield replace(act, data="" if act.kind in (TriedKind.SEND, TriedKind.RUN) else act.data[:MOST_TARGET])


OWN = "in a temporary folder of its own"
"""The data of a command that is started there."""


def _own(target: str, home: str) -> bool:
    """Return whether a path is a temporary one of the trial's own, and not of its decoys."""
    return target.startswith("/tmp/") and not (home and target.startswith(home)) and ".." not in target


def _without_values(text: str, decoys: Mapping[str, str]) -> str:
    """Return a text with the names of decoys in place of their values."""
    if "sk-" in text:
        for value, name in decoys.items():
            text = text.replace(value, f"<{name}>")
    return text


def _named(text: str, workspace: str, home: str) -> str:
    """Return a text in which the decoy home and the folder of the trial are as a person names them."""
    if home:
        text = text.replace(home, "~")
    if workspace and text.startswith(workspace + "/"):
        text = text[len(workspace) + 1 :]
    return text.replace(workspace + "/", "./") if workspace else text


# ---- how grave that is ----


@dataclass(frozen=True, slots=True)
class ActsInShell:
    """Acts as a shell program."""

    text: str
    owners: tuple[int, ...]
    """Number of the act that each line, from 1, belongs to; -1 for none."""


def programs(acts: Sequence[TriedAct]) -> Iterator[ActsInShell]:
    """Yield the acts as shell programs: all together, for what one does with another's; and so that none can hide
    another, as an open quote, `exit` or `function rm` would: each command alone, and what has none of the code's. Where
    every command is nothing but words, none can, and alone they would lack what those before have made.
    """
    commands = [(number,) for number, act in enumerate(acts) if act.kind is TriedKind.RUN]
    ours = tuple(number for number, act in enumerate(acts) if act.kind is not TriedKind.RUN)
    groups = (tuple(range(len(acts))), ours, *commands)
    for group in dict.fromkeys(groups[:1] if all(_only_words(acts[one]) for (one,) in commands) else groups):
        if group:
            yield _program(acts, group)


def _only_words(act: TriedAct) -> bool:
    """Return whether a command is a program and its arguments, with nothing by which a shell does more."""
    command = _command(act).replace("$t", "t").replace("~", "_")  # what these are expanded to is one word
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    return shlex.join(words) == command and not (words[:1] == [] or words[0] in STEERS or "=" in words[0])


def _program(acts: Sequence[TriedAct], group: tuple[int, ...]) -> ActsInShell:
    lines, owners = ["t=$(mktemp -d)"], [group[0] if len(group) == 1 else -1]  # what is temporary is the code's own
    for number in group:
        command = _command(acts[number])
        if acts[number].data == OWN and acts[number].kind is TriedKind.RUN and _only_words(acts[number]):
            command = f'(cd "$t" && {command})'
        for line in command.split("\n"):
            lines.append(line)
            owners.append(number)
    return ActsInShell("\n".join(lines) + "\n", tuple(owners))


def _command(act: TriedAct) -> str:
    match act.kind:
        case TriedKind.RUN:
            return TEMPORARY.sub("$t", OUR_HOME.sub(HOME, act.target))
        case TriedKind.DELETE:
            return f"rm -- {_path(act.target)}"
        case TriedKind.DELETE_FOLDER:
            return f"rm -rf -- {_path(act.target)}"
        case TriedKind.WRITE | TriedKind.OVERWRITE:
            return f"echo x > {_path(act.target)}"
        case TriedKind.READ:
            return f": < {_path(act.target)}"
        case TriedKind.MOVE:
            return f"mv -- {_path(act.target)} {_path(act.data)}"
        case TriedKind.RIGHTS:
            return f"chmod {act.data.removeprefix('0o') or '600'} {_path(act.target)}" if act.data.isalnum() else ":"
        case TriedKind.LINK:
            return f"ln -s -- {_path(act.data)} {_path(act.target)}"
        case TriedKind.CALL if statement := _statement(act):
            return f"psql -c {shlex.quote(statement)}"
        case TriedKind.SEND | TriedKind.CONNECT:
            return f"curl {shlex.quote('https://' + act.target)}"
        case _:
            return ":"


def _statement(act: TriedAct) -> str:
    """Return the SQL that a call of a package hands to a database, on one line; "" for none."""
    name = act.target.rpartition(".")[2].lower()
    if name not in STATEMENT or act.target.startswith(MOCKED) or act.data[:1] not in ("'", '"'):
        return ""
    try:
        call = syntax_tree_of_expression(f"f({act.data})")
        first = call.args[0] if isinstance(call, ast.Call) else None
        text = first.value if isinstance(first, ast.Constant) else ""
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        text = act.data[1:]  # not all of it was kept
    return _one_line(text) if isinstance(text, str) else ""


def _path(path: str) -> str:
    line = _one_line(path)
    return shlex.quote(HOME + line[1:] if line == "~" or line.startswith("~/") else line)


def weighed(found: Recorded, reads: Sequence[tuple[ActsInShell, Assessment | None]]) -> Weighed:
    """Return the worst that reading says of the acts: `reads` has each of `programs(found.acts)`, with None for those
    for which there was no time.
    """
    worst: dict[int, Finding] = {}
    whole = not any(act.kind is TriedKind.RUN and len(act.target) >= MOST_TARGET for act in found.acts)
    for program, read in reads:
        whole = whole and read is not None
        for finding in read.findings if read is not None else ():
            line = finding.span.line
            # What is printed is known better: the values of the decoys are looked for.
            if not 0 < line <= len(program.owners) or finding.id.startswith("shown."):
                continue
            whole = whole and finding.id not in NOT_READ
            number = program.owners[line - 1]
            if number not in worst or finding.level > worst[number].level:
                worst[number] = finding
    remarks = found.remarks if whole else (*found.remarks, PARTLY_READ)
    return Weighed(replace(found, remarks=remarks), worst)


def judged(read: Weighed, said: Assessment, seconds: float) -> Tried:
    """Return the outcome of a trial. `said` is what reading says of the code."""
    found = read.found
    # That the network is asked for does not say what is done there, and what is said of the whole names no line.
    graver = {one.capability for one in said.findings if one.level >= Level.HIGH and not one.id.startswith(ASKED_FOR)}
    placed = [one for one in said.findings if one.span != WHOLE]
    lines = {one.span.line for one in placed if one.level >= Level.HIGH}
    # What a call of a package does is known by its name alone: MEDIUM there says the same.
    named = lines | {one.span.line for one in placed if one.level is Level.MEDIUM}
    acts = []
    for number, act in enumerate(found.acts):
        level, capability = _own_level(act)
        if (grave := read.worst.get(number)) is not None and grave.level > level:
            level, capability = grave.level, grave.capability
        on_line = act.line in (named if act.kind is TriedKind.CALL else lines)
        unsaid = level >= Level.HIGH and not (capability in graver or on_line)
        acts.append(replace(act, data=act.data[:MOST_KEPT_DATA], level=level, unsaid=unsaid))
    acts.sort(key=lambda act: (not act.unsaid, -act.level, _rank(act)))
    telling = [act for act in acts if act.kind not in (TriedKind.READ, TriedKind.LOOK_UP)] or acts
    told = [act for act in acts if act.level >= Level.MEDIUM or act in telling]
    left = len(told) - MOST_ACTS
    return Tried(tuple(told[:MOST_ACTS]), max(0, left), found.ended, found.ended_at, found.remarks, seconds)


def _rank(act: TriedAct) -> int:
    """Return where an act stands among those that are as grave: what is named after a deed before what looks."""
    if act.kind is not TriedKind.CALL:
        return GRAVEST.index(act.kind) if act.kind in GRAVEST else len(GRAVEST)
    found = {word.lower() for word in _WORD.findall(act.target.rpartition(".")[2])}
    if _is_quiet(act):
        return len(GRAVEST) + 2
    return GRAVEST.index(act.kind) if found & DEEDS else len(GRAVEST) + 1


def _is_quiet(act: TriedAct) -> bool:
    """Return whether a call of a package makes something of it, or is named after what only looks."""
    name = act.target.rpartition(".")[2]
    begins = next(iter(_WORD.findall(name)), "").lower()
    return begins in READING or _opens(act.target) or (name[:1].isupper() and not act.target.startswith("new "))


def _own_level(act: TriedAct) -> tuple[Level, Capability]:
    """Return how grave an act is by itself: what the shell has no command for."""
    match act.kind:
        case TriedKind.DISCLOSE:
            printed = act.target == PRINTED
            return Level.HIGH, Capability.READS_CREDENTIALS if printed else Capability.EXFILTRATION
        case TriedKind.OVERWRITE if act.target.startswith(("~", "/")):
            return Level.HIGH, Capability.DESTROYS_FILES
        case TriedKind.CALL if _changes(act):
            return Level.HIGH, Capability.DESTROYS_FILES
        case TriedKind.SEND | TriedKind.CONNECT | TriedKind.LISTEN | TriedKind.LOOK_UP:
            return Level.MEDIUM, Capability.NETWORK
        case TriedKind.NATIVE | TriedKind.KILL:
            return Level.MEDIUM, Capability.STARTS_PROCESSES
        case _:
            return Level.LOW, Capability.FILES


def _changes(act: TriedAct) -> bool:
    """Return whether a call of an unknown package is named after what cannot be taken back."""
    last, package = act.target.rpartition(".")[2], _package(act.target)
    route = act.data.startswith(("'/", '"/'))  # a web application's address, not a call of another's
    # A class in Python makes something, and what is done with that is another call.
    made = last[:1].isupper() and not act.target.startswith("new ")
    if act.target.startswith(MOCKED) or act.target in BUILDS or _is_dry(act):
        return False
    if last.lower() in STATEMENT and act.data.startswith(tuple(f"{one}(" for one in BUILDS)):
        return True
    return (
        package not in PLAIN and not (route or made) and any(word.lower() in CHANGING for word in _WORD.findall(last))
    )


def _is_dry(act: TriedAct) -> bool:
    """Return whether a call asks Amazon's services whether it might, by an argument of which they know nothing else."""
    amazon = _package(act.target) in AMAZON or act.target.startswith("new @aws-sdk/client-")
    if not amazon or DRY not in act.data:
        return False
    try:
        if act.data.startswith("{"):
            return json.loads(act.data).get(DRY) is True
        call = syntax_tree_of_expression(f"f({act.data})")
    except (ValueError, SyntaxError, RecursionError, MemoryError, AttributeError):
        return False
    return isinstance(call, ast.Call) and any(
        one.arg == DRY and isinstance(one.value, ast.Constant) and one.value.value is True for one in call.keywords
    )
