"""What a program hands to functions and programs of which nothing is known here: it is said, and never called read."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.model.modules import is_standard
from runner.risk.model.acts import VALUE_OF, Source
from runner.risk.model.outline_data import words
from runner.risk.model.value import HOLE, Value, labels_of, text
from runner.risk.trace.giving_back import gives_back
from runner.risk.trace.shown import NAMED, from_outside
from runner.risk.trace.things import package_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from runner.risk.model.acts import Place, Trail
    from runner.risk.rules.targets import Targets

SECRETS = frozenset((Source.ENVIRONMENT, Source.SECRET, "private-key", "environment-file"))
"""Labels of all that is secret by itself; a key that is named is for the library which gets it."""
OF_PERSON = frozenset(("home", "secret", "startup", "trust", "steering"))
"""Kinds of places that are nobody's business but the person's."""
BELOW_HOME = expression(r"~(?:/(?!\.cache(?:/|$))|$)|\$\{?HOME\}?(?=/|$)|/(?:home|Users)/[^/\s]+|/root(?=/|$)")
OWN_ROOTS = words(
    "console Math JSON Object Number String Array Boolean Date Map Set WeakMap WeakSet RegExp Symbol Intl BigInt "
    "Promise Error process Buffer Reflect globalThis window document module exports super this self cls"
)
"""What names begin with that are the language's own."""
PYTHON_OWN = frozenset(dir(builtins))
JS_OWN = words(
    "fs path os util assert url querystring string_decoder events readline crypto zlib buffer perf_hooks timers "
    "child_process http https http2 net tls dns dgram stream worker_threads cluster vm v8 module process console "
    "tty inspector async_hooks constants punycode test node"
)
OF_PATHS = expression(r"(?i)\.(?:[a-z_]*(?:join|resolve|normali[sz]e|basename|dirname|expand\w*|path\w*)|Path|URL)$")
"""Functions that only make another path of one."""
INSIDE = expression(r"\._|TemporaryDirectory\.name$|\.(?:path|dir|directory|folder|root|filename|baseFilename)$")
"""Parts of names of what is inside of a library, where what it works on can be changed."""
COSTS = 20
"""Steps that a path costs of which it is asked what it is."""
LOADERS = words("require import load_dotenv config memfs")
"""What gives something of its own for what it is given, and takes nothing: files of memfs are in memory."""


def library_of(name: str, trail: Trail, *, python: bool) -> str:
    """Return the library, or the unknown function, that a call of `name` goes to; '' for the language's own."""
    plain = name.lstrip("~").replace("()", "").replace("[]", "").rstrip("*")
    root = plain.partition(".")[0]
    if not root or root in OWN_ROOTS:
        return ""
    if python:
        return "" if root in PYTHON_OWN or (is_standard(root) and not INSIDE.search(plain)) else root
    own = root.removeprefix("node:").partition("/")[0] in JS_OWN
    return "" if own or not _is_loaded(plain, trail) else package_of(plain)


def _is_loaded(plain: str, trail: Trail) -> bool:
    return any(act.kind == "import" and plain.startswith(act.name) for act in trail.acts)


def note_handed_to(
    trail: Trail,
    targets: Targets,
    name: str,
    values: Sequence[Value],
    labels: frozenset[str],
    place: Place,
    *,
    python: bool,
    known: bool = False,
) -> None:
    """Note that a call of `name`, which has no meaning here, is given a place of the person's or something secret.

    `labels` are those of the values and of what is in them; `known` says that of the library is known what it is for.
    """
    secret = SECRETS & labels if labels else frozenset[str]()
    named = frozenset(one for one in labels if one.startswith(VALUE_OF) and NAMED.fullmatch(one))
    paths = [] if OF_PATHS.search(name) else list(_places(values, trail, targets))
    if gives_back(name):
        secret = named = frozenset()
    if not (secret or named or paths):
        return
    library = library_of(name, trail, python=python)
    if not library or library in LOADERS:
        return
    fields = {"to": text(library), "paths": Value(items=paths)}
    if known:
        fields["known"] = text("yes" if secret or paths else "its key")
    if secret or named:
        fields["data"] = Value(labels=from_outside(secret or named))
    trail.add("hand", name, fields, place)


def note_handed_to_program(
    trail: Trail, targets: Targets, name: str, values: Sequence[Value], code: Sequence[Value], place: Place
) -> None:
    """Note what a program of which nothing is known is given; '' is one that only the run decides about."""
    labels = labels_of(values)
    secret = frozenset(one for one in labels if one in SECRETS or (one.startswith(VALUE_OF) and NAMED.fullmatch(one)))
    paths = list(_places(values, trail, targets))
    beyond = [one for one in values if one not in paths and any(_is_beyond(known, targets) for known in one.texts)]
    if not (secret or paths or beyond or code):
        return
    fields = {"to": text(name), "program": text("yes"), "paths": Value(items=paths)}
    fields["beyond"] = Value(items=[*paths, *beyond])
    if secret:
        fields["data"] = Value(labels=from_outside(secret))
    if code:
        fields["code"] = Value(items=list(code))
    trail.add("hand", name, fields, place)


def _is_beyond(known: str, targets: Targets) -> bool:
    """Return whether a text is a path outside of the folder that the program works in."""
    if not known.startswith(("/", "..")) or known.startswith(("/dev/", "/workspace/")):
        return False
    kinds = targets.of(known)
    return "outside" in kinds or ("absolute" in kinds and "temporary" not in kinds)


def _places(values: Iterable[Value], trail: Trail, targets: Targets) -> Iterator[Value]:
    for value in values:
        for one in (value, *(value.items or ()), *(value.fields or {}).values()):
            if one.texts:
                trail.budget.spend(len(one.texts))
                if any(is_of_person(known, targets) for known in one.texts):
                    trail.budget.spend(COSTS)
                    yield one


def is_of_person(known: str, targets: Targets) -> bool:
    """Return whether a text is the path of a home folder, of something below one, or of what guards an account."""
    if known[:1] not in ("~", "/", "$") or known == HOLE or " " in known[:2]:
        return False
    if known[:6] in ("/users", "/home"):
        return False  # a path on a server, far more often than the folder of all homes
    return BELOW_HOME.match(known) is not None or not OF_PERSON.isdisjoint(targets.of(known))
