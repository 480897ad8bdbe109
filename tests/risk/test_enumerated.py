"""What is found by going through all there is: functions of a module, databases and buckets of a server."""

from __future__ import annotations

import pytest

from runner.model.assessment import Assessment, Level
from runner.model.request import Language, Request, Tool
from runner.risk.assess import assess

P, J = Language.PYTHON, Language.JAVASCRIPT


def assessed(language: Language, code: str) -> Assessment:
    return assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, language, code))


def sentence(language: Language, code: str) -> str:
    return assessed(language, code).verdict.sentence


FS = "const fs = require('fs');\n"


@pytest.mark.parametrize(
    ("language", "code", "of", "line"),
    [
        (P, "import inspect, os\nfor n, f in inspect.getmembers(os):\n    if n == 'remove': f('a')", "os", 3),
        (P, "import os\nfor n, f in vars(os).items():\n    if n[:3] == 'rem':\n        f('a')", "os", 4),
        (P, "import os\nfor f in os.__dict__.values():\n    f('a')", "os", 3),
        (P, "import shutil\nfor n in dir(shutil):\n    getattr(shutil, n)('a')", "shutil", 3),
        (P, "import shutil\nnext(f for n, f in vars(shutil).items() if n == 'rmtree')('a')", "shutil", 2),
        (P, "import os\n[f for f in vars(os).values()][0]('a')", "os", 2),
        (P, "import os\nfor f in vars(os).values():\n    pool.submit(f, 'a')", "os", 3),
        (P, "import builtins\nfor n, f in vars(builtins).items():\n    f('a')", "builtins", 3),
        (J, f"{FS}const all = {{...fs}};\nfor (const k in all) all[k]('a')", "fs", 3),
        (J, f"{FS}Object.values(fs).find(f => f.name === 'rmSync')('a')", "fs", 2),
        (J, f"{FS}Object.entries(fs).find(([n]) => n.startsWith('rmS'))[1]('a')", "fs", 2),
        (J, f"{FS}for (const k in fs) if (k.startsWith('rmS'))\n  fs[k]('a')", "fs", 3),
        (J, f"{FS}for (const [n, f] of Object.entries(fs)) if (n === 'rmSync') f('a')", "fs", 2),
        (J, f"{FS}Object.keys(fs).forEach(k => fs[k]('a'))", "fs", 2),
        (J, f"{FS}Reflect.ownKeys(fs).filter(k => k.length === 6).map(k => fs[k]('a'))", "fs", 2),
        (J, f"{FS}const {{[Object.keys(fs).find(k => k > 'rmR')]: r}} = fs;\nr('a')", "fs", 3),
        (J, f"{FS}for (const k in fs) Promise.resolve('a').then(fs[k])", "fs", 2),
    ],
)
def test_a_function_found_among_all_of_a_module_is_said(language: Language, code: str, of: str, line: int) -> None:
    assessment = assessed(language, code)
    assert f"Calls a function of {of} that it finds by enumeration (line {line})" in assessment.verdict.sentence
    assert assessment.attention is Level.HIGH


@pytest.mark.parametrize(
    ("language", "code"),
    [
        (P, "import os\nfor n in dir(os):\n    print(n.upper())"),
        (P, "import math, inspect\nfor n, f in inspect.getmembers(math):\n    print(f(1.0))"),
        (P, "import inspect, handlers\nfor n, f in inspect.getmembers(handlers, inspect.isfunction):\n    f()"),
        (P, "import signal\nprint({getattr(signal, n): n for n in dir(signal) if n.startswith('SIG')})"),
        (J, f"{FS}for (const k in fs) console.log(k.toUpperCase(), typeof fs[k])"),
        (J, "for (const [n, f] of Object.entries(require('./handlers'))) f(n)"),
    ],
)
def test_a_module_that_is_only_looked_at_is_not_called(language: Language, code: str) -> None:
    assert "enumeration" not in sentence(language, code)
    assert assessed(language, code).attention is None


@pytest.mark.parametrize(
    ("language", "code"),
    [
        (P, "import inspect, os\ndict(inspect.getmembers(os))['remove']('a.txt')"),
        (J, "Object.fromEntries(Object.entries(require('fs'))).unlinkSync('a.txt')"),
        (J, "Object.getOwnPropertyDescriptor(require('fs'), 'unlinkSync').value('a.txt')"),
    ],
)
def test_a_member_is_itself_where_its_name_is_known_after_all(language: Language, code: str) -> None:
    assert "a.txt" in sentence(language, code)
    assert "noted.delete" in {one.id for one in assessed(language, code).findings}


MONGO = "async function f(c) {{ const {{ databases }} = await c.db().admin().listDatabases(); {} }}"
S3 = "const { S3Client, ListBucketsCommand, DeleteBucketCommand } = require('@aws-sdk/client-s3');\n"
GCS = "const { Storage } = require('@google-cloud/storage'); const s = new Storage();\n"


@pytest.mark.parametrize(
    ("language", "code"),
    [
        (J, MONGO.format("for (const d of databases) await c.db(d.name).dropDatabase();")),
        (J, MONGO.format("await Promise.all(databases.map((d) => c.db(d.name).dropDatabase()));")),
        (
            J,
            f"{S3}const c = new S3Client({{}}); const {{ Buckets }} = await c.send(new ListBucketsCommand({{}}));\n"
            "for (const b of Buckets) await c.send(new DeleteBucketCommand({ Bucket: b.Name }));",
        ),
        (J, f"{GCS}const [all] = await s.getBuckets(); for (const b of all) await b.delete();"),
        (
            J,
            "const c = new (require('pg').Client)();\n"
            "const { rows } = await c.query('SELECT datname FROM pg_database');\n"
            'for (const r of rows) await c.query(`DROP DATABASE "${r.datname}"`);',
        ),
        (P, "import boto3\nfor b in boto3.resource('s3').buckets.all():\n    b.delete()"),
        (P, "import pymongo\nc = pymongo.MongoClient()\nfor n in c.list_database_names():\n    c.drop_database(n)"),
        (J, MONGO.format("for (const d of databases) if (d.name !== 'admin') await c.db(d.name).dropDatabase();")),
        (
            J,
            "const { rows } = await db.query(\"SELECT datname FROM pg_database WHERE datname <> 'postgres'\");\n"
            'for (const { datname } of rows) await db.query(`DROP DATABASE "${datname}"`);',
        ),
    ],
)
def test_everything_of_a_server_that_is_deleted_is_critical(language: Language, code: str) -> None:
    assert assessed(language, code).attention is Level.CRITICAL
    said = sentence(language, code)
    assert ": all that there is of the kind" in said or said.startswith("Deletes every database that there is")


@pytest.mark.parametrize(
    ("language", "code"),
    [
        (J, MONGO.format("for (const d of databases) if (d.name.startsWith('t_')) await c.db(d.name).dropDatabase();")),
        (J, MONGO.format("for (const d of databases) if (d.name !== 'shop') await c.db(d.name).dropDatabase();")),
        (
            J,
            MONGO.format(
                "for (const d of databases) { if (KEPT.includes(d.name)) continue; await c.db(d.name).dropDatabase(); }"
            ),
        ),
        (J, MONGO.format("await c.db(databases[0].name).dropDatabase();")),
        (J, f"{GCS}const [all] = await s.getBuckets({{prefix: 'tmp-'}}); for (const b of all) await b.delete();"),
        (J, f"{GCS}const [all] = await s.getBuckets(); for (const b of all.filter(old)) await b.delete();"),
        (P, "import boto3\nfor b in boto3.resource('s3').buckets.all():\n    if b.name in OLD:\n        b.delete()"),
    ],
)
def test_what_is_chosen_among_them_is_not_everything(language: Language, code: str) -> None:
    assert assessed(language, code).attention is Level.HIGH


def test_each_module_is_said_once_and_leaves_room_for_what_else_is_done() -> None:
    many = "".join(f"Object.values(fs)[{n}]('a');\n" for n in range(30))
    said = sentence(J, f"{FS}{many}fetch('https://a.example')")
    assert said == "Calls a function of fs that it finds by enumeration (line 2) and downloads from a.example."
    hidden = "require('child_' + 'process').exec('make');\n"
    assert sentence(J, f"{FS}{hidden}{many}").endswith("(line 3) and runs make.")
    longer = "require('child_' + 'process').exec('node a/very/long/path/to/some_program_with_a_long_name.js');\n"
    assert sentence(J, f"{FS}{longer}{many}").endswith(" and runs a/very/long/path/to/so…m_with_a_long_name.js.")
