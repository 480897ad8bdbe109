"""Functions that a JavaScript test replaces: `sinon.stub(fs, "rm")`, `jest.spyOn(fs, "rm").mockImplementation(...)`.

Such a function does nothing from there on, where the program itself proves it: it never gives it back but at its very
end, and uses the object and the function in no other way than to call it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.held import until_forgotten
from runner.risk.model.outline_data import words
from runner.risk.model.value import UNKNOWN, Value, text
from runner.risk.trace.machine import OFFLINE_LIBRARY

if TYPE_CHECKING:
    from tree_sitter import Node

    from runner.risk.javascript.methods import Args
    from runner.risk.javascript.walker import JavaScript
    from runner.risk.model.acts import Place
    from runner.risk.trace.machine import Machine, Special

    Named = dict[str, Value]

REPLACES = expression(
    r"(?:stub|spyOn)\(\s{0,20}(?P<object>[\w$][\w.$]{0,60})\s{0,20},\s{0,20}['\"](?P<name>\w{1,60})['\"]\s{0,20}\)"
)
AT_END = expression(
    r"(?:afterEach|afterAll|after|teardown)\(\s{0,20}(?:async\s{1,9})?(?:\(\)\s{0,9}=>|function\s{0,9}\(\))\s{0,9}\{?[^{}]{0,400}?\}?\s{0,9}\)"
    r"|[\w.$]{1,60}\.(?:restore|mockRestore|restoreAllMocks)\(\);?(?=\s{0,99}(?:\}\)?;?\s{0,99}){0,4}\Z)"
)
"""What runs when all is over."""
GIVES_BACK = expression(
    r"\b(?:restore\w*|mockRestore|mockReset|resetAllMocks|callThrough\w*|wrappedMethod|callsFake|getOriginal|requireActual|"
    r"importActual|importOriginal|actual|eval|Function|resetModules|isolateModules|unmock|doUnmock|createSandbox|with)\b"
    r"|\.\.\."
)
"""Ways to what was there before, or to another copy of it."""
LONGEST = 200_000


def stubbed(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """sinon.stub(object, "name"): from here on it does nothing."""
    target = _target(args)
    if target and not machine.branches and _only_called(machine, args[1].exact or ""):
        machine.mocked += (target,)
    return Value(name=f"{called.name}()")


def spied(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """jest.spyOn(object, "name"): it still does what it did, until something else is given for it."""
    target = _target(args)
    if not target or not _only_called(machine, args[1].exact or ""):
        return Value(name=f"{called.name}()")
    return Value(name=f"{called.name}()", fields={"target": text(target)})


def given_instead(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """spy.mockImplementation(...): from here on it does something else."""
    target = ((called.owner or UNKNOWN).fields or {}).get("target", UNKNOWN).exact
    own = not args or args[0].function is not None or called.attribute != "mockImplementation"
    if target and own and not machine.branches:
        machine.mocked += (target,)
    return None


def offline(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """nock.disableNetConnect(): from here on requests by HTTP are answered by the test, or fail."""
    walker: JavaScript = machine.walker  # type: ignore[assignment]
    if OFFLINE_LIBRARY in machine.mocked or machine.branches or _reaches_out(walker.written):
        return None
    if _is_statement(walker, place):
        machine.mocked += (OFFLINE_LIBRARY,)
    return None


@lru_cache(maxsize=1)
def _reaches_out(code: str) -> bool:
    """Return whether a program may reach the network for all that, or uses nock for more than to say what it answers.

    Asked for each call of one program.
    """
    code = OF_COMMENT.sub("", code)
    names = {found[1] for found in SWITCHED_OFF.finditer(code)}
    if REACHES_OUT.search(code) is not None or len(names) != 1:
        return True
    name = re.escape(names.pop())
    handed_on = re.findall(rf"(?<![\w.$'\"/-]){name}(?![\w$'\"])(?!\s{{0,9}}(?:\(|\.{USUAL}\b))", code)
    return len(handed_on) != 1  # where it is declared


until_forgotten(_reaches_out.cache_clear)
OF_COMMENT = expression(r"(?m)^[ \t]{0,99}(?://|\*)[^\n`$]*$")
SWITCHED_OFF = expression(r"([A-Za-z_$][\w$]{0,60})\s{0,9}\.\s{0,9}disableNetConnect\s{0,9}\(")
USUAL = "(?:disableNetConnect|cleanAll|isDone|pendingMocks|activeMocks|abortPendingRequests|isActive|define)"
"""What a test uses of nock beside its answers."""


def _is_statement(walker: JavaScript, place: Place) -> bool:
    """Return whether a call is a statement of the program or of a function, before which nothing ends that."""
    at = (place[0] - 1, place[1])
    node = walker.root.named_descendant_for_point_range(at, at) if walker.root is not None else None
    while node is not None and node.type in ("identifier", "member_expression", "call_expression"):
        node = node.parent
    if node is None or node.type != "expression_statement" or node.start_point != at:
        return False
    block = node.parent
    if block is None or not (block.type == "program" or _is_body(block)):
        return False
    return not any(one.type in ENDS_EARLY for one in block.named_children if one.end_point <= at)


def _is_body(block: Node) -> bool:
    """Return whether a block is all of a function, and no part that may be left out."""
    return block.type == "statement_block" and block.parent is not None and block.parent.type in OF_FUNCTIONS


OF_FUNCTIONS = words("arrow_function function_expression function_declaration")
ENDS_EARLY = words("throw_statement return_statement labeled_statement if_statement")


REACHES_OUT = expression(
    r"\b(?:enableNetConnect|allowUnmocked|passthrough|restore\w*|back|recorder|eval|Function|import\s*\(|createRequire|"
    r"Reflect|Proxy|defineProperty|prototype|globalThis|undici|worker_threads|cluster|vm|loadFile|exit|abort|_load|http2)\b"
    r"|\brequire\s*\.\s*(?:cache|extensions)|['\"](?:node:)?(?:module|inspector)['\"]"
    r"|nock\s*\[|import\s*\("
)
"""Ways back to the network, and ways to reach it that a stand-in for HTTP does not see."""


def _target(args: Args) -> str:
    """Return the function that is replaced, by the name of its object; '' where that is not known."""
    if len(args) != 2 or not args[0].name or args[0].others or not args[1].exact:
        return ""
    return f"{args[0].name}.{args[1].exact}".replace("()", "")


def _only_called(machine: Machine, name: str) -> bool:
    """Return whether a program only calls the function that it replaces, by its object, and never gives it back."""
    code = machine.walker.written  # type: ignore[attr-defined]
    if not name or not code or len(code) > LONGEST:
        return False
    code, replacing = _replacing(code)
    found = [match for match in replacing if match["name"] == name]
    if len(found) != 1:
        return False
    owner = re.escape(found[0]["object"])
    first = re.escape(found[0]["object"].partition(".")[0])
    rest = f"{code[: found[0].start()]}\n{code[found[0].end() :]}"
    rest = re.sub(rf"(?<![\w.$]){owner}\.{name}\(|expect\(\s*{owner}\.{name}\s*\)", "", rest)
    rest = re.sub(
        rf"(?:const|let|var)\s+{first}\s*=|import\s+(?:\*\s+as\s+)?{first}\s+from|(?<![\w.$]){first}\.", "", rest
    )
    return re.search(rf"\b(?:{name}|{first})\b", re.sub(r"(['\"])[^'\"\n]{0,200}\1", "", rest)) is None


@lru_cache(maxsize=1)
def _replacing(code: str) -> tuple[str, tuple[re.Match[str], ...]]:
    """Return code without what runs at its end, and where it replaces a function; nowhere where it may give one back.

    Asked for each function that one program replaces.
    """
    code = AT_END.sub("", code)
    return code, () if GIVES_BACK.search(code) is not None else tuple(REPLACES.finditer(code))


until_forgotten(_replacing.cache_clear)

MOCKING: dict[str, Special] = {
    "nock.disableNetConnect": offline,
    "sinon.stub": stubbed,
    **dict.fromkeys((f"{of}.spyOn" for of in ("jest", "vi", "vitest.vi", "@jest/globals.jest")), spied),
    **{
        f"{of}.spyOn.{name}": given_instead
        for of in ("jest", "vi", "vitest.vi", "@jest/globals.jest")
        for name in (
            "mockImplementation",
            "mockReturnValue",
            "mockResolvedValue",
            "mockRejectedValue",
            "mockReturnThis",
        )
    },
}
