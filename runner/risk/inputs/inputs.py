"""Standard input and variables handed to code: data, unless the code can run them."""

from __future__ import annotations

import ast
import json
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from runner.model.assessment import WHOLE, Capability, Finding, Level
from runner.model.expression import expression
from runner.model.request import Language, Request
from runner.model.variables import is_harmless
from runner.risk.across_languages import ESCAPED
from runner.risk.executing import executing_javascript, executing_shell
from runner.risk.inputs.input_paths import try_paths
from runner.risk.model.bounds import bounded, excerpt
from runner.risk.model.lines import Lines, shorten
from runner.risk.model.value import HOLE, UNKNOWN, Value, text
from runner.risk.model.value import MOST_TEXTS as MOST_TEXTS_FOLLOWED
from runner.risk.python.syntax import Unparsed, parse
from runner.risk.rules.trojan_source import tricks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from runner.risk.across_languages import Nested
    from runner.risk.model.acts import Place

PLACE: Place = (1, 0, 1, 0)
DEEPEST = 200
"""Lists in lists of variables that are walked, beyond which they are read as one text; the gateway takes far fewer."""
MOST_TEXTS = 40
"""Texts that are read as code one by one. Where code can run them the request is CRITICAL, however many there are."""
LONGEST_TEXT = 60_000
"""Characters of a text among the variables, or of the input of code that runs only parts of it, read as code."""

MOST_VARIABLES = 1_000
DEEPEST_VALUE = 4

PROGRAM = expression(
    r"(?:cat[ \t]*(?:-[ \t]*)?\|[ \t]*)?(?:(?:/usr)?/bin/)?"
    r"(?:(?P<shell>(?:ba|da)?sh)(?:[ \t]+-s?)?|(?P<python>python3?)(?:[ \t]+-)?|(?P<javascript>node)(?:[ \t]+-)?)"
)
"""Shell code that does nothing but run all of its input as a program."""


class Handed(NamedTuple):
    """The input and every text among the variables, their names included."""

    stdin: str
    texts: tuple[str, ...]
    names: tuple[str, ...]

    @classmethod
    def to(cls, request: Request) -> Handed | None:
        """Return what is handed in with a request; None where that is nothing."""
        if not request.stdin and request.context in ("", "{}"):
            return None
        try:
            data = json.loads(request.context or "{}")
            texts = list(_texts(data))
        except (ValueError, RecursionError):
            data, texts = {}, [request.context]
        names = tuple(data) if isinstance(data, dict) else ()
        return cls(request.stdin, tuple(dict.fromkeys(filter(str.strip, texts))), names)


def size(request: Request) -> int:
    """Return the number of characters to be assessed."""
    return len(request.code) + len(request.stdin) + len(request.context) + sum(len(one.text) for one in request.known)


def variables(request: Request) -> dict[str, Value]:
    """Return what is known of the variables of a request, by name; long lists and those nested deeply are left out."""
    try:
        data = json.loads(request.context or "{}")
    except (ValueError, RecursionError):
        return {}
    if not isinstance(data, dict) or len(data) > MOST_VARIABLES:
        return {}
    values = ((name, _value(one, DEEPEST_VALUE)) for name, one in data.items())
    return {name: value for name, value in values if not value.unknown}


def _value(data: object, deepest: int) -> Value:
    match data:
        case str() if len(data) <= LONGEST_TEXT and HOLE not in data:
            return text(data)
        case bool():
            return UNKNOWN
        case int() | float():
            return Value(number=data)
        case list() if deepest and len(data) <= MOST_TEXTS_FOLLOWED:
            return Value(items=[_value(one, deepest - 1) for one in data])
        case dict() if deepest and len(data) <= MOST_TEXTS_FOLLOWED:
            return Value(fields={str(name): _value(one, deepest - 1) for name, one in data.items()})
        case _:
            return UNKNOWN


def assess_handed(request: Request, handed: Handed, nested: Nested) -> Iterator[Finding]:
    """Findings about what is handed in; acts of what is run of it go to the trail. The code has been followed already.

    Where the code contains anything that runs texts or starts programs, what is handed in is read as code and the
    request is CRITICAL. The one exception is shell code that only runs all of its input as one program: that program
    is assessed like code, under the same rule. Everywhere else it is data: tricks in its text count, and paths in it
    where the code opens files whose path it does not say itself.
    """
    # Imported here, as whatever else not every request needs.
    from runner.risk.executing.executing import executes

    yield from _tricks(handed)
    try_paths((handed.stdin, *handed.texts), nested.trail, nested.knowledge.targets)
    if request.language is Language.SHELL:
        yield from _steering(handed.names)
    language, code, acts = request.language, request.code, list(nested.trail.acts)
    program = _program(request)
    if program is not None:
        language, code = program, handed.stdin
        if read_as(nested, program, code):
            acts = nested.trail.acts[len(acts) :]
            how = executes(language, code, acts)
        else:
            how = "it cannot be parsed"
    else:
        how = executes(language, code, acts)
    if not how:
        return
    for known in bounded(nested.trail, (handed.stdin, *handed.texts), MOST_TEXTS, "texts that it gets"):
        for one in Language:
            if known.strip() and (known is not handed.stdin or program is not one):
                read_as(nested, one, bounded(nested.trail, known, LONGEST_TEXT, "characters of what it gets"))
    reason = f"The code can run what it gets as input or variables, or start programs that do: {how}."
    evidence = shorten(next((known for known in (handed.stdin, *handed.texts) if known.strip()), ""))
    yield Finding("input.executed", Level.CRITICAL, Capability.OBFUSCATION, WHOLE, evidence, reason, "CWE-94")


def _texts(data: object, depth: int = 0) -> Iterator[str]:
    """Every text in the variables, names too. Raises RecursionError where they are nested too deeply to walk."""
    if depth > DEEPEST:
        raise RecursionError
    match data:
        case str():
            yield data
        case dict():
            for name, value in data.items():
                yield str(name)
                yield from _texts(value, depth + 1)
        case list():
            for value in data:
                yield from _texts(value, depth + 1)
        case _:
            pass


def _tricks(handed: Handed) -> Iterator[Finding]:
    # A mark of the byte order begins many a table; inside a text it is still a trick.
    parts = (("input", (handed.stdin.removeprefix("\ufeff"),)), ("variables", handed.texts))
    for what, texts in parts:
        listed: set[str] = set()
        for finding in tricks(Lines("\n".join(texts))):
            if finding.id not in listed:
                listed.add(finding.id)
                yield replace(finding, span=WHOLE, reason=f"In the {what}: {finding.reason}")


def _steering(names: Iterable[str]) -> Iterator[Finding]:
    reason = "A variable of this name can change which programs run, or what they run besides."
    for name in names:
        if not is_harmless(name):
            yield Finding(
                "variables.steering", Level.CRITICAL, Capability.STARTS_PROCESSES, WHOLE, name, reason, "T1574.007"
            )


def _program(request: Request) -> Language | None:
    """Return the language of the program that the input is, where the code does nothing but run it."""
    if request.language is not Language.SHELL or not request.stdin.strip():
        return None
    found = PROGRAM.fullmatch(request.code.strip())
    return Language(found.lastgroup) if found is not None and found.lastgroup else None


def read_as(nested: Nested, language: Language, code: str) -> bool:
    """Follow `code` where it is a program of `language`; whether it is one."""
    trail = nested.trail
    nested.escapes = ESCAPED.search(code) is not None
    nested.mentions = nested.knowledge.rules.mentioned(code)
    with trail.inside(PLACE, excerpt(code, 200), language.value):
        match language:
            case Language.PYTHON:
                if not _is_python(code):
                    return False
                nested.python(code)
            case Language.JAVASCRIPT:
                if executing_javascript.root_of(code).has_error:
                    return False
                nested.javascript(code)
            case Language.SHELL:
                if executing_shell.root_of(code).has_error:
                    return False
                nested.shell(code)
            case _:
                return False  # texts that a program gets are run by interpreters
        nested.finish()
    return True


def _is_python(code: str) -> bool:
    """Return whether it is Python as it stands, and does more than to name something."""
    try:
        tree, repaired = parse(code)
    except Unparsed:
        return False
    plain = all(isinstance(one, ast.Expr) and isinstance(one.value, (ast.Constant, ast.Name)) for one in tree.body)
    return not repaired and not plain
