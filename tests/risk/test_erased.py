"""TypeScript without its types is JavaScript with the same lines."""

from __future__ import annotations

import pytest

from runner.risk.javascript.erased import is_javascript, without_types
from runner.risk.javascript.syntax import root_of

TYPED = """\
import type { X } from 'x';
import { type Y, z } from 'y';
interface A { a: string; b?: number }
export type B = A | null;
enum Color { Red, Green = 5, Blue }
abstract class K<T extends object> extends Base<T> implements A {
  private readonly n: number = 1;
  constructor(private x: string, public readonly y?: number) { super(); }
  abstract go(): void;
  protected async run<U>(a: U, b?: string): Promise<U> { return a as unknown as U; }
}
function f(this: Window, a: string, ...rest: number[]): asserts a is string { const q = a!; return <any>q; }
const g = async (x: string): Promise<void> => { console.log(x satisfies string); };
let u: Map<string, number> = new Map<string, number>();
"""


def test_what_is_left_is_javascript_in_the_same_lines() -> None:
    plain = without_types(TYPED)
    assert not root_of(plain).has_error, plain
    assert plain.count("\n") == TYPED.count("\n")
    lines = plain.split("\n")
    assert lines[4] == "var Color = { Red: 0, Green: 5, Blue: 6 };"
    assert "super();  this.x = x; this.y = y;" in lines[7] and "console.log(x" in lines[12]
    assert not [word for word in ("interface", "Promise", "string", "private", "satisfies") if word in plain]


ENDS = {
    "let a: any = b\ntype X = A\n(foo)()\n": ";\n(foo)",
    "let x: any\n(foo)()\n": ";\n(foo)",
    "interface A {}\n(foo)()\n": ";\n(foo)",
    "f()\nfunction over(a: string): void\n(foo)()\n": ";\n(foo)",
    "class K {\n x: any\n [foo] = 1\n}\n": ";\n [foo]",
    "export type B = 1\n(foo)()\n": ";\n(foo)",
}
"""Code in which a statement ends with a type, and without it would go on in the next line; and how it has to end."""


@pytest.mark.parametrize(("code", "end"), ENDS.items())
def test_a_statement_that_ends_with_a_type_ends_there_without_it(code: str, end: str) -> None:
    plain = without_types(code)
    assert end in plain and is_javascript(plain)


def test_a_return_keeps_its_value() -> None:
    assert " ".join(without_types("function f() { return <any>\n true }\n").split()) == "function f() { return true }"


@pytest.mark.parametrize("code", ["const a = { b: 1 };\n", "a < b > (c);\n", "x ? y : z;\n", "this is neither {{{\n"])
def test_what_is_no_typescript_stays_as_it_is(code: str) -> None:
    assert without_types(code) == code


def test_a_nest_of_a_thousand_is_no_matter() -> None:
    code = "let a: number = " + "(" * 1000 + "1 as number" + ")" * 1000 + ";\n"
    assert without_types(code) in (code, code.replace(": number", " " * 8).replace("as number", " " * 9))
