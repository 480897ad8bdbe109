"""What a sentence once said less of than is true: each code here deletes, writes or reads more than it seems to."""

from __future__ import annotations

import pytest

from runner.model.assessment import Level
from runner.model.request import Language, Request, Tool
from runner.risk.assess import assess

P, J, S = Language.PYTHON, Language.JAVASCRIPT, Language.SHELL
RUN = "$(rm -rf Documents)"
DELETED = "Deletes the folder “Documents”"


def sentence(language: Language, code: str) -> str:
    return assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, language, code)).verdict.sentence


@pytest.mark.parametrize(
    "code",
    [
        f"[[ -v 'a[{RUN}]' ]]",
        f"test -v 'a[{RUN}]'",
        f"[[ -n x && 'a[{RUN}]' -eq 0 ]]",
        f"x='a[{RUN}]'; echo $((x + 1))",
        f"x='1 + a[{RUN}]'; [[ x -gt 0 ]]",
        f"let 'a[{RUN}]'",
        f"declare -i y='a[{RUN}]'",
        f"declare -n r=x; x='a[{RUN}]'; echo $r",
        f"read 'a[{RUN}]' <<< 1",
        f"printf -v 'a[{RUN}]' x",
        f"unset 'a[{RUN}]'",
        f"add() {{ echo $(($1 + 1)); }}; add 'a[{RUN}]'",
        f"for ((i='a[{RUN}]'; i < 1; i++)); do :; done",
        f"x='{RUN}'; echo ${{x@P}}",
        f"PS4='{RUN}'; set -x; echo",
        "mapfile -tC 'rm -rf Documents #' lines < list.txt",
        "sed -e '1e rm -rf Documents' -e p list.txt",
        "sed -i '1e rm -rf Documents' list.txt",
        """awk '{print | "rm -rf Documents"}' list.txt""",
    ],
)
def test_what_a_shell_runs_of_a_text_is_said(code: str) -> None:
    assert sentence(S, code).startswith(DELETED)


@pytest.mark.parametrize(
    "code",
    ["awk '{a[$(NF - 1)]++}' f", "x='a[1]'; echo $x", 'log="log[$(date +%F)]"; echo "$log"', "echo 'a[$(rm x)]'"],
)
def test_what_only_looks_like_a_subscript_is_no_command(code: str) -> None:
    assert "Runs" not in sentence(S, code)
    assert "Deletes" not in sentence(S, code)


@pytest.mark.parametrize(
    ("language", "code", "said"),
    [
        (S, """awk '{print > "out.txt"}' f""", "Writes out.txt and reads “f”."),
        (S, "awk '{print $1 > $2}' f", "Writes a file worked out at run time and reads “f”."),
        (S, "awk '{print \"a>b\", ($1 > 5)}' f", "Reads “f”; changes nothing."),
        (S, "awk '$3 > 5 {print $1}' f", "Reads “f”; changes nothing."),
        (S, "sed -n 'w out.txt' f", "Writes out.txt and reads “f”."),
        (S, "sed 's/a/b/gw out.txt' f", "Writes out.txt and reads “f”."),
        (S, "sed 's/foo/wow bar/' f", "Reads “f”; changes nothing."),
        (S, "sort -u -o out.csv in.csv", "Writes out.csv and reads in.csv."),
        (S, "sort -n f", "Reads “f”; changes nothing."),
        (S, "grep -n x f", "Reads “f”; changes nothing."),
        (S, "hash -p ./evil ls; ls", "Runs “hash -p ./evil ls” and “evil”."),
        (S, "export PATH=.:$PATH; ls", "Sets PATH, which changes what programs run."),
        (S, "PATH=./node_modules/.bin:$PATH make", "Runs make."),
        (P, "import os\nos.rename('a.txt', '/dev/null')", "Moves a.txt to /dev/null."),
        (P, "import os\nos.open('a.txt', os.O_WRONLY | os.O_TRUNC)", "Writes a.txt and reads a.txt."),
        (P, "import os\nos.open('a.txt', os.O_RDONLY)", "Reads a.txt; changes nothing."),
        (P, "import io\nio.FileIO('a.txt', 'w')", "Writes a.txt."),
        (P, "import posix\nposix.remove('a.txt')", "Deletes a.txt."),
        (P, "from posix import remove as show\nshow('a.txt')", "Deletes a.txt."),
        (P, "import random\nrandom._os.remove('a.txt')", "Deletes a.txt."),
        (P, "from pathlib import os\nos.remove('a.txt')", "Deletes a.txt."),
        (P, "import sys\nsys.modules.get('os').remove('a.txt')", "Deletes a.txt."),
        (P, "import os\nx: os.remove('a.txt') = 1", "Deletes a.txt."),
        (P, "from pathlib import Path\nPath('d/x.md').with_suffix('.txt').unlink()", "Deletes d/x.txt."),
        (P, "from pathlib import Path\nPath('d').joinpath('x.md').unlink()", "Deletes d/x.md."),
        (P, "from pathlib import Path\nPath('d/e/x.md').parents[1].rmdir()", "Deletes “d”."),
        (
            P,
            "from pathlib import Path\nfor p in Path('d').iterdir():\n    p.with_name('a').unlink()",
            "Deletes d/a.",
        ),
        (P, "import logging\nlogging.basicConfig(filename='a.txt', filemode='w')", "Writes a.txt."),
        (J, "'a.txt'.replace(/.+/, require('fs').unlinkSync)", "Deletes a.txt."),
        (J, "require('fs').openSync('a.txt', 'w')", "Writes a.txt and reads a.txt."),
        (J, "require('fs').openSync('a.txt')", "Reads a.txt; changes nothing."),
        (J, "require('fs').promises.open('a.txt', 'a')", "Writes a.txt and reads a.txt."),
        (J, "new (require('fs').WriteStream)('a.txt')", "Writes a.txt."),
        (J, "require('fs').chownSync('a.txt', 0, 0)", "Changes the rights of a.txt."),
        (J, "import('fs').then((m) => m.default.unlinkSync('a.txt'))", "Deletes a.txt."),
        (J, "let {a = require('fs').unlinkSync('a.txt')} = {}", "Deletes a.txt."),
        (J, "require.main.require('fs').unlinkSync('a.txt')", "Deletes a.txt."),
        (J, 'await import(\'data:text/javascript,import fs from "fs";fs.unlinkSync("a.txt")\')', "Deletes a.txt."),
        (J, "Object.assign(console, {log: require('fs').unlinkSync}); console.log('a.txt')", "Deletes a.txt."),
    ],
)
def test_a_sentence_says_no_less_than_is_true(language: Language, code: str, said: str) -> None:
    assert sentence(language, code) == said


@pytest.mark.parametrize(
    "command", ["cat -n", "cat -b", "grep -n root", "grep -c x", "wc -c", "tail -f", "od -c", "sort -n"]
)
def test_an_option_without_a_value_hides_no_file(command: str) -> None:
    assessed = assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, S, f"{command} /etc/shadow"))
    assert assessed.level is Level.CRITICAL
    assert "/etc/shadow" in assessed.verdict.sentence


@pytest.mark.parametrize(
    "code",
    [
        "grep --file=/etc/shadow x",
        "grep -f /etc/shadow x",
        "wc --files0-from=/etc/shadow",
        "xargs -a /etc/shadow echo",
        "tar -czf x.tgz -C /etc shadow",
        "perl -ne print /etc/shadow",
        "ruby -pe 1 /etc/shadow",
        "curl file:///etc/shadow",
        "cat /proc/self/root/etc/shadow",
    ],
)
def test_a_file_with_passwords_is_named_however_it_is_read(code: str) -> None:
    assessed = assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, S, code))
    assert assessed.level is Level.CRITICAL
    assert "shadow" in assessed.verdict.sentence


@pytest.mark.parametrize(
    "made", ["copy.copy(os.remove)", "functools.cache(os.remove)", "typing.cast(object, os.remove)"]
)
def test_a_function_that_is_passed_through_another_is_the_same(made: str) -> None:
    assert sentence(P, f"import copy, functools, os, typing\n{made}('a.txt')") == "Deletes a.txt."


def test_the_older_form_of_xargs_runs_what_follows_it() -> None:
    assert sentence(S, "echo Documents | xargs -i rm -rf {}") == f"{DELETED}."


def test_a_folder_that_the_program_names_itself_is_not_called_temporary() -> None:
    code = "import shutil, tempfile\ntempfile.mkdtemp = lambda: '/home/u'\nshutil.rmtree(tempfile.mkdtemp())"
    assert "/home/u" in sentence(P, code)


SPARING = "find data -mindepth 1 -maxdepth 1 ! -name a.txt -exec rm -rf {} +\n"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("", "Deletes what it finds in “data”, except a.txt."),
        ("find data -mindepth 1 -maxdepth 1 -exec rm -rf {} +", "Deletes what it finds in “data”."),
        ("rm c.txt", "Deletes c.txt and what it finds in “data”, except a.txt."),
    ],
)
def test_what_one_deletion_leaves_is_not_said_of_another(more: str, said: str) -> None:
    assert sentence(Language.SHELL, f"{SPARING}{more}") == said
