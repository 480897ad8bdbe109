"""What the sentence says of names that a loop of the shell spares: where it holds, and nowhere else."""

from __future__ import annotations

import pytest

from runner.model.request import Language, Request, Tool
from runner.risk.assess import assess

LEFT = ", except “dist” and “docs”."
RM = 'rm -rf "$d"'


def shell(code: str) -> str:
    return assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, Language.SHELL, code)).verdict.sentence


def loop(*lines: str, over: str = "*", before: str = "") -> str:
    return f"{before}\nfor d in {over}; do\n" + "\n".join(f"  {line}" for line in lines) + "\ndone\n"


SKIP = '[ "$d" = dist ] && continue'
BOTH = '[ "$d" = dist ] || [ "$d" = docs ] && continue'
LEAVES_OUT = [
    loop(BOTH, RM),
    loop(SKIP, '[ "$d" != docs ] && rm -rf -- "$d"'),
    loop('if [[ $d == dist || $d == "docs" ]]; then continue; fi', RM),
    loop('if test "$d" = dist; then continue; elif [ docs = x ] || [ "$d" = docs ]; then break; fi', RM),
    loop('case "$d" in dist|docs) continue ;; esac', 'rm -rf "./$d" 2>/dev/null'),
    loop("case $d in dist|docs) ;; *) " + RM + " ;; esac"),
    loop('[ "$d" = dist/ ] && continue', '[ "${d%/}" = docs ] || rm -r "${d%/}"', over="*/"),
    loop('[ "$d" = ./dist ] && { echo kept; continue; }', "[ \"$d\" = './docs' ] && continue || true", RM, over="./*"),
    loop('name=$(basename "$d")', 'case "$name" in dist|docs) continue;; esac', RM, over="build/*"),
    loop("n=${d##*/}", '[ "$n" = dist ] && continue', '[[ $n != docs ]] && rm -rf "build/$n"', over="build/*"),
    loop('[ "$d" = "$R/dist" ] && continue', '[ "$d" = "${R}/docs" ] && continue', RM, over='"$R"/*', before="R=$1"),
    "set -euo pipefail\nls -1 | grep -vE '^(dist)$' | wc -l\nls -1 | grep -vxE 'dist|docs' | xargs -d '\\n' -r rm -rf",
    r"ls | grep -v -e dist -e docs | xargs -d '\n' rm",
    r"ls | grep -v '^dist$' | grep -vF docs | xargs -r -d '\n' rm --",
]
NOT_SPARED = [
    # another name, another order, another turn
    loop(RM, BOTH),
    loop('[ "$d" = dist ] && echo kept', RM),
    loop('[ "$d" = dist ] && continue', RM, over="*/"),
    loop('[ "$d" = dist ] && continue', RM, over="build/*"),
    loop('[ "$d" = build/dist ] && continue', 'rm -rf "build"', over="build/*"),
    loop('[ "$d" = dist ] || continue', RM),
    loop('[ "$d" != dist ] && continue', RM),
    loop('[ "$d" = dist ] && [ -d "$d" ] && continue', RM),
    loop('if [ "$d" = dist ] && [ -f x ]; then continue; fi', RM),
    loop('if [ "$d" = dist ]; then continue; fi > log/a', RM),
    loop('{ [ "$d" = dist ] && continue; } > log/a', RM),
    loop('[ "$d" = dist ] && continue > log/a', RM),
    loop('( [ "$d" = dist ] && continue )', RM),
    loop('[ "$d" = dist ] && continue &', RM),
    loop('echo "$d" | while true; do [ "$d" = dist ] && continue; done', RM),
    loop('for e in 1; do [ "$d" = dist ] && continue; done', RM),
    loop('[ "$d" = dist ] && continue 0', RM),
    loop('case "$d" in d*) ;; dist) continue ;; esac', RM),
    loop('case "$d" in dist) ;; esac', RM),
    loop('case "$d" in dist) continue ;& x) ;; esac', RM),
    loop('case "$d" in dist*) continue ;; esac', RM),
    loop('case "$d" in dist) ' + RM + " ;; esac"),
    loop("case x in dist) continue ;; esac", RM),
    loop(SKIP, 'rm -rf "$d" dist'),
    loop(SKIP, 'rm -rf "../$d"'),
    loop(SKIP, 'rm -rf "$d"/../dist'),
    loop('[ "$d" = dist/.. ] && continue', RM),
    # words that are split, or that something changes
    loop(SKIP, "rm -rf $d"),
    loop("[ $d = dist ] && continue", RM),
    loop(SKIP, RM, before="IFS=d"),
    loop(SKIP, "d=dist", RM),
    loop(SKIP, 'for d in dist; do rm -rf "$d"; done'),
    loop(SKIP, "read d", RM),
    loop(SKIP, "printf -v d dist", RM),
    loop(SKIP, "eval d=dist", RM),
    loop(SKIP, 'echo "${e:=1}" $((d = 1))', RM),
    loop(SKIP, RM, before="continue() { :; }"),
    loop(SKIP, RM, before="alias continue=:"),
    loop(SKIP, RM, before="PATH=.:$PATH"),
    loop(SKIP, RM, before="mv dist other"),
    loop(SKIP, RM, before="ln -s dist other"),
    loop(SKIP, "cd ..", RM),
    loop(SKIP, RM, over="dist other"),
    loop(SKIP, RM, over="$(ls)"),
    loop("R=x", '[ "$d" = "$R/dist" ] && continue', RM, over='"$R"/*'),
    loop('[ "$d" = "${R}x/dist" ] && continue', RM, over='"$Rx"/*'),
    loop("[ -f x ] && n=${d##*/}", '[ "$n" = dist ] && continue', RM),
    loop("n=${d##*/}", '[ "$n" = dist ] && continue', RM, over="*/"),
    loop("n=${d##*/}", "n=$d", '[ "$n" = dist ] && continue', RM),
    # lists of names, of which a pipe makes others
    "ls | grep -v dist | xargs rm -rf",
    "ls | grep -vx dist | xargs -I{} rm -rf {}",
    r"ls build | grep -v dist | xargs -d '\n' rm -rf",
    r"ls -F | grep -vx dist | xargs -d '\n' rm -rf",
    r"ls | grep dist | xargs -d '\n' rm -rf",
    r"ls | grep -vc dist | xargs -d '\n' rm -rf",
    r"ls | grep -v 'di[s]t' | xargs -d '\n' rm -rf",
    r"ls | grep -vF 'dist|docs' | xargs -d '\n' rm -rf",
    r"ls | grep -v dist other | xargs -d '\n' rm -rf",
    r"ls | grep -v dist | sed s/x// | xargs -d '\n' rm -rf",
    r"ls | grep -v dist | xargs -d '\n' rm -rf dist",
    r"ls | grep -v dist | xargs -d t rm -rf",
]


@pytest.mark.parametrize("code", LEAVES_OUT, ids=range(len(LEAVES_OUT)))
def test_names_that_are_left_out(code: str) -> None:
    assert shell(code).endswith(LEFT)


@pytest.mark.parametrize("code", NOT_SPARED, ids=range(len(NOT_SPARED)))
def test_nothing_is_said_to_be_spared_that_may_be_deleted(code: str) -> None:
    assert ", except" not in shell(code)


def test_the_folder_is_named() -> None:
    assert shell(loop('[ "$d" = build/dist ] && continue', RM, over="build/*")) == (
        "Deletes what it finds in “build”, except “dist”."
    )
    assert shell(loop(SKIP, RM)) == "Deletes everything in its working folder, except “dist”."
    assert shell(loop(RM)) == "Deletes everything in its working folder."


def test_scripts_made_to_be_costly_are_left_alone() -> None:
    deep = loop("if true; then " * 200 + SKIP + "; fi" * 200, RM)
    many = "\n".join(loop(SKIP, RM) for _ in range(200))
    assert ", except" not in shell(deep)
    assert "eletes" in shell(many)
