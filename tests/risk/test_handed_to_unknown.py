"""What is not known is said, with what it is handed: programs, libraries, functions that are picked at run time."""

from __future__ import annotations

import pytest

from runner.model.assessment import Assessment, Level
from runner.model.request import Language, Request, Tool
from runner.risk.assess import assess

P, J, S = Language.PYTHON, Language.JAVASCRIPT, Language.SHELL


def assessed(language: Language, code: str) -> Assessment:
    return assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, language, code))


@pytest.mark.parametrize(
    ("language", "code", "said"),
    [
        (S, 'cleanup-tool --all "$HOME"', "Hands the home folder to cleanup-tool, which Assent does not know."),
        (S, "cleanup-tool --folder=~", "Hands the home folder to cleanup-tool, which Assent does not know."),
        (S, "syswipe ~", "Hands the home folder to “syswipe”, which Assent does not know."),
        (S, "git-wipe ~", "Hands the home folder to git-wipe, which Assent does not know."),
        (
            S,
            "uvx cleaner ~/Documents",
            "Hands ~/Documents to “cleaner”, which Assent does not know, and installs “cleaner” to run "
            "“uvx cleaner ~/Documents”.",
        ),
        (S, "python3 -m cleaner ~/Documents", "Hands ~/Documents to “cleaner”, which Assent does not know."),
        (
            S,
            ': "${RM:=rm}"; "$RM" -rf "$HOME/Documents"',
            "Hands ~/Documents to a program worked out at run time.",
        ),
        (S, "env | backup-tool", "Hands environment variables to backup-tool, which Assent does not know."),
        (
            P,
            "import toolbox\ntoolbox.sync(dict(__import__('os').environ))",
            "Hands environment variables to “toolbox”, which Assent does not know, and calls sync of “toolbox”.",
        ),
        (
            J,
            "import { sync } from 'toolbox'; sync(process.env);",
            "Hands environment variables to “toolbox”, which Assent does not know.",
        ),
    ],
)
def test_what_is_not_known_is_said_with_what_it_is_handed(language: Language, code: str, said: str) -> None:
    found = assessed(language, code)
    assert found.verdict.sentence == said
    assert found.attention is Level.HIGH
    assert not found.whole


@pytest.mark.parametrize(
    ("language", "code"),
    [
        (P, "import toolbox\ntoolbox.wipe('/home/me', force=True)"),
        (J, "const t = require('toolbox'); t.wipe(process.env.HOME + '/Documents');"),
        (S, "cleanup-tool ~/projects/a/notes.txt"),
        (P, "import toolbox\ntoolbox.replace_copy('/home/me/notes')"),
    ],
)
def test_a_place_of_the_person_is_worth_a_look(language: Language, code: str) -> None:
    found = assessed(language, code)
    assert found.attention is Level.MEDIUM
    assert found.verdict.sentence.startswith("Hands ")


@pytest.mark.parametrize(
    ("language", "code"),
    [
        (S, "ls ~/Documents"),
        (S, "convert ~/a.png a.jpg"),
        (S, "cleanup-tool build"),
        (S, "npx prettier --write ~/project/src --no-install"),
        (P, "import openai, os\nc = openai.OpenAI(api_key=os.environ['OPENAI_API_KEY'])\nc.models.list()"),
        (P, "import os\nprint(os.path.basename('/home/me'))"),
        (P, "import os\nhome = os.environ.get('HOME', '/')\nprint('home:', home)"),
        (J, "import express from 'express'; express().get('/users', (q, r) => r.send('x'));"),
        (J, "import { z } from 'zod'; z.object({}).parse(process.env);"),
    ],
)
def test_what_is_known_or_gets_nothing_of_the_kind_is_not(language: Language, code: str) -> None:
    assert assessed(language, code).attention in (None, Level.MEDIUM if code.startswith("npx") else None)


def test_a_key_for_a_library_is_said_and_no_alarm() -> None:
    found = assessed(P, "import toolbox, os\nprint(toolbox.Client(key=os.environ['API_KEY']).list())")
    assert found.verdict.sentence == (
        "Hands the value of API_KEY to “toolbox”, which Assent does not know, calls list of “toolbox” and prints "
        "results."
    )
    assert found.attention is None


def test_a_program_that_is_not_known_never_only_reads() -> None:
    assert "eads" not in assessed(S, "cleanup-tool a.txt ./b.txt /srv/c").verdict.sentence


@pytest.mark.parametrize("code", ["query-tool <<'E'\ndrop x\nE\n", "query-tool -e 'drop x'", "ed -s a.txt <<< '!rm x'"])
def test_a_text_that_a_program_may_run_is_said_and_was_not_read(code: str) -> None:
    found = assessed(S, code)
    assert "a text that it may run" in found.verdict.sentence
    assert not found.whole


@pytest.mark.parametrize(
    "code",
    [
        "import { rmSync } from 'node:fs';\nconsole.log(+{ [Symbol.toPrimitive]: rmSync.bind(null, 'a') });",
        "import fs from 'node:fs';\nObject.defineProperty(globalThis, 'x', { get: fs.rmSync.bind(fs, 'a') });",
        "const { rm } = require('fs');\nconst f = require('util').promisify(rm);\nfor (const g of [f].values()) g(1);",
        "import { rmSync } from 'fs';\nmodule.exports.hook = rmSync;",
        "const { exec: run } = require('child_process');\nregister({ run });",
    ],
)
def test_a_function_of_node_that_is_handed_on_is_said(code: str) -> None:
    found = assessed(J, code)
    assert found.attention is Level.HIGH
    assert found.verdict.sentence.startswith("Hands on ")


@pytest.mark.parametrize(
    "code",
    [
        "const fs = require('fs');\nfs.rmSync('a.txt');",
        "import { rmSync } from 'fs';\nrmSync('a.txt');",
        "const fs = require('fs');\n['a.txt'].forEach(fs.unlinkSync);",
        "const fs = require('fs');\ntest('x', () => { expect(fs.unlinkSync).toHaveBeenCalledTimes(1); });",
        "const fs = require('fs');\njest.spyOn(fs, 'rmSync');",
        "const remove = (x) => x;\n[1].map(remove);",
        "const { spawn } = require('child_process');\nspawn('ls');",
    ],
)
def test_one_of_node_that_is_called_or_asked_about_is_not(code: str) -> None:
    assert not any(one.id == "hidden.handed-on" for one in assessed(J, code).findings)


@pytest.mark.parametrize(
    ("language", "code", "id"),
    [
        (P, "import shutil\ndef f(lib):\n    return lib\nf(shutil)", "hidden.handed-on"),
        (P, "import operator, sys\noperator.attrgetter(name())(sys)", "hidden.handed-on"),
        (P, "import logging.config\nlogging.config.dictConfig({'()': 'os.unlink'})", "hidden.handed-on"),
        (P, "import gc\nfor o in gc.get_objects():\n    o['unlink']('a')", "hidden.enumerated"),
        (P, "def f():\n    pass\nf.__code__ = f.__code__.replace(co_names=())", "hidden.replaced-code"),
        (J, "const fs = require('fs');\nconst v = await find();\nfs[v]('a');", "hidden.computed"),
        (
            J,
            "import { createRequire } from 'module';\ncreateRequire('/')(names.find(f))['unlinkSync']('a');",
            "hidden.computed",
        ),
    ],
)
def test_reflection_that_may_reach_what_does_harm_is_high(language: Language, code: str, id: str) -> None:
    found = assessed(language, code)
    assert id in {one.id for one in found.findings}
    assert found.attention is not None and found.attention >= Level.HIGH


@pytest.mark.parametrize(
    ("language", "code", "deed"),
    [
        (P, "import pkgutil\npkgutil.resolve_name('os:unlink')('a.txt')", "Deletes a.txt."),
        (P, "import pydoc\npydoc.locate('os').unlink('a.txt')", "Deletes a.txt."),
        (P, "import sys\nsys.modules.pop('posix').unlink('a.txt')", "Deletes a.txt."),
        (P, "get_ipython().system('rm a.txt')", "Deletes a.txt."),
        (S, 'run() { local -n c=$1; "${c[@]}"; }\nwords=(rm a.txt)\nrun words\n', "Deletes a.txt."),
        (S, "history -s 'rm a.txt'\nfc -s rm", "Deletes a.txt"),
        (S, "tar -czf n.tgz --remove-files -C build a.txt", "Deletes the folder build/a.txt"),
    ],
)
def test_a_roundabout_way_is_followed(language: Language, code: str, deed: str) -> None:
    assert assessed(language, code).verdict.sentence.startswith(deed)


def test_the_home_folder_is_known_as_perl_writes_it() -> None:
    assert assessed(S, "perl -e 'unlink glob \"$ENV{HOME}/Documents/*\"'").attention is Level.HIGH
