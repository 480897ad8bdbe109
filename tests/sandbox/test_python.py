"""How Python code finds its world: as it would without a sandbox around it."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import cryptography
import pytest

from runner.model.request import KnownFile, Language
from runner.model.result import Outcome
from runner.sandbox.contract import ImportRule
from runner.sandbox.local import interpreters
from runner.sandbox.local.sandbox import LocalSandbox
from tests.sandbox.conftest import Lab, only


def test_it_is_the_main_module(bwrap: Lab) -> None:
    code = """
import __main__, pickle, sys
class Thing: pass
assert __name__ == "__main__" and __main__.Thing is Thing
pickle.loads(pickle.dumps(Thing()))
print(sys.argv, __file__, sys.path[-1], sorted(n for n in globals() if not n.startswith("__")))
"""
    result = bwrap.run(code)
    assert result.stderr == ""
    wanted = "['/workspace/main.py'] /workspace/main.py /workspace ['Thing', 'pickle', 'sys']\n"
    assert result.stdout == wanted


def test_the_code_that_was_shown_runs_whatever_encoding_it_declares(bwrap: Lab) -> None:
    assert bwrap.run("# coding: utf-7\nprint('+AGE-')\n# +AAo-print(1)").stdout == "+AGE-\n"
    assert bwrap.run("\ufeffprint('\u00e9')").stdout == "\u00e9\n"


KNOWN = (
    KnownFile("helper.py", "from pkg.sub import value\ndef answer(): return value"),
    KnownFile("pkg/__init__.py", "from . import sub"),
    KnownFile("pkg/sub.py", "value = 42"),
)
SHADOWS = """
import os, subprocess, sys
os.makedirs('helper'), os.makedirs('org/python')
for path in ('helper', 'helper/__init__', 'json', 'org/__init__', 'org/python/__init__', 'org/python/core'):
    open(path + '.py', 'w').write("print('shadow', __file__)")
import copy, json, helper
print(helper.answer(), helper.__file__, helper.__name__)
try:
    import json2, other
except ImportError as error:
    print(error)
"""


def test_known_modules_come_from_their_texts_and_no_others_from_the_workspace(bwrap: Lab) -> None:
    result = bwrap.run(SHADOWS, own_modules=False, known=KNOWN)
    assert result.stderr == ""
    assert result.stdout == "42 /workspace/helper.py helper\nNo module named 'json2'\n"


def test_python_that_the_code_starts_finds_no_module_of_the_workspace_either(bwrap: Lab) -> None:
    code = """
mkdir -p .local/lib/python3.{9,10,11,12,13,14}/site-packages
for folder in .local/lib/*/site-packages; do echo "print('site')" > $folder/usercustomize.py; done
echo "print('shadow')" > json.py
echo "import json" > main.py
for how in main.py '-m json.tool --help'; do python3 $how | grep -E 'shadow|site'; done
python3 -c 'import json'
"""
    assert bwrap.run(code, Language.SHELL, own_modules=False).stdout == ""
    assert "shadow" in bwrap.run(code, Language.SHELL).stdout


def test_variables_in_and_result_out(lab: Lab) -> None:
    result = lab.run("result = {'sum': sum(numbers), 'name': name, 'none': nothing}",
                     context='{"numbers": [1, 2.5], "name": "Zoë", "nothing": null}')  # fmt: skip
    assert result.value == {"sum": 3.5, "name": "Zoë", "none": None}
    assert result.stdout == result.stderr == ""


@pytest.mark.parametrize("value", ["{1, 2}", "float('nan')", "object()"])
def test_a_result_that_json_cannot_carry_comes_as_its_repr(bwrap: Lab, value: str) -> None:
    result = bwrap.run(f"result = {value}")
    assert isinstance(result.value, str)
    assert "JSON cannot carry" in result.stderr
    assert result.outcome is Outcome.OK


def test_printed_json_is_not_taken_for_the_result(bwrap: Lab) -> None:
    result = bwrap.run("print('{\"value\": 1}')\nimport sys; print('{\"value\": 2}', file=sys.stderr)")
    assert result.value is None


def test_a_forged_report_is_no_value(bwrap: Lab) -> None:
    code = "import os\nfor n in range(3, 1024):\n    try: os.write(n, b'\\xff{[')\n    except OSError: pass\nresult = 1"
    result = bwrap.run(code)
    assert result.value is None
    assert result.outcome is Outcome.OK


def test_a_result_too_large_is_said(bwrap: Lab) -> None:
    result = bwrap.run("result = 'x' * 9_000_000")
    assert result.value is None
    assert "larger than 1 MB" in result.stderr


def test_half_a_surrogate_is_not_handed_on(bwrap: Lab) -> None:
    result = bwrap.run("result = {'a': '\\ud800'}")
    assert result.value is None


def test_syntax_errors_look_as_ever(bwrap: Lab) -> None:
    result = bwrap.run("x = 1\ny = = 2\n")
    assert result.stderr.splitlines()[0] == '  File "/workspace/main.py", line 2'
    assert result.stderr.splitlines()[-1].startswith("SyntaxError")
    assert result.exit_code == 1


def test_nul_bytes_are_a_syntax_error(lab: Lab) -> None:
    result = lab.run("print('a')\0\n")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "SyntaxError" in result.stderr
    assert "null bytes" in result.stderr


def test_huge_code_runs(lab: Lab) -> None:
    result = lab.run("x = 1\n" * 150_000 + "print(x)")
    assert result.stdout == "1\n", result.stderr[-300:]


def test_exits_keep_their_status(lab: Lab) -> None:
    assert lab.run("import sys; sys.exit(7)").exit_code == 7
    assert lab.run("raise SystemExit('bye')").stderr == "bye\n"
    assert lab.run("exit(5)").exit_code == 5
    assert lab.run("import os; os._exit(9)").exit_code == 9
    killed = lab.run("import os, signal; os.kill(os.getpid(), signal.SIGABRT)")
    assert killed.exit_code == 128 + 6
    assert killed.error == "Ended by signal 6"


def test_the_hooks_of_the_code_are_its_own(bwrap: Lab) -> None:
    code = """import sys, atexit
atexit.register(print, 'bye')
sys.excepthook = lambda t, e, tb: print('hook', tb.tb_lineno)
1/0
"""
    result = bwrap.run(code)
    assert result.stdout == "hook 4\nbye\n"
    assert result.exit_code == 1


def test_a_forked_child_does_not_report(bwrap: Lab) -> None:
    result = bwrap.run("import os\nresult = 1\nif os.fork() == 0:\n    result = 2\nelse:\n    os.wait()")
    assert result.value == 1


def test_chained_errors_show_no_frame_of_ours(bwrap: Lab) -> None:
    result = bwrap.run("try:\n    1/0\nexcept ZeroDivisionError as e:\n    raise KeyError('k') from e")
    assert result.stderr.count("Traceback") == 2
    assert result.stderr.count("File ") == 2


def test_packages_of_an_interpreter_that_is_named_are_found(bwrap: Lab) -> None:
    named = Lab(bwrap.root, bubblewrap=True)
    named.sandbox = LocalSandbox(bwrap.root, python=sys.executable)
    result = named.run("import pytest, sys; print(pytest.__name__, sys.executable)")
    assert result.stdout == f"pytest {sys.executable}\n", result.stderr


@pytest.mark.parametrize("alone", [True, False], ids=["in its own environment", "beside other packages"])
def test_code_sees_none_of_the_packages_that_assent_needs(monkeypatch: pytest.MonkeyPatch, alone: bool) -> None:
    if not alone:
        monkeypatch.setattr(interpreters, "_base_python", lambda: sys.executable)
    own = {str(Path(cryptography.__file__).parents[1]), str(Path(__file__).parents[2])}
    found = interpreters.find(Language.PYTHON, "")
    assert found.search and not own & set(found.search)
    assert "mcp" not in found.packages
    assert "mcp" in interpreters.find(Language.PYTHON, sys.executable).packages


def test_what_code_sees_is_what_agents_are_told(bwrap: Lab) -> None:
    ready = asyncio.run(bwrap.sandbox.check())
    assert ready.packages.startswith("The standard library of Python 3.")
    result = bwrap.run("import importlib.util as u; result = [u.find_spec(n) is None for n in ('mcp', 'runner')]")
    assert result.value == [True, True]


def test_standard_input(lab: Lab) -> None:
    assert lab.run("import sys; print(sys.stdin.read()[::-1])", stdin="abc").stdout == "cba\n"
    assert lab.run("import sys; print(repr(sys.stdin.read()))").stdout == "''\n"


ALLOWED = only("math", "json")
BYPASSES = [
    "name = 'o' + 's'\n__import__(name)",
    "import json\nimport importlib",
    "exec('import os')",
    "eval(\"__import__('o' + 's')\")",
    "import math\nf = __builtins__.__import__\nf('subpro' + 'cess')",
]


@pytest.mark.parametrize("code", BYPASSES)
def test_imports_that_reading_misses_are_refused_while_running(bwrap: Lab, code: str) -> None:
    result = bwrap.run(code + "\nprint('through')", imports=ALLOWED)
    assert "through" not in result.stdout
    assert result.outcome is Outcome.FAILED
    assert result.meta.blocked_imports
    assert "Allowed: math, json." in result.stderr


def test_import_module_is_guarded(bwrap: Lab) -> None:
    rule = only("importlib")
    result = bwrap.run("import importlib\nimportlib.import_module('o' + 's')", imports=rule)
    assert result.meta.blocked_imports == ("os",)
    assert bwrap.run("import importlib\nimportlib.__import__('o' + 's')", imports=rule).meta.blocked_imports == ("os",)


def test_what_an_allowed_module_imports_is_its_own_affair(bwrap: Lab) -> None:
    result = bwrap.run(
        "import json, statistics\nprint(statistics.mean(json.loads('[1, 3]')))", imports=only("json", "statistics")
    )
    assert result.stdout == "2\n", result.stderr


def test_result_comes_out_although_json_is_not_allowed(bwrap: Lab) -> None:
    assert bwrap.run("result = {'a': 1}", imports=only("math")).value == {"a": 1}


def test_no_rule_blocks_nothing(bwrap: Lab) -> None:
    assert bwrap.run("import os, subprocess, socket; print('ok')", imports=ImportRule()).stdout == "ok\n"


FILLS = """
import os
held = []
for fd in (0, *map(int, os.listdir('/proc/self/fd'))):
    try:
        if 'memfd' in os.readlink(f'/proc/self/fd/{fd}'):
            again = os.open(f'/proc/self/fd/{fd}', os.O_RDWR)
            for way in (fd, again):
                os.lseek(way, 0, os.SEEK_END)
                try:
                    held.append(os.write(way, b'x' * (1 << 20)))
                    os.ftruncate(way, 1 << 30)
                except PermissionError:
                    continue
    except (OSError, PermissionError):
        continue
os.lseek(0, 0, os.SEEK_SET)
print(held, len(open(0).read()))
"""


def test_memory_that_is_handed_in_cannot_be_filled(lab: Lab) -> None:
    """It would count for no limit of the run."""
    result = lab.run(FILLS, stdin="input")
    assert (result.stdout, result.outcome) == ("[] 5\n", Outcome.OK), result


def test_a_report_that_comes_twice_or_after_the_end_is_one_report(bwrap: Lab) -> None:
    twice = bwrap.run(WRITES_AGAIN % "os.write(fd, b'{\"value\": 1}')")
    assert twice.value is None and "cannot be read" in twice.stderr
    late = "if os.fork() == 0:\n            os.setsid(); time.sleep(0.2); os.pwrite(fd, b'{\"value\": 666}', 0)"
    assert bwrap.run(WRITES_AGAIN % late).value == 7


WRITES_AGAIN = """
import os, time
for fd in map(int, os.listdir('/proc/self/fd')):
    try:
        found = 'memfd:report' in os.readlink(f'/proc/self/fd/{fd}')
    except OSError:
        continue
    if found:
        %s
        break
result = 7
"""
