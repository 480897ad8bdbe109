"""The line of a syntax error, in each language."""

from __future__ import annotations

import pytest

from runner.model.assessment import WHOLE
from runner.model.request import Language, Request, Tool
from runner.risk.assess import assess

BROKEN = [
    pytest.param(Language.PYTHON, "import os\n\nfor x in range(3)\n    print(x)\n", 3, id="Python"),
    pytest.param(Language.PYTHON, 'import os\nprint "a"\nos.remove("b")\n', 2, id="Python 2"),
    pytest.param(Language.SHELL, "echo a\nfor x in 1 2\n echo $x\ndone\n", 2, id="a loop without do"),
    pytest.param(Language.SHELL, "echo a\nif true; then\n echo c\n\n\n", 3, id="an end that is missing"),
    pytest.param(Language.JAVASCRIPT, "let a = 1;\nfunction x( {\n  return 1\n}\n", 2, id="JavaScript"),
]


@pytest.mark.parametrize(("language", "code", "line"), BROKEN)
def test_a_syntax_error_has_its_line(language: Language, code: str, line: int) -> None:
    found = assess(Request("r", "a", Tool.CODE_EXECUTE, 0.0, language, code))
    places = {one.span.line for one in found.findings if one.id in ("noted.repaired", "hidden.left-out")}
    assert places == {line}
    assert all(one.span != WHOLE for one in found.findings)
    assert found.verdict.look_at is not None and found.verdict.look_at.line == line


@pytest.mark.parametrize("code", ["(" * 3000, "if " * 2000, "\n" * 50 + "}" * 5000, "`" * 999])
@pytest.mark.parametrize("language", [Language.SHELL, Language.JAVASCRIPT])
def test_the_line_of_what_is_broken_throughout_is_one_of_the_code(language: Language, code: str) -> None:
    found = assess(Request("r", "a", Tool.CODE_EXECUTE, 0.0, language, code))
    assert all(1 <= one.span.line <= code.count("\n") + 1 for one in found.findings)
