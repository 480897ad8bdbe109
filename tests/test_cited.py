"""What comments, docstrings and tests cite: every number of `resources/spec.md` and every page is in the repository."""

from __future__ import annotations

import io
import re
import tokenize
from functools import cache
from pathlib import Path

from tests.test_project import tracked

ROOT = Path(__file__).resolve().parent.parent
SPEC = (ROOT / "resources/spec.md").read_text("utf-8")
CITED = re.compile(r"\bspec(?:\s*\n\s*#?\s*| )([A-Z]\d+(?:(?:, | and | or | to )[A-Z]\d+)*)")
PAGE = re.compile(r"(?<![\w*/.-])((?:[\w.-]+/)*[\w-]+\.md)\b")
ELSEWHERE = re.compile(r"\bsource document|\b(?:first|second|third|fourth) (?:source|document)\b|\bdesign page")
WRITTEN_BY_PEOPLE = ("app/", "runner/", "tests/", "packaging/", "resources/", "images/", "Makefile", "pyproject.toml")


@cache
def numbers() -> tuple[str, ...]:
    """Every number that the page defines, in its order."""
    return tuple(re.findall(r"(?m)^- \*\*([A-Z]\d+)\*\* ", SPEC))


def expanded(cited: str) -> set[str]:
    """The numbers that a citation means: `N1 to N3` is three."""
    found = set(re.findall(r"[A-Z]\d+", cited))
    for letter, first, last in re.findall(r"([A-Z])(\d+) to \1(\d+)", cited):
        found |= {f"{letter}{number}" for number in range(int(first), int(last) + 1)}
    return found


def unknown(text: str) -> set[str]:
    """Numbers that a text cites and the page does not define."""
    return {one for cited in CITED.findall(text) for one in expanded(cited)} - set(numbers())


@cache
def texts() -> dict[str, str]:
    """The files that people write, but for what agents' programs and their samples look like."""
    ours = [name for name in tracked() if name.startswith(WRITTEN_BY_PEOPLE)]
    kept = [name for name in ours if not name.startswith("tests/risk/") or name.endswith(".py")]
    kinds = (".py", ".sh", ".cjs", ".yaml", ".toml", ".md", ".qss", "Makefile")
    return {name: (ROOT / name).read_text("utf-8") for name in kept if name.endswith(kinds) and (ROOT / name).is_file()}


def remarks(program: str) -> str:
    """Comments and docstrings of a Python program: texts that it works with are no citations."""
    parts = []
    before = tokenize.NEWLINE
    depth = 0
    for token in tokenize.generate_tokens(io.StringIO(program).readline):
        begins = before in (tokenize.NEWLINE, tokenize.INDENT, tokenize.NL, tokenize.DEDENT)
        if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and begins and not depth):
            parts.append(token.string)
        if token.type == tokenize.OP:
            depth += (token.string in "([{") - (token.string in ")]}")
        if token.type != tokenize.COMMENT:
            before = token.type
    return "\n".join(parts)


@cache
def pages() -> frozenset[str]:
    """The names of all pages of the repository."""
    return frozenset(Path(one).name for one in tracked() if one.endswith(".md"))


def missing_pages(name: str, text: str) -> set[str]:
    """Pages that the remarks of a file cite, and that are neither beside it, nor below the top, nor called so."""
    if not PAGE.search(text):
        return set()
    said = remarks(text) if name.endswith(".py") else "\n".join(re.findall(r"(?m)^\s*#.*", text))
    places = (ROOT, (ROOT / name).parent)
    return {
        page for page in PAGE.findall(said) if page not in pages() and not any((at / page).is_file() for at in places)
    }


def test_the_page_defines_each_number_once() -> None:
    assert len(numbers()) == len(set(numbers())) > 80


def test_every_number_that_is_cited_is_defined() -> None:
    cited = {one for text in texts().values() for many in CITED.findall(text) for one in expanded(many)}
    assert len(cited) > 40, "the citations are no longer found"
    assert {name: sorted(found) for name, text in texts().items() if (found := unknown(text))} == {}


def test_every_page_that_is_cited_is_in_the_repository() -> None:
    code = {name: text for name, text in texts().items() if name.endswith((".py", ".sh", "Makefile"))}
    missing = {name: sorted(found) for name, text in code.items() if (found := missing_pages(name, text))}
    assert missing == {}


def test_nothing_refers_to_documents_that_only_their_authors_have() -> None:
    here = f"tests/{Path(__file__).name}"
    assert [name for name, text in texts().items() if name != here and ELSEWHERE.search(text)] == []


def test_a_citation_that_leads_nowhere_is_noticed() -> None:
    word = "spec"
    assert unknown(f"One rule ({word} R1, Z9 and R99).") == {"Z9", "R99"}
    assert unknown(f"All of {word} N1 to N6.") == {"N5", "N6"}
    page = "nowhere.md"
    assert missing_pages("runner/x.py", f'"""As {page} has it."""\ntext = [\n    "other.md",\n]\n') == {page}
