"""Words for the tests that a program of JavaScript runs, and for what it checks by assertions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.model.request import Language
from runner.risk.model.outline_data import words
from runner.risk.verdict.naming import identifier, listed, quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.risk.model.acts import Place, Trail

MOST_TITLES, MOST_TESTED = 2, 2
TESTING = words("test it describe suite context specify beforeEach afterEach before after beforeAll afterAll t")
FRAMEWORKS = words("test vitest @jest/globals mocha ava tap bun:test uvu jest tape qunit")
ASSERTS = words("assert assert/strict chai expect should node:assert @hapi/code power-assert")
SAID_OF_TESTS = FRAMEWORKS | ASSERTS | {"nock"}
"""Libraries that a clause about tests says."""


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


def without_tests(names: Sequence[str], clause: str) -> list[str]:
    """Return libraries, quoted, without those that a clause about tests says."""
    return [name for name in names if not clause or name.strip("“”").partition(".")[0] not in SAID_OF_TESTS]


def first_test(trail: Trail) -> Place | None:
    """Return where a program of JavaScript tests or checks something first."""
    for name, place in trail.called_at.items():
        root, _, rest = name.lstrip("~").replace("()", "").partition(".")
        if root in ASSERTS or (root in FRAMEWORKS and rest.rpartition(".")[2] in ("test", "it")):
            return place
    return None
