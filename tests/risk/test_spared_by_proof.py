"""What is not as grave as it looks, where that is proved; and what only looks like the proof."""

from __future__ import annotations

import pytest

from runner.model.assessment import Level
from runner.model.request import Language, Request, Tool
from runner.risk.assess import assess

P, J, S = Language.PYTHON, Language.JAVASCRIPT, Language.SHELL
MOCK = (
    "import shutil, os, threading, atexit\nfrom unittest import mock\nfrom pathlib import Path\nh = Path.home() / 'a'\n"
)
WITH = "with mock.patch('shutil.rmtree') as m:\n    "
OWN = "import os, subprocess, tempfile\nwith tempfile.TemporaryDirectory() as t:\n    "
RESET = "subprocess.run(['git', 'reset', '--hard', 'HEAD~1'], cwd=t"
TIES = (
    "os.environ.update(GIT_DIR='/home/me/p/.git')",
    "os.environ.setdefault('GIT_DIR', '/home/me/p/.git')",
    "os.environ |= {'GIT_DIR': '/home/me/p/.git'}",
    "os.putenv('GIT_DIR', '/home/me/p/.git')",
    "os.environ['GIT_CONFIG_PARAMETERS'] = \"'core.worktree=/home/me/p'\"",
    "from dotenv import load_dotenv; load_dotenv()",
    "setattr(tempfile, 'tempdir', '/home/me/p')",
    "subprocess.run(['git', 'config', 'core.workTree', '/home/me/p'], cwd=t)",
    "subprocess.run(['tar', 'xf', 'a.tar', '-C', t])",
    "shutil.copytree('x', t, dirs_exist_ok=True, symlinks=True)",
)
TIES_OF_SHELL = (
    'ln -s ~/project/.git "$d/"',
    'cd "$d"; ln -s ~/project/.git',
    'cd "$d"; mv ~/project/.git .',
    'git init "$d"; cd "$d/.git"; printf "[core]\\nworktree=/home/me/p" >> config',
    'git -C "$d" config CORE.WorkTree ~/project',
    'cp -a x/. "$d"',
    'mount --bind ~/project "$d"',
    "set -a; source ./env",
    "export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.worktree GIT_CONFIG_VALUE_0=~/project",
)
NODE = (
    "const cp = require('child_process'), fs = require('fs'), os = require('os'); "
    "const d = fs.mkdtempSync(os.tmpdir() + '/a-'); "
)
TIES_OF_NODE = (
    "Object.assign(process.env, { GIT_DIR: '/home/me/p/.git' })",
    "process.loadEnvFile('x')",
    "Reflect.set(process['e' + 'nv'], 'GIT_DIR', '/home/me/p/.git')",
    "require('dotenv').config()",
)


def attention(language: Language, code: str) -> Level:
    said = assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, language, code))
    return said.attention or Level.LOW


@pytest.mark.parametrize(
    ("language", "code"),
    [
        (P, f"{MOCK}@mock.patch('shutil.rmtree')\ndef test(m):\n    shutil.rmtree(h)\n    m.assert_called_once()"),
        (P, f"{MOCK}def clean(p):\n    shutil.rmtree(p)\n{WITH}clean(h)"),
        (P, f"{OWN}{RESET})"),
        (J, f"{NODE}cp.execFileSync('git', ['reset', '--hard'], {{ cwd: d }})"),
        (S, 'd=$(mktemp -d); git init "$d"; git -C "$d" reset --hard'),
        (S, 'd=$(mktemp -d); mkdir "$d/a"; ln -s "$d/a" "$d/b"; rm -rf "$d/b/x"'),
        (P, f"{OWN}def git(at, *args):\n        subprocess.run(['git', *args], cwd=at)\n    git(t, 'clean', '-fdx')"),
        (
            J,
            "import { execa } from 'execa'; import { mkdtemp } from 'node:fs/promises'; import os from 'node:os'; "
            "const d = await mkdtemp(os.tmpdir() + '/a-'); await execa('git', ['reset', '--hard'], { cwd: d });",
        ),
        (P, "import shutil\nfrom pathlib import Path\nr = Path(__file__).resolve().parent.parent\n"
            "for one in r.glob('src/*.egg-info'):\n    shutil.rmtree(one)"),
        (S, "openssl x509 -in certs/site.pem -noout -enddate"),
        (S, "sed 's/=.*//' .env"),
        (S, r"sed -nE 's/^(export )?([A-Z][A-Z0-9_]*)=.*/\2/p' .env"),
        (S, 't=$(mktemp -d); ./client --ca "$t/cert.pem"'),
        (P, "from pathlib import Path\nfrom cryptography import x509\n"
            "print(x509.load_pem_x509_certificate(Path('/etc/ssl/certs/local.pem').read_bytes()).subject)"),
        (
            J,
            "import { execFile } from 'node:child_process'; import { vi, expect } from 'vitest'; "
            "vi.mock('node:child_process', () => ({ execFile: vi.fn() })); "
            "const calls = execFile.mock.calls.map((one) => one[1]); expect(calls).toEqual([]);",
        ),
    ],
)  # fmt: skip
def test_what_is_proved_to_be_harmless_is_not_raised(language: Language, code: str) -> None:
    assert attention(language, code) < Level.HIGH


@pytest.mark.parametrize(
    "code",
    [
        f"def clean(p):\n    shutil.rmtree(p)\n{WITH}clean(h)\nclean(h)",
        f"from shutil import rmtree\n{WITH}rmtree(h)",
        f"r = shutil.rmtree\n{WITH}r(h)",
        f"class X:\n    r = shutil.rmtree\n{WITH}X.r(h)",
        f"def f():\n    shutil.rmtree(h)\n{WITH}threading.Thread(target=f).start()",
        f"def f():\n    shutil.rmtree(h)\n{WITH}atexit.register(f)",
        f"def f():\n    yield 1\n    shutil.rmtree(h)\n{WITH}g = f()\nlist(g)",
        "@mock.patch('shutil.rmtree')\ndef f(m):\n    yield 1\n    shutil.rmtree(h)\nlist(f())",
        f"import asyncio\nasync def f():\n    shutil.rmtree(h)\n{WITH}c = f()\nasyncio.run(c)",
        f"r = shutil.rmtree\n{WITH}m.side_effect = r\n    shutil.rmtree(h)",
        "with mock.patch('shutil.rmtree', wraps=shutil.rmtree):\n    shutil.rmtree(h)",
        f"import contextlib\nmock.patch = lambda x: contextlib.nullcontext()\n{WITH}shutil.rmtree(h)",
        f"{WITH}os.system('rm -rf ~/Documents')",
        "with mock.patch('shutil.move'):\n    shutil.rmtree(h)",
        f"{WITH}f = lambda: shutil.rmtree(h)\nf()",
        f"{WITH}g = (shutil.rmtree(h) for _ in [1])\nlist(g)",
        f"import importlib\n{WITH}importlib.reload(shutil)\n    shutil.rmtree(h)",
        f"r = shutil.rmtree\n{WITH}shutil.rmtree = r\n    shutil.rmtree(h)",
        f"import tarfile\nr = shutil.rmtree\n{WITH}tarfile.shutil.rmtree = r\n    shutil.rmtree(h)",
        f"r = shutil.rmtree\ndef back(self):\n    self.rmtree = r\n{WITH}back(shutil)\n    shutil.rmtree(h)",
        "@mock.patch('shutil.rmtree')\ndef f(m=None):\n    shutil.rmtree(h)\nf.__wrapped__()",
        "import inspect\n@mock.patch('shutil.rmtree')\ndef f(m=None):\n    shutil.rmtree(h)\ninspect.unwrap(f)()",
        "fs = []\ndef keep(f):\n    fs.append(f)\n    return f\n"
        "@mock.patch('shutil.rmtree')\n@keep\ndef f(m=None):\n    shutil.rmtree(h)\nfs[0]()",
        f"import gc\n{WITH}[o.__exit__(None, None, None) for o in gc.get_objects()]\n    shutil.rmtree(h)",
        f"{WITH}next(iter(mock._patch._active_patches)).__exit__(None, None, None)\n    shutil.rmtree(h)",
    ],
)
def test_a_mock_that_is_none_or_is_over_hides_nothing(code: str) -> None:
    assert attention(P, MOCK + code) >= Level.HIGH


@pytest.mark.parametrize(
    ("language", "code"),
    [
        (P, f"{OWN}{RESET}, env={{'GIT_DIR': os.path.expanduser('~/project/.git')}})"),
        (P, f"{OWN}e = dict(os.environ, GIT_DIR=os.path.expanduser('~/project/.git'))\n    {RESET}, env=e)"),
        (P, f"{OWN}e = os.environ.copy()\n    e.update(json.load(open('env.json')))\n    {RESET}, env=e)"),
        (P, f"{OWN}os.environ['GIT_DIR'] = os.path.expanduser('~/project/.git')\n    {RESET})"),
        (P, f"{OWN}os.symlink(os.path.expanduser('~/project/.git'), t + '/.git')\n    {RESET})"),
        (P, f"{OWN}open(t + '/.git', 'w').write('gitdir: /home/me/project/.git')\n    {RESET})"),
        (P, f"{OWN}{RESET} + '/../../home/me/project')"),
        (P, f"{OWN}subprocess.run(['git', '-C', '/home/me/project', 'reset', '--hard'], cwd=t)"),
        (P, f"{OWN}subprocess.run(['git', '--git-dir', '/home/me/p/.git', 'reset', '--hard'], cwd=t)"),
        (S, 'cd "$(mktemp -d)"; export GIT_DIR=~/project/.git; git reset --hard'),
        (S, 'd=$(mktemp -d); ln -s ~/project/.git "$d/.git"; git -C "$d" reset --hard'),
        (S, 'd=$(mktemp -d); git worktree add "$d"; git -C "$d" branch -D main'),
        *((P, f"{OWN}{line}\n    {RESET})") for line in TIES),
        (P, f"{OWN}os.symlink('/home/me/p', t + '/p')\n    {RESET} + '/p')"),
        (P, f"{OWN}o = json.load(open('o.json'))\n    {RESET}, **o)"),
        (J, f"{NODE}const o = require('./o.json'); cp.execFileSync('git', ['reset', '--hard'], {{ ...o, cwd: d }})"),
        (J, f"{NODE}const o = require('./o.json'); o.cwd = d; cp.execFileSync('git', ['reset', '--hard'], o)"),
        (P, f"{OWN}{RESET}, preexec_fn=lambda: os.chdir('/home/me/p'))"),
        *((S, f'd=$(mktemp -d); {line}; git -C "$d" reset --hard') for line in TIES_OF_SHELL),
        (S, 'd=$(mktemp -d); ln -s ~/project "$d/p"; cd "$d/p"; git clean -fdx'),
        (S, 'd=$(TMPDIR=/home/me/project mktemp -d); cd "$d"; git reset --hard'),
        *((J, f"{NODE}{line}; cp.execFileSync('git', ['reset', '--hard'], {{ cwd: d }})") for line in TIES_OF_NODE),
        (P, "import os, shutil, tempfile\nt = tempfile.mkdtemp()\nos.symlink(os.path.expanduser('~'), t + '/p')\n"
            "shutil.rmtree(t + '/p/Documents')"),
        (P, "import os, shutil, sys, tempfile\nt = tempfile.mkdtemp()\n"
            "os.symlink(os.path.realpath(sys.argv[1]), t + '/p')\nshutil.rmtree(t + '/p/x')"),
        (P, "import os, tempfile\nt = tempfile.mkdtemp()\nos.symlink('/home/me/keys', t + '/k')\n"
            "print(open(t + '/k/site.pem').read())"),
        (S, 'd=$(mktemp -d); ln -s ~ "$d/e"; rm -rf "$d/e/"*'),
        (S, 'd=$(mktemp -d); cd "$d"; ln -s ~/project; rm -rf project/src'),
        (S, 'd=$(mktemp -d); ln -s /etc "$d/e"; chmod -R 777 "$d/e/"'),
        (S, "openssl x509 -in /home/me/site.pem --out ~/.bashrc"),
        (S, "openssl x509 -in /home/me/site.pem -writerand ~/.bashrc"),
        (S, "openssl x509 -in /home/me/site.pem -force_pubkey /home/me/site.pem"),
        (S, "openssl x509 -in /home/me/site.pem $MORE"),
        (S, "openssl x509 -in /home/me/site.pem -signkey /home/me/site.pem -out a.pem"),
        (S, "openssl x509 -x509toreq -in /home/me/site.pem -signkey /home/me/site.pem"),
        (S, "openssl rsa -in /home/me/site.pem"),
        (S, "sed 's/FOO=.*//' .env"),
        (S, r"sed -E 's/^([A-Z_]*)=.*/\1/p' .env"),
        (S, r"sed 's/\(.*\)=.*/\1/' .env"),
        (S, r"sed -nE 's/(\S*)=.*/\1/p' .env"),
        (S, "sed 's/=.*/&/' .env"),
        (S, "sed -n 's/=.*//;p' .env"),
        (S, "cat /etc/ssl/certs/../private/site.pem"),
        (S, "cat /home/me/site.pem"),
        (J, "import { execFile } from 'node:child_process'; globalThis.hidden = execFile;"),
        (S, 'set -- ~/Documents; rm -rf "${1:-build}"'),
        (S, 'f() { rm -rf "${1:-build}"; }; f ~/Documents'),
        (S, """bash -c 'rm -rf "${1:-build}"' x ~/Documents"""),
    ],
)  # fmt: skip
def test_what_only_looks_like_the_proof_is_raised(language: Language, code: str) -> None:
    assert attention(language, code) >= Level.HIGH
