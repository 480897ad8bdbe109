"""The parts of a program that could not be read, in sentences: none where it was read whole. In doubt it was not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runner.model.assessment import Capability
from runner.model.expression import expression
from runner.model.request import Language
from runner.risk.model.bounds import CUT
from runner.risk.model.outline_data import words
from runner.risk.model.value import HOLE
from runner.risk.trace.files import FOUND_IN
from runner.risk.verdict.naming import one_word, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from runner.model.assessment import Finding
    from runner.model.request import Request
    from runner.risk.model.acts import Act, Trail
    from runner.risk.rules.knowledge import Knowledge

MOST = 6
"""Sentences; one is enough to know that it was not read whole."""
LONGEST, LONGEST_NAME = 160, 60
"""Characters of a sentence, and of a name in it."""
LONGEST_LOOKED_AT, MOST_LOOKED_AT = 50_000, 20
"""Characters of a text, and texts run inside each other, that are looked at for what is not followed."""
NOT_PARSED = words("unparsed left-out repaired too-deep recoded")
QUIET = words(
    "import variable compare forever crumbs mention command print conditioned record enumerated console by-data "
    "identity clock"
)
"""Kinds of acts that reach nothing."""
LOOKS = words("read open walk search probe listing make")
"""Kinds of acts that look at files, or make one without content."""
TARGETS = {
    **dict.fromkeys(("read", "open", "walk", "search", "make"), ("path",)),
    **dict.fromkeys(("write", "append", "delete", "chmod", "chown", "discard", "archive"), ("path",)),
    **dict.fromkeys(("copy", "move", "link", "extract"), ("source", "path")),
    "use": ("path",),
    "run": ("command",),
    "start": (),
    "execute": ("code",),
    "query": ("sql",),
    "probe": (),
    "database": (),
}
"""Kinds of acts that are understood where these fields of theirs are known; others are not understood."""
READ_LANGUAGES = words("python javascript shell awk")
WORDS = {
    "read": "Reads a file",
    "open": "Opens a file",
    "walk": "Looks through a folder",
    "search": "Looks through a folder",
    "delete": "Deletes something",
    "run": "Runs a command",
    "execute": "Runs code",
    "query": "Runs SQL",
}
DEEDS = {
    "fetch": "Fetches something",
    "send": "Sends something",
    "connect": "Connects somewhere",
    "answer": "Answers what connects",
    "listen": "Waits for connections",
    "install": "Installs packages",
    "container": "Uses a container",
    "kill": "Stops programs",
    "unpickle": "Loads objects",
    "environment-change": "Changes the environment",
    "store": "Changes an object",
    "written-secret": "Uses a password or a key that stands in the code",
}
"""What acts that are not understood do, in words that begin a sentence; `runner.policy.unread_code` reads some."""
PLAIN_START = expression(r"[\w.-]")
FOUND_BELOW = expression(rf"{FOUND_IN}(?!/|~|[^/]*\.\.|{HOLE})")
"""The label of what was found in a folder below the present one."""
INPUT = words("sys.stdin sys.stdin.buffer process.stdin")
"""What is handed in, which is read with the code."""
ITEM = expression(r"[\w.]+\(\)\[.*", re.DOTALL)
"""A part of what a call gave: no setting of a module."""
LEAVES = expression(
    r"\bchdir\b|\bcwd\b|\bcd -|\bpopd\b|mkdtemp\([^)]|mktemp -\w*p|TemporaryDirectory\([^)]|\.parents?\b|dirname|"
    r"with_name|\.\.(?![.\w])|%/|symlink|\bln -|\btrap\b"
)
"""What moves a program elsewhere, or a path out of its folder."""


def unread(
    request: Request,
    texts: Sequence[tuple[Language | None, str]],
    trail: Trail,
    findings: Iterable[Finding],
    knowledge: Knowledge,
) -> tuple[str, ...]:
    """Return sentences on what could not be read of a request to run code; empty where all of it was.

    `texts` are its code and what it runs besides.
    """

    found: dict[str, None] = {}
    for one in _doubts(request, texts, trail, findings, knowledge):
        found[one] = None
        if len(found) == MOST:
            break
    return tuple(shown(one, LONGEST) for one in found)


def _doubts(
    request: Request,
    texts: Sequence[tuple[Language | None, str]],
    trail: Trail,
    findings: Iterable[Finding],
    knowledge: Knowledge,
) -> Iterator[str]:
    from runner.risk.whole.of_shell import of_commands

    yield from _by_findings(findings)
    yield from _by_acts(trail)
    yield from of_commands(trail)
    acts = [act for act in trail.acts if act.kind not in QUIET]
    acting = any(act.kind not in LOOKS for act in acts) or any(act.get("runs").texts for act in trail.acts)
    inner = [(_language(act), one) for act in acts if act.kind == "execute" for one in act.get("code").texts]
    for at, (language, code) in enumerate(dict.fromkeys((*texts, *inner))):
        if len(code) > LONGEST_LOOKED_AT or at == MOST_LOOKED_AT:
            yield "It is too long to be looked at for what is not followed."
            break
        hard, soft = _by_code(language, code, trail, knowledge)
        yield from hard
        # What is not followed of a program's own parts matters where any part of it does more than to look.
        if acting:
            yield from soft
            if LEAVES.search(code):
                yield "Changes the folder that it works in, or leaves one by a part of its path."


PLAIN_DOUBT = expression(
    r"Uses input, .*|Goes on piece by piece.*|Looks into programs by compile\."
    r"|Calls (?!(?:open|exec|eval|compile|getattr|fetch|require|import|Function|process)\b)[\w$]+, which may be .*"
)
"""Sentences on what is not followed of a program's own functions, where it has no others that reach outside."""


def is_proved(left: Sequence[str]) -> bool:
    """Return whether a program in which nothing was found may be said to touch nothing, by what could not be read."""
    return len(left) < MOST and all(map(PLAIN_DOUBT.fullmatch, left))


def _language(act: Act) -> Language | None:
    known = act.get("language").text
    return Language(known) if known in READ_LANGUAGES - {"awk"} else None


def _by_findings(findings: Iterable[Finding]) -> Iterator[str]:
    return (one.reason for one in findings if one.capability is Capability.UNREADABLE)


def _by_acts(trail: Trail) -> Iterator[str]:
    for act in trail.acts:
        if act.kind in NOT_PARSED:
            yield "A part of it cannot be parsed."
        elif act.kind == "cut":
            yield act.get("what").text
        elif act.kind == "unfollowed":
            yield f"{act.get('what').text[:1].upper()}{act.get('what').text[1:]}."
        elif act.kind in QUIET or (act.kind == "store" and ITEM.fullmatch(act.get("target").text)):
            continue
        elif (fields := TARGETS.get(act.kind)) is None:
            yield f"{DEEDS.get(act.kind, 'Does something')} in a way that is not followed, by {_named(act)}."
        elif act.kind == "execute" and act.get("language").text not in READ_LANGUAGES:
            yield f"Runs code in a language that is not read, by {_named(act)}."
        elif act.kind == "start":
            yield f"Starts a program in a file ({shown(act.get('path').text or '?', LONGEST_NAME)})."
        else:
            what = WORDS.get(act.kind, "Changes a file")
            if not all(_is_known(act, name) for name in fields):
                yield f"{what} that is worked out at run time, by {_named(act)}."


def _named(act: Act) -> str:
    return one_word(act.name or act.kind, LONGEST_NAME)


def _is_known(act: Act, name: str) -> bool:
    """Return whether what an act is about is known; of looking, a file of a folder that is known is enough."""
    value = act.get(name)
    if not value.texts and "path" in (value.fields or {}):
        value = (value.fields or {})["path"]
    if CUT in value.labels:
        return False
    if value.items is not None and not value.texts:
        return bool(value.items) and all(one.texts and HOLE not in "".join(one.texts) for one in value.items)
    if act.kind == "query" and not value.texts:
        return False
    looks = act.kind in LOOKS
    if looks and value.name in INPUT:
        return True
    if looks and not value.texts:
        return any(map(FOUND_BELOW.match, value.labels))
    return bool(value.texts) and all(HOLE not in one or (looks and _is_below(one)) for one in value.texts)


def _is_below(path: str) -> bool:
    """Return whether a path is a name that is not known, in a folder below the present one that is."""
    folder, found, name = path.rpartition("/")
    known = found and HOLE not in folder and name.count(HOLE) == 1
    return bool(known and PLAIN_START.match(folder) and ".." not in folder.split("/"))


def _by_code(
    language: Language | None, code: str, trail: Trail, knowledge: Knowledge
) -> tuple[Iterable[str], Iterable[str]]:
    """Return what is not understood of the code itself, and what matters only where it does more than to look."""
    match language:
        case Language.PYTHON:
            from runner.risk.whole.of_python import of_python

            return of_python(code, trail, knowledge)
        case Language.JAVASCRIPT:
            from runner.risk.whole.of_javascript import of_javascript

            return of_javascript(code, trail)
        case Language.SHELL:
            from runner.risk.whole.of_shell import of_shell

            return of_shell(code), ()
        case _:
            return (), ()  # what is read by its calls alone says so in an act
