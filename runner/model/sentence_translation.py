"""The verdict sentence in another language.

The engine writes it in English, and that is what is recorded. Here it is taken apart by the templates of which it is
made. It is translated where each word of it is understood; else it stays as it is, whole: a sentence that says
something else than what was found is worse than one in English.

What an agent chose is recognised by its form: it is in quotes, or a name that nobody reads as words. It is never
looked up. Each text is gone through once, so that none takes longer than its length asks for.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.model.headline import headline
from runner.model.shown import PLAIN
from runner.model.translation import ENGLISH, capital, chosen, known, to_translate, tr, translated

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from runner.model.verdict import RiskVerdict

LONGEST = 400
"""Characters of a sentence that is looked at."""
DOES_MORE = to_translate("does more")
PARTLY = ", as far as could be read"
PARTLY_READ = " (partly read)"
NAME = expression(r"[\w.-]{1,100}\.[\w-]{1,60}|localhost|[A-Z_][A-Z0-9_]{1,40}", re.ASCII)
"""A host, a function of a module, or a variable."""
OPENING, CLOSING = "\N{LEFT DOUBLE QUOTATION MARK}", "\N{RIGHT DOUBLE QUOTATION MARK}"

CLAUSES = {
    "deletes ": to_translate("deletes {what}"),
    "rewrites ": to_translate("rewrites {what}"),
    "writes ": to_translate("writes {what}"),
    "makes ": to_translate("makes {what}"),
    "looks through ": to_translate("looks through {what}"),
    "reads ": to_translate("reads {what}"),
    "runs ": to_translate("runs {what}"),
    "installs ": to_translate("installs {what}"),
    "stops ": to_translate("stops {what}"),
    "waits for ": to_translate("waits for {what}"),
    "sends ": to_translate("sends {what}"),
    "moves ": to_translate("moves {what}"),
}
"""Verbs with the objects of a clause; an object may be a phrase of ours."""
OF_NAMES = {
    "connects to ": to_translate("connects to {what}"),
    "downloads from ": to_translate("downloads from {what}"),
    "reads credentials in ": to_translate("reads credentials in {what}"),
    "changes the rights of ": to_translate("changes the rights of {what}"),
    "calls ": to_translate("calls {what}"),
    "names ": to_translate("names {what}"),
}
"""Verbs whose objects have to be names: in many languages a phrase would have another form behind them."""
VERBS = sorted((*CLAUSES, *OF_NAMES), key=len, reverse=True)
"""The longer ones first: another may be the beginning of one."""
WHOLE = frozenset(
    (
        to_translate("changes nothing"),
        to_translate("computes"),
        to_translate("computes and prints"),
        to_translate("prints results"),
        to_translate("touches no files, no network"),
        to_translate("no use of files, network or other programs was found"),
        to_translate("what that does was not read"),
        to_translate("by name that only looks, and it was not read"),
        to_translate("only commands that look and print were found"),
        to_translate("what it does has no words here: look at the code"),
        to_translate("works on a database in memory"),
        to_translate("no files, network or programs found"),
        to_translate("only looks and prints"),
        to_translate("no words for it: look at the code"),
        to_translate("connects to an address worked out at run time"),
        to_translate("connects to a name server"),
        to_translate("downloads from an address worked out at run time"),
        to_translate("changes the clipboard"),
        to_translate("changes the clock"),
        to_translate("reads stored passwords"),
        to_translate("looks at the programs that run"),
        to_translate("looks through the environment"),
        to_translate("records the screen, the keyboard or the clipboard"),
        to_translate("schedules something to run later"),
        to_translate("removes everything that is scheduled"),
        to_translate("trusts whatever machine answers"),
        to_translate("takes up memory or disk without end"),
        to_translate("takes up processes without end"),
        to_translate("takes up the disk without end"),
        to_translate("throws away all changes that are not committed"),
        to_translate("throws away all files that are not in the repository"),
        to_translate("throws away stashed changes"),
        to_translate("runs what unpacking objects makes it run"),
        to_translate("runs whatever code an argument names"),
        to_translate("does some of it only at a certain time"),
        to_translate("does some of it only on a certain machine or for a certain user"),
        to_translate("deletes all tables of a database"),
        to_translate("deletes each database that it finds"),
        to_translate("deletes every row of a table"),
        to_translate("deletes everything in the infrastructure"),
        to_translate("changes the registry"),
        to_translate("changes the rights of its own temporary files"),
        to_translate("runs a statement that it puts together"),
        to_translate("runs the SQL of a file"),
        to_translate("uses memory without checks (unsafe)"),
        to_translate("reaches classes or methods by their names"),
    )
)
"""Clauses that have no object."""
PHRASES = frozenset(
    (
        to_translate("its working folder"),
        to_translate("everything in its working folder"),
        to_translate("what it finds in its working folder"),
        to_translate("what it finds in the home folder"),
        to_translate("its own temporary files"),
        to_translate("the home folder"),
        to_translate("the whole system"),
        to_translate("a path worked out at run time"),
        to_translate("a file worked out at run time"),
        to_translate("a folder worked out at run time"),
        to_translate("a program worked out at run time"),
        to_translate("packages worked out at run time"),
        to_translate("the path that it gets as an argument"),
        to_translate("the file that it gets as an argument"),
        to_translate("the folder that it gets as an argument"),
        to_translate("a path that it is given"),
        to_translate("a file that it is given"),
        to_translate("a folder that it is given"),
        to_translate("paths that it finds"),
        to_translate("files that it finds"),
        to_translate("folders that it finds"),
        to_translate("a process"),
        to_translate("a process of its own"),
        to_translate("an interactive shell"),
        to_translate("connections"),
        to_translate("native code"),
        to_translate("code that is only known at run time"),
        to_translate("it again"),
        to_translate("a text that it may run"),
        to_translate("more"),
        to_translate("many more"),
    )
)
DATA = frozenset(
    (
        to_translate("data"),
        to_translate("credentials"),
        to_translate("stored secrets"),
        to_translate("a private key"),
        to_translate("environment variables"),
        to_translate("a recording"),
        to_translate("account files"),
        to_translate("log files"),
        to_translate("a copy of a database"),
        to_translate("files that it finds"),
        to_translate("an archive"),
        to_translate("the output of programs"),
        to_translate("the name of this machine"),
        to_translate("cookies"),
        to_translate("system files"),
        to_translate("files"),
    )
)
AROUND = (
    ("the folder ", "", to_translate("the folder {name}")),
    ("what it finds in ", "", to_translate("what it finds in {name}")),
    ("the value of ", "", to_translate("the value of {name}")),
    ("the path in ", "", to_translate("the path in {name}")),
    ("the file in ", "", to_translate("the file in {name}")),
    ("the folder in ", "", to_translate("the folder in {name}")),
    ("the process ", "", to_translate("the process {name}")),
    ("connections on ", "", to_translate("connections on {name}")),
)
"""Phrases about one name: what stands before it and behind it."""
SHAPES = (
    to_translate("hands {what} to {token}, which Assent does not know"),
    to_translate("hands {what} to a program worked out at run time"),
    to_translate("prints {what} for the agent to read"),
    to_translate("changes the rights of {name} to {token}"),
    to_translate("sets {token}, which changes what programs run"),
    to_translate("sets {token} of git to {name}"),
    to_translate("sends messages by {name}"),
    to_translate("sends messages to each address that it finds by {name}"),
    to_translate("sends messages by {name}, one after the other"),
    to_translate("sends data from {name} to {host}"),
    to_translate("reads a database by {name}"),
    to_translate("throws away commits at the remote ({name})"),
    to_translate("throws away a branch ({name})"),
    to_translate("deletes all rows of {token}"),
    to_translate("deletes every row of {token}"),
    to_translate("changes every row of {token} in {name}"),
    to_translate("deletes rows of {token}"),
    to_translate("deletes rows of {token} that match a condition"),
    to_translate("deletes all records of {token}"),
    to_translate("deletes one of the records of {token}"),
    to_translate("deletes records of {token} that match a condition"),
    to_translate("changes all records of {token}"),
    to_translate("changes one of the records of {token}"),
    to_translate("changes records of {token} that match a condition"),
    to_translate("drops the table {token}"),
    to_translate("drops the table {token} in {name}"),
    to_translate("drops the database {token}"),
    to_translate("writes to the table {name} in {other}"),
    to_translate("deletes the volume {name} in the container engine"),
    to_translate("deletes the release {name} in the cluster"),
    to_translate("deletes {token} {name} in the cluster ({other})"),
    to_translate("deletes {name} in the cloud ({token})"),
    to_translate("deletes {name} in the backups ({token})"),
    to_translate("changes the cloud ({name})"),
    to_translate("changes the cluster ({name})"),
    to_translate("changes the infrastructure ({name})"),
    to_translate("changes the server ({name})"),
    to_translate("changes other machines ({name})"),
    to_translate("runs the SQL in {name}"),
    to_translate("runs whatever code {name} names"),
    to_translate("runs {name} on {host}"),
    to_translate("calls {token} of {name}"),
    to_translate("calls {token} ({other}) of {name}"),
    to_translate("tests {token}"),
    to_translate("ends a protection ({name})"),
    to_translate("deletes each {name} by {token} of {other}"),
    to_translate("deletes something at {name} by {token} ({other})"),
    to_translate("calls a function of {token} that it finds by enumeration (line {line})"),
    to_translate("downloads from {name}, whose certificate is not checked"),
    to_translate("deletes the folder {name}, or what it gets as an argument"),
    to_translate("deletes the folder {name}, or where {token} points"),
    to_translate("deletes everything below {token}, which is the whole system where that is empty"),
    to_translate("lets later programs be started from the folder in {token} first"),
    to_translate("may start programs from {name}"),
    to_translate("moves money by {name}"),
    to_translate("rents machines or names, which costs money, by {token} ({name})"),
    to_translate("writes files below {name}, named after what it finds in {other}"),
    to_translate("installs {name} to run {other}"),
    to_translate("lists {what} by {name}"),
    to_translate("shows {what} by {name}"),
    to_translate("searches {what} by {name}"),
    to_translate("compares {what} by {name}"),
    to_translate("counts {what} by {name}"),
    to_translate("queries {what} by {name}"),
    to_translate("plans by {name}"),
    to_translate("plans {what} by {name}"),
    to_translate("pushes {what} by {name}"),
    to_translate("creates {what} by {name}"),
    to_translate("updates {what} by {name}"),
    to_translate("changes {what} by {name}"),
    to_translate("applies {what} by {name}"),
    to_translate("starts {what} by {name}"),
    to_translate("restarts {what} by {name}"),
    to_translate("stops {what} by {name}"),
    to_translate("switches on {what} by {name}"),
    to_translate("switches off {what} by {name}"),
    to_translate("imports {what} by {name}"),
    to_translate("lists jobs by {name}"),
    to_translate("shows what {name} would do (dry run)"),
    to_translate("deletes what is in {name} already by {other}"),
    to_translate("deletes what is in {name} of {other} already by {token}"),
    to_translate("switches off row level security of {token}"),
    to_translate("switches off triggers of {token}"),
    to_translate("removes the policy {token}"),
    to_translate("removes from the whole account the setting {token}"),
    to_translate("changes for the whole server the setting {token}"),
    to_translate("sets another password of {token}"),
    to_translate("gives every right to {token}"),
    to_translate("adds the user {token}"),
    to_translate("lets everybody {token} in {name}"),
    to_translate("checks {what} by {name}"),
    to_translate("tests {what} by {name}"),
    to_translate("formats {what} by {name}"),
    to_translate("builds {what} by {name}"),
    to_translate("renders {what} by {name}"),
    to_translate("exports {what} by {name}"),
    to_translate("documents {what} by {name}"),
    to_translate("checks by {name}"),
    to_translate("tests by {name}"),
    to_translate("formats by {name}"),
    to_translate("checks and corrects {what} by {name}"),
    to_translate("converts {name} to {other} by {token}"),
    to_translate("shows the log of the system by {name}"),
    to_translate("shows what is in {name} by {other}"),
    to_translate("shows the state of the machine by {name}"),
    to_translate("runs {name} in a container by {other}"),
    to_translate("tests with a stand-in for {name}"),
    to_translate("changes a copy of its own by git {token}"),
    to_translate("deletes each {name} that it finds by {other}"),
    to_translate("deletes what it finds by {name}"),
    to_translate("deletes {name} by {other}"),
    to_translate("deletes what is old in the backups ({token}), except {name}"),
)
"""Whole clauses with parts: `what` is an object, `token` one word, and any other part a name in its own form."""
OBJECTS = (
    to_translate("what is named {name} in {other}"),
    to_translate("what is named {name} in its working folder"),
    to_translate("a copy of {name} to {other}"),
    to_translate("{name} for {other}"),
    to_translate("its working folder for {name}"),
    to_translate("the content of {name}"),
    to_translate("{name} (git hook)"),
    to_translate("{name} (cron)"),
    to_translate("{name} (service)"),
    to_translate("{name} (shell start-up)"),
    to_translate("{name} (Python start-up)"),
    to_translate("{name} (keys for logging in)"),
)
"""Objects with parts."""
DOUBTS = (
    to_translate("calls {token}, which may be several things"),
    to_translate("calls {token}, which is not known"),
    to_translate("calls what is worked out at run time"),
    to_translate("imports {token}, which is not known"),
    to_translate("imports {token}, by which code may be anything"),
    to_translate("uses {token}, by which code may be anything"),
    to_translate("looks into programs by {token}"),
    to_translate("runs SQL that is worked out at run time, by {token}"),
    to_translate("takes functions out of a module under names of its own"),
)
"""Why something was read only in part."""
TOKEN = expression(r"[\w.$@~/\[\]-]{1,100}", re.ASCII)
MOST_JOINED = 3
"""Pieces between commas of which one clause is made at most."""
ADDRESS = to_translate("an address worked out at run time")


def in_words(sentence: str) -> str:
    """Return a verdict sentence, or its short form, in the chosen language; as it is where not all is understood."""
    return _translated(sentence) or sentence


def object_in_words(target: str) -> str:
    """Return what an act is done to in the chosen language; as it is where that is not understood."""
    return (_object(target) or target) if chosen() != ENGLISH else target


def short_form(verdict: RiskVerdict) -> str:
    """Return the short form of a verdict in the chosen language, or in English.

    One that is cut is not understood: then it is the first clause, which is longer. Of what was not read whole that
    would not say so, and it stays as it is.
    """
    short = headline(verdict)
    said = in_words(short)
    first = verdict.sentence.partition("; ")[0].rstrip(".")
    if said != short or PARTLY in verdict.sentence:
        return said
    return _translated(first) or short


@lru_cache(2048)
def _translated(sentence: str) -> str:
    """Return the translation; '' where there is none."""
    if len(sentence) > LONGEST:
        return ""
    words, end = (sentence[:-1], ".") if sentence.endswith(".") else (sentence, "")
    words, why, doubt = words.partition(f"{PARTLY}, but ")
    if why and not (doubt := _shaped(doubt, DOUBTS)):
        return ""
    partly = next((one for one in (PARTLY, PARTLY_READ) if words.endswith(one)), "")
    parts = [*_split(words.removesuffix(partly), ("; ",))]
    said = [_lead(parts[0]) or _clauses(_small(parts[0]))]
    for part in parts[1:]:
        also = part.startswith("it also ")
        clauses = _clauses(part.removeprefix("it also "))
        said.append(tr("it also {clauses}", clauses=clauses) if also and clauses else clauses)
    if not all(said):
        return ""
    whole = capital("; ".join(said))
    if partly == PARTLY:
        whole = tr("{sentence}, as far as could be read", sentence=whole)
    elif partly:
        whole = tr("{sentence} (partly read)", sentence=whole)
    if why:
        whole = tr("{sentence}, as far as could be read, but {doubt}", sentence=whole, doubt=doubt)
    return f"{whole}{end}"


def _lead(words: str) -> str:
    """Return the reason of a rule, with what it is about where that is named; '' where it is none."""
    if found := known(f"{words}."):
        return found.removesuffix(".")
    reason, bracket, about = words.removesuffix(")").rpartition(" (")
    if not bracket or not words.endswith(")") or not (found := known(f"{reason}.")):
        return ""
    to = about.startswith("to ")
    named = _name(about.removeprefix("to ")) or ("" if to else _object(about))
    if not named:
        return ""
    return f"{found.removesuffix('.')} ({tr('to {host}', host=named) if to else named})"


def _clauses(words: str) -> str:
    """Return clauses that are joined by commas and a last `and`; '' where one is not understood."""
    if words in WHOLE:
        return known(words)
    clauses: list[tuple[str, list[str]]] = []
    items, place = [*_split(words, (", ", " and "))], 0
    while place < len(items):
        taken, whole = _joined(words, items[place : place + MOST_JOINED])
        # What has a comma of its own is parted by `, and ` from the last one.
        if taken > 1 and place + taken < len(items):
            items[place + taken] = items[place + taken].removeprefix("and ")
        item, place = items[place], place + taken
        verb = next((one for one in VERBS if item.startswith(one)), "")
        if whole:
            clauses.append((whole, []))
        elif verb:
            clauses.append((verb, [item.removeprefix(verb)]))
        elif clauses and item == f"and {DOES_MORE}":
            clauses.append((known(DOES_MORE), []))
        elif clauses and clauses[-1][1]:
            clauses[-1][1].append(item)
        elif clauses and item == "more":
            clauses.append((known(item), []))
        else:
            return ""
    said = [_clause(verb, objects) for verb, objects in clauses]
    return _listed(said) if said and all(said) else ""


def _joined(words: str, items: Sequence[str]) -> tuple[int, str]:
    """Return how many of `items`, which are commas apart in `words`, are one whole clause, and its translation."""
    for taken in range(len(items), 0, -1):
        clause = ", ".join(items[:taken])
        if clause in words and (whole := known(clause) if clause in WHOLE else _shaped(clause, SHAPES)):
            return taken, whole
    return 1, ""


def _shaped(words: str, shapes: tuple[str, ...]) -> str:
    """Return words of one of the shapes in the chosen language; '' where a part is not understood."""
    for shape, pattern in _patterns(shapes):
        found = pattern.fullmatch(words)
        if found is None or not known(shape):
            continue
        parts = {name: _part(name, part) for name, part in found.groupdict().items()}
        if all(parts.values()):
            return translated(shape, **parts)
    return ""


def _part(name: str, words: str) -> str:
    if name == "what":
        return known(words) if words in DATA else _object(words)
    if name in ("token", "line"):
        return words if TOKEN.fullmatch(words) else _name(words)
    return _name(words)


@cache
def _patterns(shapes: tuple[str, ...]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((one, re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>.+?)", re.escape(one)))) for one in shapes)


def _clause(verb: str, objects: Sequence[str]) -> str:
    """Return one clause, which is translated where it has no object; '' where an object is not understood."""
    if not objects:
        return verb
    of_names = verb in OF_NAMES
    said = [_object_of(verb, one) if not of_names else _name(one) or _counted(one) for one in objects]
    if not all(said):
        return ""
    template = known(OF_NAMES[verb] if of_names else CLAUSES[verb])
    return template.replace("{what}", _listed(said), 1)


def _object_of(verb: str, words: str) -> str:
    if verb == "sends ":
        data, to, host = words.partition(" to ")
        sent = (known(data) if data in DATA else _object(data)) if to else ""
        reached = known(ADDRESS) if host == ADDRESS else _name(host)
        return tr("{data} to {host}", data=sent, host=reached) if sent and reached else _counted(words)
    if verb == "moves ":
        source, to, target = words.partition(" to ")
        before, after = _name(source), _name(target)
        return tr("{path} to {other}", path=before, other=after) if to and before and after else _counted(words)
    return _object(words)


def _object(words: str) -> str:
    """Return what something is done to; '' where that is not understood."""
    if words in PHRASES:
        return known(words)
    if named := _name(words) or _counted(words) or _shaped(words, OBJECTS):
        return named
    for before, behind, template in AROUND:
        if words.startswith(before) and words.endswith(behind):
            named = _name(words[len(before) : len(words) - len(behind)])
            if named:
                return known(template).replace("{name}", named, 1)
    return ""


def _name(words: str) -> str:
    """Return what an agent may have chosen, as it is, where its form says so; '' for anything else."""
    if words.startswith(OPENING) and words.endswith(CLOSING) and words.count(CLOSING) == words.count(OPENING) == 1:
        return words
    if " " in words or words.endswith("\N{HORIZONTAL ELLIPSIS}"):
        return ""  # what is cut there may have been a word of ours
    whole = words.replace("\N{HORIZONTAL ELLIPSIS}", "*")
    return words if PLAIN.fullmatch(whole) or NAME.fullmatch(words) else ""


def _counted(words: str) -> str:
    """Return `4 more`."""
    number, _, more = words.partition(" ")
    return tr("{count} more", count=number) if more == "more" and number.isdecimal() and len(number) < 4 else ""


def _listed(words: Sequence[str]) -> str:
    if len(words) < 2:
        return "".join(words)
    return tr("{several} and {last}", several=", ".join(words[:-1]), last=words[-1])


def _small(words: str) -> str:
    return words[:1].lower() + words[1:]


def _split(words: str, marks: Sequence[str]) -> Iterator[str]:
    """Yield what stands between the marks, but for those in quotes or brackets."""
    begin = place = 0
    quoted, depth = False, 0
    while place < len(words):
        one = words[place]
        quoted = one == OPENING or (quoted and one != CLOSING)
        depth += 0 if quoted else (one == "(") - (one == ")")
        mark = next((each for each in marks if words.startswith(each, place)), "") if not quoted and depth == 0 else ""
        if mark:
            yield words[begin:place]
            begin = place = place + len(mark)
        else:
            place += 1
    yield words[begin:]
