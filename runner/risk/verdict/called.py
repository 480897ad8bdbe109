"""Words for calls of which only the names say what they are for: those of libraries, tests, and what is printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.model.request import Language
from runner.risk.model.outline_data import words
from runner.risk.model.value import HOLE, Value, labels_of
from runner.risk.trace.files import IN_MEMORY
from runner.risk.trace.shown import SECRETIVE
from runner.risk.trace.things import package_of
from runner.risk.verdict.computing import is_known_call
from runner.risk.verdict.naming import identifier, listed, quoted
from runner.risk.verdict.things import held_by

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from runner.risk.model.acts import Place, Trail

MOST_CALLS, MOST_CONSTANTS, MOST_TITLES, MOST_TESTED = 3, 2, 2, 2
LONGEST_CONSTANT = 30
PLAIN_BEGINNINGS = words(
    "client resource Client connect close end cursor session Session Config setup disconnect quit auth config "
    "loadFromDefault loadFromFile makeApiClient db then catch finally toArray on once emit use default create init "
    "initialize initializeApp getClient fromEnv from Router static toString valueOf collection table into model "
    "define getRepository getContainerClient launch newPage newContext transformToByteArray transformToString"
)
"""What is called before and after the work, and says nothing of it."""
VAGUE = words(
    "get list fetch find search query read load send run all one many each create add set update put post patch "
    "delete remove save write parse build open execute getPage getAll listAll iterate stream call apply first last "
    "next page"
)
"""Names of methods that say what they are for only with what they are of."""
TESTING = words("test it describe suite context specify beforeEach afterEach before after beforeAll afterAll t")
FRAMEWORKS = words("test vitest @jest/globals mocha ava tap bun:test uvu jest tape qunit")
ASSERTS = words("assert assert/strict chai expect should node:assert @hapi/code power-assert")
SAID = FRAMEWORKS | ASSERTS | {"nock"}
"""Libraries that a clause about tests says."""
PART = expression(r"[A-Za-z_$][\w$]{0,40}")


def calls_in_words(library: str, trail: Trail) -> str:
    """Return the calls of a library, by its plain name, that tell most; '' where none of their names tells anything."""
    found: dict[str, None] = {}
    met: set[str] = set()
    for name, calls in trail.given.items():
        plain = name.lstrip("~")
        if name.endswith("()") or package_of(plain.replace("()", "").replace("[]", "")) != library:
            continue
        if handed := next((one.name for one in calls[0][:1] if one.name.startswith(plain.partition("(")[0])), ""):
            plain = handed  # `client.paginate(client.pulls.list, {...})`
        words = _method(plain)
        if words and not is_known_call(name, javascript=True):
            new = [one for one in constants(calls[0]) if one not in met and OF_KEYS.search(words) is None]
            met.update(new)
            given = [one if one.isdigit() else quoted(one, LONGEST_CONSTANT) for one in new]
            found[f"{words} ({', '.join(given)})" if given else words] = None
    names = sorted(found, key=lambda one: PARTS.split(one.split(" ")[0].rpartition(".")[2])[0].lower() not in CHANGES)
    if len(names) > MOST_CALLS:
        return f"{', '.join(names[:MOST_CALLS])} and others"
    return listed(names)


OF_KEYS = expression(r"(?i)token|secret|passw|key|credential|auth|login|sign")
"""Methods that get what nobody should read."""


def _method(name: str) -> str:
    """Return the method that a call is of, with what it is of where it says little by itself."""
    before, _, last = name.rstrip("*").removesuffix("()").rpartition(".")
    if not before or last in PLAIN_BEGINNINGS or not last[:1].islower() or PART.fullmatch(last) is None:
        return "" if not last.endswith("Command") else identifier(last)
    path: list[str] = []
    for part in reversed(before.split(".")[1:]):
        if PART.fullmatch(part) is None or part in PLAIN_BEGINNINGS or len(path) == 2:
            break
        if not part.endswith(("Api", "API")) and part not in ("api", "rest", "v1", "v2", "v3", "data"):
            path.insert(0, part)
    if last in VAGUE and not path:
        return ""
    return identifier(".".join([*path, last]) if last in VAGUE or last.lower() == last else last)


def constants(values: Iterable[Value], most: int = MOST_CONSTANTS) -> list[str]:
    """Return the first texts that stand in the code and that a call gets, by themselves or in its options."""
    found: dict[str, None] = {}
    for one in _leaves(values):
        known = one.exact
        if known is None and one.number is not None and one.number == one.number and not one.name:
            known = f"{one.number:g}"
        if known is not None and 0 < len(known) <= LONGEST_NAMED and known.strip(HOLE) and "\n" not in known:
            found[known] = None
        if len(found) == most:
            break
    return [*found]


LONGEST_NAMED = 60


def _leaves(values: Iterable[Value]) -> Iterator[Value]:
    for one in values:
        if one.fields is not None:
            yield from (value for key, value in one.fields.items() if value.texts and SECRETIVE.search(key) is None)
        elif one.items is not None:
            yield from (value for value in one.items if value.texts)
        elif one.texts or one.number is not None:
            yield one


def tests_in_words(language: Language | None, trail: Trail) -> str:
    """Return a clause on the tests that a program of JavaScript runs, or on what it checks; '' for none."""
    if language is not Language.JAVASCRIPT:
        return ""
    titles: dict[str, None] = {}
    tests = checks = False
    for name, calls in trail.given.items():
        root, _, rest = name.lstrip("~").replace("()", "").partition(".")
        last = rest.rpartition(".")[2] or root
        if last in TESTING and (root in FRAMEWORKS or root == last):
            tests = tests or any(one.function is not None for call in calls for one in call)
            if last in ("test", "it", "specify"):
                titles |= dict.fromkeys(text for call in calls for text in call[0].texts[:1] if call and text)
        elif root in ASSERTS:
            checks = True
    if not tests and not checks:
        return ""
    own = [identifier(one) for one in trail.followed if one and one not in TESTING]
    tested = listed(own[:MOST_TESTED]) if own else ""
    tested = f"{tested} and others" if len(own) > MOST_TESTED and tested.count(" and ") == 0 else tested
    if not tests:
        return (
            f"checks what {tested or 'it does'} {'gives' if tested.count(' and ') == 0 else 'give'} by assertions"
            if tested
            else "checks the result by assertions"
        )
    names = [quoted(one) for one in titles]
    more = " and others" if len(names) > MOST_TITLES else ""
    said = f" ({', '.join(names[:MOST_TITLES])}{more})" if names else ""
    return f"runs tests{f' of {tested}' if tested else ''}{said}{_doubles(trail)}"


def _doubles(trail: Trail) -> str:
    """Say with what a test replaces something, by names that only tests have."""
    return " with mock functions" if any(map(DOUBLES.search, trail.given)) else ""


DOUBLES = expression(r"(?:^|[.~])(?:(?:jest|vi|mock)\.(?:fn|method|spyOn|mock)|sinon\.(?:stub|fake|mock|spy))$")


def printed_in_words(language: Language | None, trail: Trail) -> str:
    """Return what a program of JavaScript prints; '' where it prints nothing, or where nobody knows."""
    if language is not Language.JAVASCRIPT:
        return ""
    if "console.table" in trail.given:
        return "a table"
    return "text" if any(name in trail.given for name in PRINTS) else ""


PRINTS = ("console.log", "console.info", "console.error", "console.warn", "console.dir", "process.stdout.write")


def without_tests(names: Sequence[str], clause: str) -> list[str]:
    """Return libraries, quoted, without those that a clause about tests says."""
    return [name for name in names if not clause or name.strip("“”").partition(".")[0] not in SAID]


MEMORY_LIBRARIES = words(
    "memfs ioredis-mock redis-mock redis-memory-server mongodb-memory-server pg-mem @electric-sql/pglite mongo-mock "
    "mockingoose fake-indexeddb"
)
"""Libraries of what is kept in memory."""
OPENING = words("connect createClient createConnection createPool MongoClient Client Pool Redis open drizzle")
DESCRIBES = words("drizzle-orm drizzle-orm/sqlite-core drizzle-orm/pg-core drizzle-orm/mysql-core")
"""Libraries that only put tables and conditions into words."""


def is_in_memory(library: str, trail: Trail) -> bool:
    """Return whether a library keeps in memory what it keeps, or is only connected to what is in memory."""
    if library in MEMORY_LIBRARIES or library in DESCRIBES:
        return True
    opened = [
        call
        for name, calls in trail.given.items()
        if package_of(name.replace("()", "")) == library
        and (name == library or name.removesuffix("()").rpartition(".")[2] in OPENING)
        for call in calls
        if call
    ]
    given = (act.get("at").items for act in trail.acts if act.kind == "database" and package_of(act.name) == library)
    opened += [tuple(call) for call in given if call]
    return bool(opened) and all(IN_MEMORY in labels_of(call) for call in opened)


def in_memory_in_words(trail: Trail) -> str:
    """Return what a program of JavaScript does in memory alone; '' where nothing is known of that."""
    loaded = [act.name for act in trail.acts if act.kind == "import" and act.name in MEMORY_LIBRARIES]
    inside = [act for act in trail.acts if act.kind in ("query", "destroy") and IN_MEMORY in act.labels]
    if not loaded or not (inside or "memfs" in loaded):
        return ""
    if "memfs" in loaded:
        return "works on files in memory by “memfs”"
    held = [one.name for one in map(held_by, inside) if one is not None and one.name.strip(HOLE)]
    what = f"{listed([identifier(one) for one in held], 3)} in " if held else ""
    return f"works on {what}a database in memory by {quoted(loaded[-1], 30)}"


def told_at(trail: Trail) -> Place | None:
    """Return where a program calls what tells most of it: what changes something by its name, else its first test."""
    tests = None
    for name, place in trail.called_at.items():
        root, _, rest = name.lstrip("~").replace("()", "").partition(".")
        last = rest.rpartition(".")[2] or root
        if (
            rest
            and PARTS.split(last, maxsplit=1)[0].lower() in CHANGES
            and root not in SAID
            and not is_known_call(name)
        ):
            return place
        if tests is None and (root in ASSERTS or (root in FRAMEWORKS and last in ("test", "it"))):
            tests = place
    return tests


PARTS = expression(r"_|(?<=[a-z0-9])(?=[A-Z])")
CHANGES = words("rename write save update replace delete remove create insert add set move merge convert transform")
"""What names of methods begin with by which a library changes something."""
