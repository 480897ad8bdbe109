"""What the sentence says of names and ages that a loop spares: where it holds, and nowhere else."""

from __future__ import annotations

import pytest

from runner.model.request import Language, Request, Tool
from runner.risk.assess import assess

HEAD = """import os, shutil, sys, time
from datetime import datetime, timedelta
from pathlib import Path
KEEP = {"dist", "docs"}
BASE = Path("build")
"""
LEFT = ", except “dist” and “docs”."
OLD = " older than 7 days in "
WHOLE = "Deletes what it finds in “build”."


def python(code: str) -> str:
    request = Request("id", "agent", Tool.CODE_EXECUTE, 0.0, Language.PYTHON, HEAD + code)
    return assess(request).verdict.sentence


def shell(code: str) -> str:
    return assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, Language.SHELL, code)).verdict.sentence


def loop(*lines: str, over: str = "BASE.iterdir()", before: str = "") -> str:
    """Return a loop over a folder; each of `lines` stands in it."""
    return f"{before}\nfor child in {over}:\n" + "\n".join(f"    {line}" for line in lines)


LEAVES_OUT = [
    loop("if child.name in KEEP: continue", "shutil.rmtree(child)"),
    loop("if child.name not in KEEP:", "    shutil.rmtree(child)"),
    loop("if child.name in KEEP or child.is_file(): continue", "shutil.rmtree(child)"),
    loop("if not child.name in KEEP and child.is_dir():", "    shutil.rmtree(child)"),
    loop("if child.name == 'dist': continue", "if 'docs' != child.name: shutil.rmtree(child)"),
    loop("if child.name in KEEP:", "    print(child)", "else:", "    shutil.rmtree(child)"),
    loop("name = child.name", "if name in ('dist', 'docs'): continue", "shutil.rmtree(str(child))"),
    loop(
        "if kept(child): continue",
        "shutil.rmtree(child)",
        before="def kept(path):\n    return path.name in KEEP",
        over="sorted(BASE.iterdir(), key=lambda one: one.name)",
    ),
    loop(
        "if child in KEEP: continue",
        "path = os.path.join(ROOT, child)",
        "shutil.rmtree(path)",
        before="ROOT = 'build'",
        over="os.listdir(ROOT)",
    ),
    loop("try:", "    if child.name in KEEP: continue", "    shutil.rmtree(child)", "except OSError:", "    print(1)"),
]
OLDER = [
    loop("if time.time() - child.stat().st_mtime > 7 * 86400: shutil.rmtree(child)"),
    loop("if child.stat().st_mtime < time.time() - 7 * 24 * 60 * 60: shutil.rmtree(child)"),
    loop(
        "age = now - os.path.getmtime(child)",
        "if age <= 604800: continue",
        "shutil.rmtree(child)",
        before="now = time.time()",
    ),
    loop("if (time.time() - child.stat().st_mtime) / 86400 >= DAYS: shutil.rmtree(child)", before="DAYS = 7"),
    loop(
        "changed = datetime.fromtimestamp(child.stat().st_mtime)",
        "if changed >= LIMIT: continue",
        "shutil.rmtree(child)",
        before="LIMIT = datetime.now() - timedelta(days=7)",
    ),
    loop(
        "if not old(child): continue",
        "shutil.rmtree(child)",
        before='def old(path):\n    """Say so."""\n    return time.time() - path.stat().st_mtime > 7 * 86400',
    ),
]
NOT_SPARED = [
    # another file, another order, another turn
    loop("shutil.rmtree(child)", "if child.name in KEEP: continue"),
    loop("if child.name in KEEP: print(child)", "shutil.rmtree(child)"),
    loop("if child.name in KEEP and child.is_file(): continue", "shutil.rmtree(child)"),
    loop("if child.name not in KEEP or child.is_dir():", "    shutil.rmtree(child)"),
    loop("if child.name in KEEP:", "    shutil.rmtree(child)"),
    loop("if child.name in KEEP: continue", "child = BASE / 'dist'", "shutil.rmtree(child)"),
    loop("if child.name in KEEP: continue", "for child in BASE.iterdir(): shutil.rmtree(child)"),
    loop("if child.parent.name in KEEP: continue", "shutil.rmtree(child)"),
    loop("try:", "    if child.name in KEEP: continue", "except OSError: pass", "shutil.rmtree(child)"),
    loop(
        "if child.name in KEEP: continue",
        "later.append(lambda: shutil.rmtree(child))",
        before="later = []",
    )
    + "\nfor one in later:\n    one()",
    # names that change
    loop("if child.name in KEEP: continue", "shutil.rmtree(child)", before="KEEP.clear()"),
    loop("if child.name in KEEP: continue", "shutil.rmtree(child)", before="KEEP = set(sys.argv)"),
    loop("if child.name in KEEP: continue", "shutil.rmtree(child)", before="def f(keep): keep.clear()\nf(KEEP)"),
    loop("if child.name in KEEP: continue", "shutil.rmtree(child)", before="KEEP -= {'dist'}"),
    loop("if child.name in 'dist docs': continue", "shutil.rmtree(child)"),
    loop("if child.name in [*KEEP]: continue", "shutil.rmtree(child)"),
    loop("if child.name in ('dist/', 'dist ', 'd\u0456st', ''): continue", "shutil.rmtree(child)"),
    # names that are not what they seem
    loop("if child.name in KEEP: continue", "shutil.rmtree(child)", before="class Path(type(BASE)): name = ''"),
    loop("if child.name in KEEP: continue", "shutil.rmtree(child)", before="Path.name = property(id)"),
    loop("if child.name in KEEP: continue", "shutil.rmtree(child)", before="exec(input())"),
    loop("if child.name in KEEP: continue", "shutil.rmtree(child)", before="setattr(Path, 'name', '')"),
    loop("if child.name in KEEP: continue", "shutil.rmtree(child)", before="import plugins"),
    loop("if child.name in KEEP: continue", "shutil.rmtree(child)", before="(BASE / 'dist').rename(BASE / 'x')"),
    loop("if child.name in KEEP: continue", "shutil.rmtree(child)", before="def print(x): KEEP.clear()"),
    loop("if child.name in KEEP: continue", "shutil.rmtree(child)", over="BASE.rglob('*')"),
    loop("if child.name in KEEP: continue", "shutil.rmtree(child)", over="BASE.glob('..')"),
    loop("if child.name in KEEP: continue", "os.removedirs(child)"),
    loop("if child.name in KEEP: continue", "shutil.rmtree(child.parent)"),
    # ages
    loop("if time.time() - child.stat().st_mtime < 7 * 86400: shutil.rmtree(child)"),
    loop("if child.stat().st_mtime - time.time() > 7 * 86400: shutil.rmtree(child)"),
    loop("if time.time() - child.stat().st_mtime > -7: shutil.rmtree(child)"),
    loop("if time.time() - BASE.stat().st_mtime > 604800: shutil.rmtree(child)"),
    loop("if time.time() + child.stat().st_mtime > 604800: shutil.rmtree(child)"),
    loop("if time.time() - child.stat().st_size > 604800: shutil.rmtree(child)"),
    loop("os.utime(child, (0, 0))", "if time.time() - child.stat().st_mtime > 604800: shutil.rmtree(child)"),
    loop("if time() - child.stat().st_mtime > 604800: shutil.rmtree(child)", before="def time(): return 9e9"),
    loop(
        "if age > 604800: shutil.rmtree(child)",
        "age = time.time() - child.stat().st_mtime",
        before="",
    ),
    loop(
        "if old(child): shutil.rmtree(child)",
        before="def old(path):\n    path = BASE\n    return time.time() - path.stat().st_mtime > 604800",
    ),
    loop("if time.time() - child.stat().st_mtime > DAYS: shutil.rmtree(child)", before="DAYS = int(sys.argv[1])"),
]


@pytest.mark.parametrize("code", LEAVES_OUT, ids=range(len(LEAVES_OUT)))
def test_names_that_a_loop_leaves_out(code: str) -> None:
    assert python(code).endswith(LEFT)


@pytest.mark.parametrize("code", OLDER, ids=range(len(OLDER)))
def test_the_age_from_which_on_a_loop_deletes(code: str) -> None:
    assert python(code) == f"Deletes every folder{OLD}“build”."


@pytest.mark.parametrize("code", NOT_SPARED, ids=range(len(NOT_SPARED)))
def test_nothing_is_said_to_be_spared_that_may_be_deleted(code: str) -> None:
    said = python(code)
    assert "eletes" in said
    assert not any(word in said for word in (", except", " older than"))


def test_both_at_once_and_for_files() -> None:
    both = loop(
        "if child.name in KEEP: continue",
        "if time.time() - child.stat().st_mtime > 90 * 60: child.unlink()",
    )
    assert python(both) == "Deletes every file older than 90 minutes in “build”, except “dist” and “docs”."
    empty = loop("if time.time() - child.stat().st_mtime > 3600: child.rmdir()")
    assert python(empty) == "Deletes what is older than 1 hour in “build”."
    assert python(loop("shutil.rmtree(child)")) == WHOLE


FINDS = [
    ("find logs -mtime +7 -delete", "Deletes what is older than 7 days in “logs”."),
    ("find logs -name '*.log' -mmin +90 -delete", "Deletes what is older than 90 minutes in “logs”."),
    ("find -L logs -mtime +7 -delete", "Deletes what is older than 7 days in “logs”."),
    (
        "find . -maxdepth 1 ! -name dist -mtime +7 -exec rm -rf {} +",
        "Deletes what is older than 7 days in its working folder, except “dist”.",
    ),
    ("find . -not -path './dist/*' -delete", "Deletes what it finds in its working folder, except ./dist/*."),
]
NOT_FOUND = [
    "find logs -delete -mtime +7",
    "find logs -mtime -7 -delete",
    "find logs ! -mtime +7 -delete",
    "find logs -mtime +7 -o -delete",
    "find logs -mtime +7 -o -name x -delete",
    r"find logs \( -mtime +7 -o -true \) -delete",
    "find logs ! -name dist -delete",
    "find . ! -path 'dist/*' -delete",
    "find . ! -path ./dist -delete",
    "find src . ! -path './dist/*' -delete",
    "find . -maxdepth 1 ! -name 'dist ' -delete",
    "find logs -maxdepth 1 -name dist -delete",
    "find * -mtime +7 -delete",
    'find "$1" -mtime +7 -delete',
    'find logs -mtime "+$1" -delete',
    "find logs -mtime +7 $1 -delete",
    "find logs -mtime +0 -delete",
    "find logs -mtime +7 -exec sh -c 'rm -rf logs/all' ';'",
    "find logs -mtime +7 -exec rm -rf {} ../other +",
]


@pytest.mark.parametrize(("code", "said"), FINDS)
def test_a_find_spares_what_its_tests_leave_out(code: str, said: str) -> None:
    assert shell(code) == said


@pytest.mark.parametrize("code", NOT_FOUND)
def test_a_find_spares_nothing_else(code: str) -> None:
    said = shell(code)
    assert "eletes" in said
    assert not any(word in said for word in (", except", " older than"))


def test_a_name_that_is_left_out_cannot_pose_as_words_of_ours() -> None:
    names = ("nothing", "nothing, and touches no files", "x” “y")
    assert python(loop(f"if child.name in {names}: continue", "shutil.rmtree(child)")) == (
        "Deletes what it finds in “build”, except “nothing”."
    )


def test_programs_made_to_be_costly_are_left_alone() -> None:
    doubled = "\n".join(f"a{n} = a{n + 1} + a{n + 1}" for n in range(40))
    branches = "\n".join(f"    elif child.name == '{n}': pass" for n in range(400))
    code = loop("if a0 > child.stat().st_mtime: pass", before=doubled) + f"\n{branches}\n    else: shutil.rmtree(child)"
    assert "eletes" in python(code)
