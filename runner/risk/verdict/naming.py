"""Names what an act is about, for a sentence: paths, hosts, data, programs; and says where a name is not known.

What comes from an agent is quoted unless it cannot be taken for words of ours: a file may well be called
"nothing, and touches no files".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from runner.model.expression import expression
from runner.model.shown import PLAIN, hides, in_quotes
from runner.model.verdict import LONGEST_TARGET
from runner.risk.model.acts import PICKED, PICKED_BY_AGE, VALUE_OF
from runner.risk.model.temporary import TEMPORARY
from runner.risk.model.value import HOLE, NO_LABELS, UNKNOWN, labels_of
from runner.risk.trace.files import FOUND_AS, FOUND_IN, OF_OUTSIDE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from runner.risk.model.value import Value

LONGEST_NAME = 44
"""Characters of one name in a sentence; of a longer one both ends are shown."""
LONGEST_LOOKED_AT = 4_000
MOST_COUNTED = 7
"""Names that are counted; more than these are many."""
IDENTIFIER = expression(r"[\w$]+(?:[.-][\w$]+)*", re.ASCII)
VARIABLE = expression(r"[A-Z_][A-Z0-9_]{1,60}")
WORKING = "its working folder"
FINDS = "what it finds in "
AT_RUN_TIME = "worked out at run time"
TEMPORARY_FILES = "its own temporary files"
PATH = expression(r"(?::\d{1,5})?(/[^?#\s]{3,400})")
"""What follows the host in an address and says what is asked for there."""
LONGEST_ADDRESS = 60
HOST = expression(r"^(?:\w+://)?(?:[^/@\s]*@)?(\[[0-9a-fA-F:.]+\]|[^/:?#\s\[\]]+)(?=[:/?#]|$)")


class Does(NamedTuple):
    """What a program does, for a clause of its own: `lists “pods” by kubectl`."""

    verb: str
    what: str
    by: str


class Named(NamedTuple):
    """The words for something, and whether they are all that is known of it."""

    words: str
    computed: bool = False
    place: str = ""
    """The path or host alone, where it is known whole."""
    whole: str = ""
    """Words that say more, for where there is room."""
    does: Does | None = None
    """What is said in place of `runs`, where the words of a command tell it."""


def shown(text: str, longest: int = LONGEST_NAME) -> str:
    """Return the text on one line, bounded, with a mark for each character that shows nothing or misleads."""
    flat = " ".join(text[:LONGEST_LOOKED_AT].replace(HOLE, "…").split())
    if not (flat.isascii() and flat.isprintable()):
        flat = "".join("\N{REPLACEMENT CHARACTER}" if hides(one) else one for one in flat)
    if len(flat) > longest:
        head = longest // 2
        flat = f"{flat[:head]}…{flat[head + 1 - longest :]}"
    return flat


def quoted(text: str, longest: int = LONGEST_NAME) -> str:
    """Return the text as `shown`, in quotes of which it has none itself."""
    return in_quotes(shown(text, longest))


def one_word(name: str, longest: int = LONGEST_NAME) -> str:
    """Return a name as `shown`, in quotes where it could be read as a part of the sentence around it."""
    return shown(name, longest) if ONE_WORD.fullmatch(name) is not None else quoted(name, longest)


ONE_WORD = expression(r"[^\s;,“”\"]{1,2000}")


def identifier(name: str) -> str:
    """Return a name as code has them, quoted where it is none."""
    return shown(name, 40) if IDENTIFIER.fullmatch(name) else quoted(name, 40)


def file_name(path: str, longest: int = LONGEST_NAME) -> str:
    """Return a path for a sentence, quoted where it could be taken for words of ours."""
    short = shown(path, longest)
    plain = PLAIN.fullmatch(short) or ("…" in short and PLAIN.fullmatch(short.replace("…", "*")))
    return short if plain else quoted(path, longest)


def listed(names: Sequence[str], most: int = 3) -> str:
    """Return "a, b and c", "a, b and 4 more", or "a, b and many more" from where not all are followed."""
    unique = list(dict.fromkeys(names))
    if len(unique) > most:
        left = len(unique) - most + 1
        unique = [*unique[: most - 1], f"{left} more" if left <= MOST_COUNTED else "many more"]
    return unique[0] if len(unique) == 1 else f"{', '.join(unique[:-1])} and {unique[-1]}" if unique else ""


def path_of(path: Value, thing: str = "path", *, tree: bool = False) -> Named:
    """Name the path of an act; `thing` is what it is called where nothing is known of it."""
    if path.fields is not None and "path" in path.fields:
        path = path.fields["path"]  # of an open file
    labels = path.labels if path.items is None and path.fields is None else labels_of((path,))
    within = None
    for label in labels:
        if label.startswith(TEMPORARY):
            return Named(TEMPORARY_FILES)
        if label.startswith(FOUND_IN):
            within = label[len(FOUND_IN) :] if within is None else min(within, label[len(FOUND_IN) :])
    known = [one for one in path.texts if one.strip(HOLE + "./*") or one.startswith("/")]
    if within is not None and not any("found" not in labels or HOLE not in one for one in known):
        found = _folder(within)
        if (below := _other_folder(known, within)) and not tree:
            return Named(f"files below {_folder(below)}, named after {FINDS}{found}"[:LONGEST_TARGET], computed=True)
        pattern = "*" in found.rpartition("/")[2]
        finds = "" if pattern else _finds(labels)
        return Named(f"{finds}{found}{_picked(labels)}{_or_variable(labels)}", computed=True)
    whole = next((one for one in path.texts if _is_working(one)), None)
    if not known:
        return _without_name(path, labels, thing, whole, tree=tree)
    named = _of_texts(known, path, tree=tree)
    if whole is not None:
        return Named(f"{named.words}, or everything in {WORKING}", computed=True)
    if not any(HOLE in one and not one.strip(HOLE) for one in path.texts):
        elsewhere = _or_given(labels) if path.exact is not None and path.exact[:1] not in "/~" else ""
        return Named(named.words + elsewhere, computed=True) if elsewhere else named
    return Named(f"{named.words}, or {_unknown(labels, thing)}"[:LONGEST_TARGET], computed=True)


def _without_name(path: Value, labels: frozenset[str], thing: str, whole: str | None, *, tree: bool) -> Named:
    """Name a path that has no name in it: `../*`, the folder `whole` that a program works in, `"$BUILD"/*`."""
    if (above := next(filter(None, map(ABOVE.fullmatch, path.texts)), None)) is not None:
        return Named(f"everything in {above[1]}" if above[2] or not tree else f"the folder {above[1]}", computed=True)
    if whole is not None:
        everything = f"everything in {WORKING}" if tree or "*" in whole else WORKING
        return Named(f"{everything}{_or_variable(labels)}", computed=len(path.texts) > 1)
    if below := _below_variable(path, labels):
        return Named(below, computed=True)
    return Named(f"a {thing} {AT_RUN_TIME}" if "(" in path.name else _unknown(labels, thing), computed=True)


ABOVE = expression(r"((?:\./)?\.\.(?:/\.\.){0,9})/?(\*\*?(?:/\*)?)?")
"""A folder above the one that a program works in, or all in it."""


def _below_variable(path: Value, labels: frozenset[str]) -> str:
    """Say of `"$BUILD"/*` that it is everything below BUILD, and what that is where BUILD is empty; '' for others."""
    names = [label[1:] for label in labels if label.startswith("$") and NAME_OF_SHELL.fullmatch(label[1:])]
    if len(path.texts) != 1 or len(names) != 1 or not BELOW.fullmatch(path.text):
        return ""
    return f"everything below {shown(names[0], 30)}, which is the whole system where that is empty"


NAME_OF_SHELL = expression(r"[A-Za-z_]\w{0,60}")
BELOW = expression(rf"{HOLE}/+\*")


def _finds(labels: frozenset[str]) -> str:
    """Return what words for something found in a folder begin with: what its name is like, where that is known."""
    patterns = sorted(label[len(FOUND_AS) :] for label in labels if label.startswith(FOUND_AS))
    return f"{NAMED}{file_name(patterns[0], LONGEST_PATTERN)} in " if len(patterns) == 1 else FINDS


def _picked(labels: frozenset[str]) -> str:
    return MEETS if PICKED in labels or PICKED_BY_AGE in labels else ""


NAMED = "what is named "
MEETS = " that meets a condition"
"""Follows what is found, where something is done only to a part of that."""
LONGEST_PATTERN = 24


def _other_folder(known: Sequence[str], within: str) -> str:
    """Return the folder of what is only named after something found; '' where it is that, or below it."""
    folders = {_relative(one.partition(HOLE)[0].rpartition("/")[0]) for one in known}
    below = folders.pop() if len(folders) == 1 else ""
    inside = below == _relative(within) or below.startswith(f"{_relative(within)}/") or _is_working(within)
    return "" if inside or not below else below


def _of_texts(known: Sequence[str], path: Value, *, tree: bool) -> Named:
    # What is outside of the project matters most.
    known = sorted(known, key=lambda one: not one.startswith(OUTSIDE)) if len(known) > 2 else known
    first = known[0] if len(known) == 1 else min(known, key=lambda one: HOLE in one)
    computed = HOLE in first or len(path.texts) > 1
    relative = _relative(first)
    if not computed:
        words = _path(relative)
        if "*" in words and PICKED in path.labels:
            return Named(f"{words}{MEETS}", computed=True)
        folder = tree and words not in WHOLE_PLACES and "*" not in words
        return Named(f"the folder {words}" if folder else words, place=relative[:LONGEST_TARGET])
    words = " or ".join(dict.fromkeys(_path(_relative(one)) for one in known[:2]))
    return Named((f"{words} or another" if len(known) > 2 else words)[:LONGEST_TARGET], computed=True)


OUTSIDE = ("~", "/")
WHOLE_PLACES = ("the home folder", "the whole system")


def _path(relative: str) -> str:
    if relative in ("~", "~/", "~/*"):
        return WHOLE_PLACES[0]
    if relative in ("/", "/*"):
        return WHOLE_PLACES[1]
    return file_name(relative)


def _relative(path: str) -> str:
    while path.startswith("./") and len(path) > 2:
        path = path[2:]
    return path.rstrip("/") or path


def _is_working(path: str) -> bool:
    return path.strip("/") in (".", "*", "./*", ".*", "**", "**/*") and not path.startswith("/")


def _folder(path: str) -> str:
    relative = _relative(path)
    return WORKING if _is_working(path) or not relative else _path(relative)


def _or_given(labels: frozenset[str]) -> str:
    """Name what may stand in the place of a default."""
    if variable := _or_variable(labels | {f"{VALUE_OF}{one[1:]}" for one in labels if one.startswith("$")}):
        return variable
    return ", or what it gets as an argument" if "argument" in labels else ""


def _or_variable(labels: frozenset[str]) -> str:
    name = next((label[len(VALUE_OF) :] for label in sorted(labels) if label.startswith(VALUE_OF)), "")
    return f", or where {shown(name)} points" if re.fullmatch(r"[A-Z][A-Z0-9_]{1,40}", name) else ""


def _unknown(labels: frozenset[str], thing: str) -> str:
    if name := next((label[len(VALUE_OF) :] for label in sorted(labels) if label.startswith(VALUE_OF)), ""):
        return f"the {thing} in {shown(name)}" if re.fullmatch(r"[A-Z][A-Z0-9_]{1,40}", name) else f"a {thing}"
    if labels & {"found", "listed"}:
        return f"{thing}s that it finds"
    if "argument" in labels:
        return f"the {thing} that it gets as an argument"
    if labels & {"downloaded", "remote"}:
        return f"a {thing} that comes from the network"
    if "file" in labels:
        return f"a {thing} that a file names"
    if labels & {"input", "typed"}:
        return f"a {thing} that it is given"
    return f"a {thing} {AT_RUN_TIME}"


PLAIN_HOST = expression(r"[\w.-]+\.[\w-]+|localhost|\[[0-9a-f:.]+\]", re.ASCII)
BUCKET = expression(r"(?:s3|gs|gcs|oss|r2)://\S")
"""How the address of an object in a bucket begins."""


def host_of(address: Value) -> Named:
    """Name the host of an address."""
    texts = list(address.texts)
    for item in (address.items or ())[:1]:
        texts += item.texts
    for field in ("url", "hostname", "host", "uri") if address.fields else ():
        texts += (address.fields or {}).get(field, UNKNOWN).texts
    for known in texts[:3]:
        if BUCKET.match(known) and HOLE not in known[5:12]:
            return Named(file_name(known, LONGEST_ADDRESS), HOLE in known, known[:LONGEST_TARGET])
        match = HOST.match(known.strip())
        if match is not None and HOLE not in match[1] and len(match[1]) <= 253:
            host = shown(match[1].lower(), 60)
            others = {found[1].lower() for one in texts if (found := HOST.match(one.strip())) is not None}
            if len(others) > 1 and address.items is None and not address.fields:
                return Named(f"{host if PLAIN_HOST.fullmatch(host) else quoted(host, 60)} or another", computed=True)
            plain = PLAIN_HOST.fullmatch(host)
            path = PATH.match(known.strip(), match.end())
            whole = file_name(f"{host}{path[1]}", LONGEST_ADDRESS) if plain and path is not None else ""
            return Named(host if plain else quoted(host, 60), place=match[1].lower()[:LONGEST_TARGET], whole=whole)
    labels = labels_of((address,)) if "(" not in address.name else NO_LABELS
    name = next((label[len(VALUE_OF) :] for label in sorted(labels) if label.startswith(VALUE_OF)), "")
    if re.fullmatch(r"[A-Z][A-Z0-9_]{1,40}", name):
        return Named(f"the address in {shown(name)}", computed=True)
    return Named(f"an address {AT_RUN_TIME}", computed=True)


OF_MACHINE = "the name of this machine"
DATA = (
    ("secret", "credentials"),
    ("kept-secret", "stored secrets"),
    ("private-key", "a private key"),
    ("environment-file", "a file of variables, where passwords are kept,"),
    ("environment", "environment variables"),
    ("captured", "a recording"),
    ("cookies", "cookies"),
    ("accounts", "account files"),
    ("logs", "log files"),
    ("of-database", "a copy of a database"),
    ("system-file", "system files"),
    ("rows", "rows of a database"),
    ("found", "files that it finds"),
    ("archive", "an archive"),
    ("output", "the output of programs"),
    ("host-info", OF_MACHINE),
    ("file", "files"),
)
"""What data is called, by the label that says where it comes from; the gravest first."""


SECRET = expression(r"(?:[A-Z0-9]{1,40}_){0,6}(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|APIKEY|KEY)")
"""What variables of a shell are called that hold a secret."""


def value_in(label: str) -> str:
    """Return the variable of the environment whose value a label is of; '' for none: a shell's own hold anything."""
    if label.startswith(VALUE_OF):
        return label[len(VALUE_OF) :]
    return label[1:] if label[:1] == "$" and SECRET.fullmatch(label[1:]) else ""


def data_of(values: Iterable[Value]) -> str:
    """Name what is sent."""
    labels = labels_of(values)
    names = sorted(name for label in labels if (name := value_in(label)))
    if names and "environment" not in labels:
        plain = [shown(name, 30) if VARIABLE.fullmatch(name) else quoted(name, 30) for name in names]
        return f"the value of {listed(plain, 2)}"
    found = next((words for label, words in DATA if label in labels), "data")
    if found in ("files", "files that it finds") and (
        outside := sorted(one for one in labels if one.startswith(OF_OUTSIDE))
    ):
        return f"data from {listed([file_name(one[len(OF_OUTSIDE) :], LONGEST_ADDRESS) for one in outside], 2)}"
    machine = "host-info" in labels and found not in ("data", OF_MACHINE)
    return f"{found} and {OF_MACHINE}" if machine else found
