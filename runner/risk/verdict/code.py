"""The verdict on code: one sentence, the line to look at, and the acts behind both."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from runner.model.assessment import WHOLE, Capability, Finding, Level, Span
from runner.model.expression import expression
from runner.model.request import Language
from runner.model.verdict import LONGEST_SENTENCE, LONGEST_TARGET, MOST_ACTS, RiskVerdict, Verb, VerdictAct
from runner.risk.model.acts import CONTAINER, ON_MACHINE, REPEATED, VALUE_OF
from runner.risk.model.value import is_absent, labels_of
from runner.risk.shell.commands.asked import SAID, VerbKind
from runner.risk.shell.commands.table import known_as
from runner.risk.trace.files import IN_MEMORY
from runner.risk.trace.remote import COMPUTES, LOCAL
from runner.risk.verdict.computing import libraries, only_computes, printed_in_words, prints
from runner.risk.verdict.doing import (
    A_FILE,
    BY_KIND,
    IN_FILES,
    MOST_LOOKED_AT,
    SQL_OF_A_FILE,
    WITHOUT_WORDS,
    Doing,
    doings,
    library_of,
)
from runner.risk.verdict.in_memory import in_memory_in_words, is_in_memory
from runner.risk.verdict.library_calls import LibraryCalls
from runner.risk.verdict.naming import TEMPORARY_FILES, identifier, listed, quoted
from runner.risk.verdict.naming import shown as plain_words
from runner.risk.verdict.programs import INTERPRETERS, WOULD_DO
from runner.risk.verdict.sentence import NOT_KNOWN, finished, sentence
from runner.risk.verdict.tests import SAID_OF_TESTS, first_test, tests_in_words, without_tests

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from runner.model.request import Request
    from runner.risk.model.acts import Act, Place, Trail
    from runner.risk.model.lines import Lines
    from runner.risk.rules.targets import Targets
    from runner.risk.verdict.naming import Named

UNREAD = frozenset({"unparsed", "left-out", "repaired", "too-deep", "cut"})
PARTLY = ", as far as could be read"
READ_LANGUAGES = frozenset({"", "python", "javascript", "shell", "awk"})
ORDER = {verb: at for at, verb in enumerate(Verb)}
BESIDE = ("request.",)
"""What the beginning of a finding's id says that is about the request and not about its code."""
BY_NAME = "by name that only looks, and it was not read"
OWN_WORDS = frozenset({"noted.repaired"})


NAMED = (Verb.STARTS, Verb.CALLS)
"""What is no act of its own where another one says it."""
PLAIN_DEEDS = frozenset((Verb.STARTS, Verb.CONNECTS, Verb.READS, Verb.LISTS, Verb.WRITES))
"""What is ordinary by itself: what makes it more than that is in the words of the rule."""


class Judged(NamedTuple):
    """The worst that a rule says of one act."""

    level: Level
    reason: str


def verdict_on(
    request: Request,
    trail: Trail,
    lines: Lines,
    findings: Sequence[Finding],
    judged: Mapping[int, Judged],
    targets: Targets,
    *,
    proved: bool = True,
    left: Sequence[str] = (),
) -> RiskVerdict:
    """Return the verdict; `judged` has the worst that rules say of acts, by their order.

    `proved` and `left` are as in `_verdict`. What is no act but stands in the code for all to read is said last.
    """
    verdict = _verdict(request, trail, lines, findings, judged, targets, proved=proved, left=left)
    if trail.tested and verdict.sentence and all(one.level < Level.MEDIUM for one in findings):
        tests = f"Tests {listed([identifier(one) for one in trail.tested])}"
        said = f"{tests}; {verdict.sentence[0].lower()}{verdict.sentence[1:]}"
        verdict = replace(verdict, sentence=said) if len(said) <= LONGEST_SENTENCE else verdict
    written = next((act for act in trail.acts if act.kind == "written-secret"), None)
    if written is None or not verdict.sentence:
        return verdict
    said = f"{verdict.sentence[:-1]}; {written.get('what').text} stands in its code (line {written.place[0]})."
    return replace(verdict, sentence=said) if len(said) <= LONGEST_SENTENCE else verdict


def _verdict(
    request: Request,
    trail: Trail,
    lines: Lines,
    findings: Sequence[Finding],
    judged: Mapping[int, Judged],
    targets: Targets,
    *,
    proved: bool,
    left: Sequence[str],
) -> RiskVerdict:
    """Return the verdict on what is done.

    `proved` says whether the program was read so far that it may be said to touch nothing, and `left` what was not.
    """
    stopped = next((one for one in findings if one.id.startswith("risk.")), None)
    cut = stopped is not None or len(trail.acts) > MOST_LOOKED_AT
    partly = PARTLY if cut or any(map(_is_unread, trail.acts)) else ""
    found = [*doings(trail.acts, targets)]
    calls = LibraryCalls(request.language, trail)
    if len(found) > 1:
        found.sort(key=lambda one: (-_weight(one, judged), ORDER[one.verb]))
    lead = _lead(findings, found, judged)
    deed = None if lead is None else lead[1]
    looked = _look_at(findings, found, calls, trail, lines, judged, deed)
    source = _source(found)
    needless = _needless(found, source) if len(found) > 1 else set[int]()
    acts = _acts([one for one in found if one.verb not in NAMED or one.act.order not in needless], lines)
    fuller = _fuller(found, needless)
    shown = [*condensed(found, needless, source, deed)]
    whole = [*condensed(found, needless, source, deed, fuller)] if fuller else shown
    installed = [(Verb.INSTALLS, quoted(package)) for package in request.packages]
    shown, whole = shown + installed, whole + installed
    hosts = [*_hosts(request.code)] if _is_raised(findings, Level.MEDIUM) else []
    if lead is not None:
        said = _led(lead[0], (shown, whole), "" if lead[2] else partly)
        return RiskVerdict(_naming(said, hosts), looked, acts)
    if stopped is not None and not shown:
        return RiskVerdict(stopped.reason)
    every = [*libraries(request.language, trail)]
    last = _last(request.language, trail)
    tests = next((words for verb, words in last if verb is Verb.TESTS), "")
    known = without_tests(every, tests)
    if shown:
        handed = {quoted(one.act.get("to").text, 30) for one in found if one.verb is Verb.HANDS}
        by = {quoted(library_of(one.act.name), 30) for one in found}
        handed |= {quoted(one.named.place, 30) for one in found if one.act.kind == "hand" and one.named.place}
        plain = [name for name in known if "." not in name and name not in handed]
        called = [name for name in plain if name not in by or not calls.is_said(name)]
        given, high = [*_keys(found)], _is_raised(findings, Level.HIGH)
        only = given and not called and not partly and not tests and {verb for verb, _ in shown} == {Verb.CALLS}
        if only and all(calls.only_look(quoted(one.place, 30)) for one in given):
            return RiskVerdict(f"{sentence(shown)[:-1]}; {BY_NAME}.", looked, acts)
        looks = proved and not (partly or every or request.packages) and {verb for verb, _ in shown} <= LOOKING
        ways: Iterable[list[tuple[Verb, str]]] = [
            [*one, *((Verb.CALLS, name) for name in called)] for one in (whole, shown)
        ]
        if request.language is Language.PYTHON:
            ways = _of_python((whole, shown), called, given, handed & {*known}, calls, [] if high else last)
        elif {verb for verb, _ in shown} | {Verb.CALLS for _ in called} <= CALM:
            # The fullest: with what is called of each library, those too that are given their key.
            detailed = [*condensed(found, needless, source, deed, {**fuller, **_keyed(found, calls)}), *installed]
            told = [[*detailed, *one] for one in _told(called, plain, request.language, calls)]
            ways = [[*one, *more] for one in (*told, *ways) for more in (last, [])]
        elif tests and not high:
            ways = [[*one, *more] for more in (last, []) for one in ways]
        said = fullest(ways, partly)
        said = f"{said[:-1]}; changes nothing." if looks and not left else _naming(said, hosts)
        return RiskVerdict(said, looked, acts)
    if not partly and (inside := _in_memory(trail, known, tests)):
        nothing = f"no use of files, network or other programs was found{'' if proved else PARTLY}"
        return RiskVerdict(f"{inside[:-1]}; {nothing}.", looked, acts)
    return RiskVerdict(_without_acts(request, trail, calls, known, partly, "" if proved else left[0]), looked, acts)


def _of_python(
    shown: Sequence[Sequence[tuple[Verb, str]]],
    called: Sequence[str],
    given: Sequence[Named],
    handed: Collection[str],
    calls: LibraryCalls,
    last: Sequence[tuple[Verb, str]],
) -> Iterator[list[tuple[Verb, str]]]:
    """Yield ways to say what is `shown`, with what is `called`, `given` its key or `handed` something.

    What is `last` is said where nothing is changed and there is room.
    """
    keys = {quoted(one.place, 30): one.words.removeprefix(quoted(one.place, 30)) for one in given}
    words = {one.words for one in given}
    changes = any(verb in CHANGING for way in shown for verb, _ in way)
    for end in (last, []) if last and not changes else ([],):
        for way in shown:
            plain = [one for one in way if one[1] not in words]
            for more in calls.ways(called, handed - keys.keys(), keys):
                yield [*plain, *((Verb.CALLS, one) for one in more), *end]


def _keys(found: Sequence[Doing]) -> Iterator[Named]:
    """Yield the words for libraries that are given their key."""
    yield from (one.named for one in found if one.verb is Verb.CALLS and one.act.kind == "hand")


def _is_raised(findings: Sequence[Finding], level: Level) -> bool:
    """Return whether the code itself is raised to a level."""
    return any(one.level >= level and not one.id.startswith(BESIDE) for one in findings)


def _last(language: Language | None, trail: Trail) -> list[tuple[Verb, str]]:
    """Return what a sentence ends with where there is room: what is tested, or what is printed."""
    if tests := tests_in_words(language, trail):
        return [(Verb.TESTS, tests)]
    printed = printed_in_words(language, trail)
    return [(Verb.PRINTS, printed)] if printed else []


def _in_memory(trail: Trail, known: Sequence[str], tests: str) -> str:
    """Return the sentence on a program that only tests something, or works in memory; '' for any other."""
    memory = in_memory_in_words(trail)
    if any(not memory or not is_in_memory(name.strip("“”"), trail) for name in known):
        return ""
    done = [(Verb.TESTS, one) for one in (memory, tests) if one]
    return sentence(done) if done else ""


CALM = frozenset(
    (Verb.HANDS, Verb.STARTS, Verb.CONNECTS, Verb.FETCHES, Verb.WRITES, Verb.MAKES, Verb.READS, Verb.LISTS, Verb.CALLS)
)
"""What leaves room for what is called, tested and printed besides."""


def _told(
    called: Sequence[str], besides: Sequence[str], language: Language | None, calls: LibraryCalls
) -> Iterator[list[tuple[Verb, str]]]:
    """Yield what is `called`, and `besides` of libraries that acts name: whole, and as far as names tell something."""
    if language is not Language.JAVASCRIPT:
        return
    words = {name: _in_calls(name, calls) for name in (*called, *besides)}
    telling = [(Verb.CALLS, said) for name, said in words.items() if said != name]
    yield [*((Verb.CALLS, words[name]) for name in called if words[name] == name), *telling]
    if telling:
        yield [*telling, (Verb.CALLS, "other libraries")] if any(words[name] == name for name in called) else telling


def _in_calls(name: str, calls: LibraryCalls) -> str:
    """Return a library, which is quoted, with what is called of it."""
    methods = calls.in_words(name)
    return f"{methods} of {name}" if methods else name


def _keyed(found: Sequence[Doing], calls: LibraryCalls) -> dict[int, str]:
    """Return fuller words, by the order of the act, for libraries that get their key: with what is called of them."""
    fuller = {}
    for one in found:
        if one.verb is Verb.CALLS and one.act.kind == "hand" and one.named.place:
            name, with_key, key = one.named.words.partition(" with ")
            fuller[one.act.order] = f"{_in_calls(name, calls)}{with_key}{key}"
        elif one.verb is Verb.HANDS and one.named.words.endswith(NOT_KNOWN):
            given, to, name = one.named.words.removesuffix(NOT_KNOWN).rpartition(" to ")
            methods = calls.in_words(name)
            fuller[one.act.order] = f"{given}{to}{name}{NOT_KNOWN}{f', for {methods}' if methods else ''}"
    return fuller


def _without_acts(
    request: Request, trail: Trail, calls: LibraryCalls, known: Sequence[str], partly: str, doubt: str
) -> str:
    """Return the sentence on a program in which nothing was found; `doubt` is what could not be read of it, if any."""
    if not doubt and not partly and only_computes(request.language, trail):
        computes = "Computes and prints" if prints(request.language, trail, request.code) else "Computes"
        return f"{computes}; touches no files, no network."
    if not all(act.kind in WITHOUT_WORDS or act.kind in BY_KIND for act in trail.acts):
        return f"What it does has no words here: look at the code{partly}."
    if request.language is Language.SHELL:
        return f"Only commands that look and print were found{partly}."
    nothing = f"no use of files, network or other programs was found{partly}."
    javascript = request.language is Language.JAVASCRIPT
    others = javascript and any(not is_in_memory(name.strip("“”"), trail) for name in known)
    if not others and any(
        act.kind in ("query", "destroy") and IN_MEMORY in act.labels and not act.name.startswith("unittest.")
        for act in trail.acts
    ):
        return f"Works on a database in memory; {nothing}"
    if known:
        every = [(name, calls.in_words(name, every=True)) for name in known]
        named = [f"{functions} of {name}" if functions else name for name, functions in every]
        if any(name.startswith("“") for name in known):
            looks = all(map(calls.only_look, known))
            nothing = f"{BY_NAME if looks else 'what that does was not read'}{partly}."
        elif doubt:
            nothing = f"{nothing.removesuffix(f'{partly}.')}{partly or PARTLY}."
        last = _last(request.language, trail)
        acts = ((Verb.CALLS, one) for one in named)
        whole = f"{sentence([*last, *acts] if request.language is Language.PYTHON else [*acts, *last])[:-1]}; {nothing}"
        return (
            whole
            if len(whole) <= LONGEST_SENTENCE
            else f"{sentence([(Verb.CALLS, one) for one in known])[:-1]}; {nothing}"
        )
    if doubt and not partly:
        computes = "Computes and prints" if prints(request.language, trail, request.code) else "Computes"
        return f"{computes}, as far as could be read, but {doubt[0].lower()}{doubt[1:]}"
    return f"{nothing[0].upper()}{nothing[1:]}"


def _is_unread(act: Act) -> bool:
    return act.kind in UNREAD or (act.kind == "execute" and act.get("language").text not in READ_LANGUAGES)


def _weight(one: Doing, judged: Mapping[int, Judged]) -> int:
    found = judged.get(one.act.order)
    return found.level if found is not None and found.level >= Level.MEDIUM else 0


def _lead(
    findings: Sequence[Finding], found: Sequence[Doing], judged: Mapping[int, Judged]
) -> tuple[str, Doing | None, bool] | None:
    """Return the reason of the worst finding where it says more than the acts, and the act that it is about.

    The last is whether the reason itself says that something could not be read.
    """
    about = [one for one in findings if not one.id.startswith(BESIDE) and one.id not in OWN_WORDS]
    worst = max(about, key=lambda one: one.level, default=None)
    if worst is None or worst.level < Level.HIGH:
        return None
    heaviest = found[0] if found and _weight(found[0], judged) >= worst.level else None
    if worst.level is Level.HIGH and heaviest is not None and heaviest.verb not in PLAIN_DEEDS:
        return None
    if heaviest is not None and _says_more(heaviest):
        return None
    unread = worst.capability is Capability.UNREADABLE
    reason = (worst.reason if heaviest is None else judged[heaviest.act.order].reason).rstrip(".")
    if reason in ONE_OF_SEVERAL and heaviest is not None and heaviest.verb is Verb.SENDS:
        data = heaviest.named.words.partition(" to ")[0]
        reason = f"Sends {data} over the network" if data != "data" else reason
    if heaviest is not None and reason == ALL_OF_A_KIND and heaviest.verb is Verb.DELETES:
        return f"Deletes {heaviest.named.words}: all that there is of the kind", heaviest, unread
    if heaviest is not None and any(label.startswith(ON_MACHINE) for label in heaviest.act.labels):
        return f"{reason} ({heaviest.named.whole or heaviest.named.words})", heaviest, unread
    if heaviest is None or not (
        heaviest.named.place or (heaviest.named.computed and TELLS.search(heaviest.named.words))
    ):
        return reason, heaviest, unread
    whole = heaviest.named.whole if heaviest.verb is Verb.STARTS else ""
    words = heaviest.named.words.partition(" (")[0]
    if whole:
        words = whole if len(whole) <= LONGEST_COMMAND else quoted(whole[1:-1], LONGEST_COMMAND)
    words = f"to {words.rpartition(' to ')[2]}" if heaviest.verb is Verb.SENDS else words
    return f"{reason} ({words})", heaviest, unread


ONE_OF_SEVERAL = frozenset(("Sends system files, collected files or recordings over the network",))
"""Reasons of rules that name several things, of which an act is about one."""
ALL_OF_A_KIND = "Deletes all that there is of a kind at a service"
LONGEST_COMMAND = 46
"""Characters of a command that the clause of a finding names whole."""
TELLS = expression(r"[/~“.]|\bhome folder\b")
"""Something in words for an object that names a part of it at least."""


def _says_more(deed: Doing) -> bool:
    """Return whether the words for an act say more than the rule that found it."""
    starts = deed.verb is Verb.RUNS_ON_START and "(runs by itself)" not in deed.named.words
    sends = deed.verb is Verb.SENDS and not deed.named.words.startswith(("data ", "messages ", "files "))
    return starts or sends or deed.act.kind == "schedule"


def _hosts(code: str) -> Iterator[str]:
    """Yield the hosts of addresses that stand in code, outside of comments."""
    for found in itertools.islice(ADDRESS.finditer(code), MOST_ADDRESSES):
        begun = code.rfind("\n", 0, found.start()) + 1
        if not code[begun : found.start()].lstrip().startswith(COMMENTS):
            yield found[1].lower()


ADDRESS = expression(
    r"\b[a-z][a-z+]{2,11}://(?:[^/@\s'\"]{1,60}@)?([a-z0-9-]{1,60}(?:\.[a-z0-9-]{1,60}){1,5})", re.IGNORECASE
)
MOST_ADDRESSES = 40
COMMENTS = ("#", "//", "*", "/*")


def _naming(said: str, hosts: Sequence[str]) -> str:
    """Add hosts to a sentence that nothing in it names, where there is room for them."""
    unsaid = [host for host in dict.fromkeys(hosts) if host not in said.lower() and not LOCAL.match(host)]
    whole = f"{said[:-1]}; names {listed([plain_words(one) for one in unsaid], 2)}." if unsaid else said
    return whole if len(whole) <= LONGEST_SENTENCE else said


def fullest(ways: Iterable[Sequence[tuple[Verb, str]]], partly: str) -> str:
    """Return the first of several ways to say the same that leaves nothing out; the last where each does."""
    said = ""
    for one in ways:
        said = sentence(one, partly=partly)
        if not LEAVES_OUT.search(said):
            break
    return said


LEAVES_OUT = expression(r"\bmore\b|…(?:,[^“]{0,40})?\.$")
"""How a sentence ends, or a list in it, that is not whole."""


def _led(lead: str, ways: tuple[Sequence[tuple[Verb, str]], Sequence[tuple[Verb, str]]], partly: str) -> str:
    shown, fuller = ways
    if not shown or len(lead) > LONGEST_LEAD:
        return finished([lead], partly=partly)
    plain = [one for one in shown if one[0] is not Verb.CALLS]
    for others, most in ((fuller, 6), (shown, 6), (plain, 6), (plain, 3), (plain, 2), (plain, 1)):
        rest = sentence(others[:most])[:-1] if others else ""
        if most < len(others) and not rest.endswith((" and more", ", and does more")):
            before, joined, last = rest.rpartition(" and ")
            counted = rest.endswith(" more")
            rest = (
                f"{rest}, and does more" if counted else f"{before}, {last} and more" if joined else f"{rest} and more"
            )
        whole = f"{lead}; it also {rest[:1].lower()}{rest[1:]}"
        if rest and len(whole) <= LONGEST_LED:
            return finished([whole], partly=partly)
    return finished([lead], partly=partly)


LONGEST_LEAD, LONGEST_LED = 130, 195
"""Characters of the clause of a finding before others are added, and of both together."""


def _look_at(
    findings: Sequence[Finding],
    found: Sequence[Doing],
    calls: LibraryCalls,
    trail: Trail,
    lines: Lines,
    judged: Mapping[int, Judged],
    deed: Doing | None,
) -> Span | None:
    """Return the line that decides: where the target comes from, else where the worst finding is.

    `deed` is the act that the sentence begins with, where a finding leads it; elsewhere that is the first of `found`.
    Of code that nobody has to be careful about it is the line that changes something, unless there are few lines
    anyway.
    """
    worst = max((one for one in findings if one.span != WHOLE), key=lambda one: one.level, default=None)
    if worst is None or worst.level < Level.MEDIUM:
        return _calm_line(found, calls, trail, lines)
    if found and found[0].verb is Verb.DELETES and found[0].named.computed and _weight(found[0], judged) == worst.level:
        path = found[0].act.get("path")
        names = {label[len(VALUE_OF) :] for label in labels_of((path,)) if label.startswith(VALUE_OF)}
        read = next((act for act in trail.acts if act.kind == "variable" and act.get("key").text in names), None)
        if read is not None:
            return lines.place(read.place)
    placed = {one.span.line for one in findings if one.level == worst.level}
    first = deed if deed is not None else next(iter(found), None)
    if first is None or first.place[0] not in placed:
        return worst.span
    if first.verb is Verb.WRITES:
        alike = [one for one in found if one.verb is Verb.WRITES and _weight(one, judged) == _weight(first, judged)]
        first = min((one for one in alike if one.named.words == first.named.words), key=_aside, default=first)
    return deciding(first, lines)


def _calm_line(found: Sequence[Doing], calls: LibraryCalls, trail: Trail, lines: Lines) -> Span | None:
    """Return the line that most of code is for which nobody has to be careful about; None where there are few lines."""
    if calls.javascript:
        changes = (one for one in found if one.verb in CHANGING and one.named.words != TEMPORARY_FILES)
        first = min(changes, key=lambda one: ORDER[one.verb], default=None)
        place = first.place if first is not None else _main(found, calls, trail)
        return None if place is None or len(lines) <= SEEN_AT_ONCE else lines.place(place)
    main = min(_telling(found), key=_aside, default=None)
    shows = trail.given and len(lines) > SEEN_AT_ONCE and (main is None or main.verb not in CHANGING)
    if shows and (asks := _main_line(found, calls, trail, lines)) is not None:
        return asks
    if main is None or _aside(main)[0] > LOOKED_AT:
        return None
    few = SEEN_AT_ONCE if main.verb in CHANGING else FEW_LINES
    return None if len(lines) <= few else deciding(main, lines)


def _telling(found: Sequence[Doing]) -> Iterator[Doing]:
    """Yield what may be what a program is for: nothing that is only on the way to it, or cleared up behind it."""
    written = {one.named.place: one.act.order for one in reversed(found) if one.verb is Verb.WRITES and one.named.place}
    started = (one.named.does for one in found if one.verb is Verb.STARTS)
    used = {does.what for does in started if does is not None and does.verb not in LOOKS}
    for one in found:
        own = one.verb is Verb.DELETES and written.get(one.named.place, one.act.order) < one.act.order
        if one.named.words != TEMPORARY_FILES and not own and not (one.verb is Verb.WRITES and one.named.words in used):
            yield one


def _aside(one: Doing) -> tuple[int, int, bool, int]:
    """Return how far an act is from what a program is for: what changes something is near, in a loop or of results.

    A text that is written as it stands is no result, and a head of a table or a setting most often.
    """
    again = one.act.labels >= REPEATED
    if one.verb in CHANGING:
        head = one.act.kind in ("write", "append") and one.act.get("data").exact is not None and not again
        return 2 if head else 0, ORDER[one.verb], not again, one.act.order
    if one.named.does is not None and one.named.does.by == WOULD_DO:
        return 1, 0, not again, one.act.order
    if (done := one.named.does) is not None:
        return 3 if done.verb in LOOKS else 1, 1, False, one.act.order
    return (3 if one.verb in NETWORK else 4 if one.verb is Verb.STARTS else 5), 0, not again, one.act.order


LOOKED_AT = 5
"""What is farther aside than that is no line to look at."""
FEW_LINES = 5


def deciding(one: Doing, lines: Lines) -> Span:
    """Return where an act stands; of one of several lines the line with the word that decides, where that is known."""
    place = one.place
    if known_as(one.act.name) is None:
        return lines.place(place)
    if one.act.kind == "query" and (found := _statement(one, lines)) is not None:
        return found
    if place[2] <= place[0] or place[2] > len(lines) or place[2] - place[0] > MOST_LINES:
        return lines.place(place)
    act = one.act
    wanted = [act.get("opens").text.rpartition(": ")[2], act.get("opens").text.partition(": ")[0]]
    for number in range(place[0], place[2] + 1):
        line = lines.text[lines.start(number) : lines.start(number + 1)].rstrip("\n")
        if any(len(part) > 3 and part in line for part in wanted) or (
            one.verb is Verb.SENDS and GIVES.search(line) is not None
        ):
            return _whole(number, line)
    return lines.place(place)


def _statement(one: Doing, lines: Lines) -> Span | None:
    """Return the line on which the statement stands that a database is given there; None where that is not known."""
    table = one.act.get("table").text.rpartition(".")[2]
    if one.act.get("effect").text not in STATEMENTS or not table:
        return None
    for number in range(one.place[0], min(one.place[0] + MOST_LINES, len(lines) + 1)):
        line = lines.text[lines.start(number) : lines.start(number + 1)].rstrip("\n")
        if table in line and STATEMENTS[one.act.get("effect").text].search(line) is not None:
            return _whole(number, line)
    return None


def _whole(number: int, line: str) -> Span:
    return Span(number, len(line) - len(line.lstrip()), number, len(line))


STATEMENTS = {
    effect: expression(rf"(?i)\b(?:{verbs})\b")
    for effect, verbs in (
        ("DROPS", "drop|alter"),
        ("DELETES_ALL", "delete|truncate|create"),
        ("DELETES", "delete"),
        ("CHANGES_ALL", "update"),
        ("CHANGES", "update|alter"),
        ("OPENS", "grant|disable|drop|unset|alter|set|create"),
    )
}
"""Verbs of the statements that have an effect."""


MOST_LINES = 60
GIVES = expression(
    r"(?:^|\s)(?:-[FdT]|--(?:form|data|json|upload-file|post-file|post-data|body-file|body-data)[a-z-]{0,12})(?:[\s=]|$)"
)
"""Options of commands behind which that stands which is sent."""
LOOKS = frozenset((*SAID[VerbKind.LOOKS], "shows what is in"))
"""Verbs of what programs do that changes nothing."""


def _main_line(found: Sequence[Doing], calls: LibraryCalls, trail: Trail, lines: Lines) -> Span | None:
    """Return the line of a program that changes nothing in which it gets what it is about; None where none is known."""
    if (called := calls.main(COMPUTES)) is not None:
        return lines.place(called)
    gets = (one for one in found if one.verb in (Verb.FETCHES, Verb.READS, Verb.LISTS))
    read = next((one for one in gets if one.named.words != TEMPORARY_FILES), None)
    return None if read is None else lines.place(read.place)


def _main(found: Sequence[Doing], calls: LibraryCalls, trail: Trail) -> Place | None:
    """Return where code does most that changes nothing outside: in memory, by a library, or in looking at something."""
    inside = [act for act in trail.acts if act.kind in ("destroy", "query") and IN_MEMORY in act.labels]
    if inside:
        deed = next((act for act in inside if act.kind == "destroy" or act.get("effect").text == "DELETES"), inside[0])
        return deed.place
    looked = next((one.place for one in found if one.verb in LOOKS_AT), None)
    return looked or calls.main(SAID_OF_TESTS, changing=True) or first_test(trail)


LOOKS_AT = frozenset((Verb.STARTS, Verb.CONNECTS, Verb.FETCHES, Verb.READS, Verb.LISTS))
SEEN_AT_ONCE = 10
"""Lines in which nobody needs to be shown one."""
CHANGING = frozenset(
    (
        *(Verb.DELETES, Verb.DISCARDS, Verb.CHANGES_DATA, Verb.SENDS, Verb.RUNS_ON_START, Verb.CHANGES_RIGHTS),
        *(Verb.CHANGES_SYSTEM, Verb.REWRITES, Verb.MOVES, Verb.LISTENS, Verb.WRITES),
    )
)
"""What leaves something behind, or lets somebody in."""


IN_CONTAINER = f"{ON_MACHINE}{CONTAINER}"
WITHIN = frozenset(("docker", "podman", "nerdctl", "kubectl", "oc"))
"""Programs that start another one in a container."""
EXCEPT = ", except "
FEW = 3
"""Programs that are named by all their words."""
LOOKING = frozenset((Verb.READS, Verb.LISTS))
NETWORK = (Verb.SENDS, Verb.CONNECTS, Verb.FETCHES)


def condensed(
    found: Sequence[Doing],
    needless: set[int],
    source: str,
    said: Doing | None = None,
    fuller: Mapping[int, str] = MappingProxyType({}),
) -> Iterator[tuple[Verb, str]]:
    """Yield the acts that a sentence needs, without `said`: one for each host, and nothing twice.

    `fuller` has words that say more than those of an act, by its order.
    """
    hosts = {said.named.place} if said is not None and said.verb in NETWORK else set[str]()
    works = _works(found, needless, fuller)
    sent = {one.named.place for one in found if one.verb is Verb.SENDS} - {""}
    deleted = {one.named.place for one in found if one.verb is Verb.DELETES} - {""}
    gone = {one.named.words for one in found if one.verb is Verb.DELETES}
    # What is left stands behind all that is deleted, so that nothing else reads as if it were left.
    for one in sorted(found, key=lambda one: one.verb is Verb.DELETES and EXCEPT in one.named.words):
        words = one.named.words
        plain = words.partition(EXCEPT)[0]
        if plain != words and plain in gone:
            continue  # a second deletion does not leave what the first one leaves
        if one.act.order in needless or (said is not None and (one is said or one.named == said.named)):
            continue
        if one.named.does is not None:
            if work := works.pop(one.named.does[::2], ""):
                yield Verb.WORKS, work
            continue
        if one.verb in NETWORK:
            host = one.named.place or words.rpartition(" to ")[2]
            brings = one.verb is Verb.FETCHES and not is_absent(one.act.get("path"))
            if not brings and (host in hosts or (one.verb is not Verb.SENDS and host in sent)):
                continue
            hosts.add(host)
        elif one.verb is Verb.RUNS_NAMED and words == A_FILE and source:
            words = f"{source} names"
        elif one.verb is Verb.CHANGES_DATA and source and words == SQL_OF_A_FILE:
            words = f"runs the SQL in {source}"
        elif one.verb is Verb.CHANGES_DATA and source and library_of(one.act.name) in IN_FILES:
            words = f"{words} in {source}"
        elif one.verb is Verb.MAKES and one.named.place in deleted:
            words = "it again"
        yield one.verb, fuller.get(one.act.order, words)


def _works(found: Sequence[Doing], needless: set[int], fuller: Mapping[int, str]) -> dict[tuple[str, str], str]:
    """Return the clauses for what programs do of which the words say it, one a verb and program."""
    works: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for one in found:
        if (done := one.named.does) is not None and one.act.order not in needless:
            works.setdefault((done.verb, done.by), []).append((done.what, fuller.get(one.act.order, done.by)))
    said = {}
    for (verb, by), objects in works.items():
        what, given = listed([one for one, _ in objects if one]), listed([one for _, one in objects if one])
        said[verb, by] = " ".join(filter(None, (verb, what, "by" if given and by != WOULD_DO else "", given)))
    return said


def _fuller(found: Sequence[Doing], needless: set[int]) -> dict[int, str]:
    """Return fuller words by the order of the act: few commands whole, and addresses where a host has but one."""
    started = {one.named.whole for one in found if one.verb is Verb.STARTS and one.act.order not in needless}
    addresses: dict[str, set[str]] = {}
    for one in found:
        if one.verb in NETWORK:
            addresses.setdefault(one.named.place, set()).add(one.named.whole)
    return {
        one.act.order: one.named.whole
        for one in found
        if one.named.whole
        and (
            len(started) <= FEW
            if one.verb is Verb.STARTS
            else one.verb is Verb.INSTALLS or (one.verb in NETWORK and len(addresses[one.named.place]) == 1)
        )
    }


def _needless(found: Sequence[Doing], source: str) -> set[int]:
    """Return the orders of acts that others say already."""
    verbs = {one.verb for one in found}
    said = {(one.act.name, one.place) for one in found if one.act.kind not in ("command", "run")}
    places = {place for _, place in said}
    started = places | {one.place for one in found if one.act.kind == "command"}
    temporary = [one for one in found if one.named.words == TEMPORARY_FILES]
    needless = {one.act.order for one in sorted(temporary, key=lambda one: one.verb is not Verb.WRITES)[1:]}
    sent = {one.named.words.partition(" to ")[0] + " to" for one in found if one.verb is Verb.SENDS}
    handed = {one.place for one in found if one.verb is Verb.HANDS}
    within = {one.place for one in found if any(label.startswith(IN_CONTAINER) for label in one.act.labels)}
    makes = {one.place for one in found if one.named.does is not None and one.verb is Verb.WRITES}
    written = {one.named.place: one.act.order for one in reversed(found) if one.verb is Verb.WRITES and one.named.place}
    listens = any(one.verb is Verb.LISTENS and one.named.place for one in found)
    modules: set[str] = set()
    for one in found:
        match one.verb:
            case Verb.CALLS:
                drop = one.act.get("of").text in modules
                modules.add(one.act.get("of").text)
            case Verb.LISTS:
                drop = not verbs <= {Verb.LISTS, Verb.STARTS, Verb.MAKES}
            case Verb.MAKES:
                drop = bool(verbs & {Verb.WRITES, Verb.RUNS_ON_START})
            case Verb.LISTENS:
                drop = listens and not one.named.place
            case Verb.READS:
                drop = one.named.words == source or f"{one.named.words} to" in sent or one.place in makes
                drop = drop or written.get(one.named.place, one.act.order) < one.act.order  # what it wrote itself
            case Verb.STARTS:
                named = (one.act.name, one.place) in said or (one.act.name in INTERPRETERS and one.place in places)
                if one.act.kind == "start" and one.named.computed:
                    drop = one.place in handed
                else:
                    inside = one.act.name in WITHIN and one.place in within
                    drop = (
                        inside or named if one.act.kind == "command" else one.act.kind == "run" and one.place in started
                    )
            case _:
                drop = False
        if drop:
            needless.add(one.act.order)
    return needless


def _source(found: Sequence[Doing]) -> str:
    """Return the one file from which names of code come, or in which data is changed; '' where that is not one."""
    if not any(one.verb in (Verb.RUNS_NAMED, Verb.CHANGES_DATA) for one in found):
        return ""
    read = {one.named.words for one in found if one.verb is Verb.READS and one.named.place}
    return read.pop() if len(read) == 1 else ""


def _acts(found: Sequence[Doing], lines: Lines) -> tuple[VerdictAct, ...]:
    unique: dict[tuple[Verb, str, int], VerdictAct] = {}
    for one in found:
        line = min(max(one.place[0], 1), len(lines))
        words = one.named.words[:LONGEST_TARGET]
        unique.setdefault(
            (one.verb, words, line), VerdictAct(one.verb, words, one.named.computed, line, one.named.place)
        )
        if len(unique) == MOST_ACTS:
            break
    return tuple(unique.values())


def plain_verdict(
    clauses: Sequence[str], *acts: VerdictAct, look_at: Span | None = None, inner: str = "", more: str = ""
) -> RiskVerdict:
    """Return the verdict on what is no code: clauses of a sentence, and the acts that they are about.

    `inner` is the sentence on a program that comes with it and does not run yet, `more` one that follows.
    """
    whole = finished(clauses)
    if inner:
        whole = f"{whole[:-1]}; if run: {inner[0].lower()}{inner[1:]}"
    if more:
        whole = f"{whole} {more}"
    whole = whole if len(whole) <= LONGEST_SENTENCE else f"{whole[: LONGEST_SENTENCE - 1]}…"
    return RiskVerdict(whole, look_at, acts[:MOST_ACTS])
