"""Whatever the code is, there is an assessment, soon; what takes too much is CRITICAL and says so."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from runner.model.assessment import Level
from runner.model.request import Language, Request, Tool
from runner.risk.assess import assess

PYTHON, SHELL, JAVASCRIPT = Language.PYTHON, Language.SHELL, Language.JAVASCRIPT
MOST_EXAMPLES = 60
FEW = settings(max_examples=MOST_EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), database=None)
PIECES = {
    PYTHON: r"""x = ( ) [ ] { } : lambda exec eval import os def f(): return 'a' # if else for in + * **
    % b'\x' f'{ @ ; . , 1 0x \n \t""",
    SHELL: r"""rm -rf / $( ) ` { } | & ; && || <<EOF ' " $x ${ } eval [ ] (( )) <( > 2>&1 if then fi for do done
    \ # * ? \n""",
    JAVASCRIPT: r"""x = ( ) [ ] { } => function class `${ ` eval require('fs') + ! ? : ; , . ... /a/ ' " // /*
    */ await 1e9 \n""",
    **dict.fromkeys(
        (Language.GO, Language.RUST, Language.JAVA),
        r"""x = := ( ) [ ] { } ; , . :: ! fn func main class new File import use std::fs os remove_file delete println!
        "a" 'b' ` \u0022 \u000a // /* */ unsafe # #[path=" package macro_rules! $ -> => & * < > let const f.g() \n""",
    ),
}


def level(language: Language, code: str) -> Level:
    return assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, language, code)).level


@FEW
@example(Language.SHELL, "echo 0#")  # the grammar finds nothing but a comment in what it cannot read
@given(st.sampled_from(list(Language)), st.text(max_size=300))
def test_any_text_gets_an_assessment(language: Language, code: str) -> None:
    assert level(language, code) >= Level.HIGH


@FEW
@given(st.sampled_from(list(Language)), st.binary(max_size=300))
def test_any_bytes_get_an_assessment(language: Language, code: bytes) -> None:
    assert level(language, code.decode("utf-8", "surrogateescape")) >= Level.HIGH


@FEW
@given(st.sampled_from(list(Language)), st.data())
def test_any_heap_of_pieces_gets_an_assessment(language: Language, data: st.DataObject) -> None:
    pieces = data.draw(st.lists(st.sampled_from(PIECES[language].split(" ")), max_size=80))
    assert level(language, " ".join(pieces)) >= Level.HIGH


def wrapped(code: str, times: int) -> str:
    for _ in range(times):
        code = "bash -c " + shlex.quote(code)
    return code


ANYTHING = {
    "nested parentheses": (PYTHON, "(" * 20_000 + ")" * 20_000),
    "nested lists": (PYTHON, "x=" + "[" * 2_000 + "]" * 2_000),
    "a long chain of attributes": (PYTHON, "a" + ".b" * 20_000),
    "nested lambdas": (PYTHON, "x=" + "lambda:" * 2_000 + "1"),
    "a text that doubles": (PYTHON, 'x="a"\n' + "x=x+x\n" * 2_000 + "exec(x)"),
    "a list that doubles": (PYTHON, 'x=["a"]\n' + "x=[x,x]\n" * 2_000 + "exec(x)"),
    "a list that holds itself": (PYTHON, "x=[]\n" + "x.append(x)\n" * 200 + "requests.post(x)"),
    "huge repetitions": (PYTHON, 'x="a"*10**9\ny=[1]*10**9\nexec(x)\nbytes(10**9)\nrange(10**12)'),
    "huge numbers": (PYTHON, "x=9**9**9\ny=1<<10**9\n(1).to_bytes(10**9, 'big')"),
    "huge widths": (PYTHON, '"{:1000000000}".format(1); "%1000000000d" % 1; "a".zfill(10**9)'),
    "functions that call each other": (PYTHON, 'def f(a): return g(a+"x")\ndef g(a): return f(a+"y")+f(a)\nf("")'),
    "an eval of itself": (PYTHON, 'x="exec(x+x)"\nexec(x+x)'),
    "operators that call themselves": (PYTHON, "class A:\n def __add__(self, o): return self + o\nA() + 1"),
    "nested arrays": (JAVASCRIPT, "[" * 20_000),
    "nested templates": (JAVASCRIPT, "`${" * 2_000),
    "arrows": (JAVASCRIPT, "a=>" * 3_000 + "1"),
    "huge texts": (JAVASCRIPT, '"a".repeat(1e9);Array(1e9).fill(0);"a".padEnd(1e9)'),
    "a regular expression that backtracks": (JAVASCRIPT, '"' + "a" * 20_000 + '".replace(/(a+)+$/, "b")'),
    "an object that holds itself": (JAVASCRIPT, "x={};x.a=x;x.b=x;fetch(x);y=[];y.push(y);eval(y)"),
    "nested substitutions": (SHELL, "echo " + "$(" * 500 + "ls" + ")" * 500),
    "braces that multiply": (SHELL, "echo " + "{a,b}" * 40 + "{1..999999}"),
    "an alias of itself": (SHELL, 'shopt -s expand_aliases\nalias a="b b"\nalias b="a a"\na'),
    "variables that double": (SHELL, "x=a\n" + "x=$x$x\n" * 2_000 + "$x"),
    "functions of functions": (SHELL, "\n".join(f"f{i}(){{ f{i + 1}; f{i + 1}; }}" for i in range(40)) + "\nf0"),
    "a range of all characters": (SHELL, "echo a | tr '\0-\U0010ffff' b"),
    "sudo without end": (SHELL, "sudo " * 2_000 + "ls"),
}


@pytest.mark.parametrize("name", ANYTHING)
def test_bombs_get_an_assessment(name: str) -> None:
    assert level(*ANYTHING[name]) >= Level.HIGH


PICTURE = """
from PIL import Image
pixels = []
for y in range(2160):
    for x in range(3840):
        pixels.append((x % 256, y % 256, (x * y) % 255))
grid = [[(x * y) % 7 for x in range(900)] for y in range(900)]
for row in grid:
    line = "".join("#" if cell > 3 else "." for cell in row)
    print(line)
image = Image.new("RGB", (3840, 2160))
image.putdata(pixels)
image.save("picture.png")
"""
OF_LARGE_NUMBERS = {
    "a picture": (PYTHON, PICTURE),
    "comprehensions in comprehensions": (PYTHON, "[[[x for x in range(999)] for y in range(999)] for z in range(999)]"),
    "reduce in reduce": (JAVASCRIPT, "x=[" + '"a",' * 200 + '];x.reduce((a,b)=>x.reduce((c,d)=>c+d+a,c),"")'),
    "map in map": (JAVASCRIPT, "x=[" + '"a",' * 120 + "];x.map(a=>x.map(b=>x.map(c=>a+b+c)))"),
    "loops in a loop": (
        JAVASCRIPT,
        "s='';for(let i=0;i<3000;i++){for(let j=0;j<3000;j++){s+=i*j}}",
    ),
}


@pytest.mark.parametrize("name", OF_LARGE_NUMBERS)
def test_a_loop_costs_what_its_code_is_and_not_its_numbers(name: str) -> None:
    found = assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, *OF_LARGE_NUMBERS[name]))
    assert found.level is Level.HIGH
    assert found.attention is None


TOO_LARGE = {
    "a long text that is made again and again": (PYTHON, "x = 'a' * 400_000\n" + "y = x[:-1] + 'b'\n" * 600),
    "more characters than are read": (SHELL, "echo hi\n" * 300_000),
}


@pytest.mark.parametrize("name", TOO_LARGE)
def test_too_much_work_is_critical_and_says_so(name: str) -> None:
    language, code = TOO_LARGE[name]
    found = assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, language, code))
    assert found.level is Level.CRITICAL
    assert any("too large to assess" in reason for reason in found.reasons)


def test_code_in_code_without_end_is_critical() -> None:
    assert level(SHELL, wrapped("ls", 9)) is Level.CRITICAL
