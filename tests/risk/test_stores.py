"""Whether a database, a repository or a client is only a trial of the program's own."""

from __future__ import annotations

import pytest

from runner.model.assessment import Level
from runner.model.request import Language, Request, Tool
from runner.risk.assess import assess

PYTHON, JAVASCRIPT, SHELL = Language.PYTHON, Language.JAVASCRIPT, Language.SHELL
MOCKED = (
    'import { mockClient } from "aws-sdk-client-mock"; '
    'import { S3Client, DeleteBucketCommand } from "@aws-sdk/client-s3";'
)
DELETES = "await new S3Client({}).send(new DeleteBucketCommand({ Bucket: 'a' }));"


def assessed(language: Language, code: str) -> tuple[bool, str]:
    """Return whether something is raised, and the sentence."""
    found = assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, language, code))
    assert found.verdict is not None
    return any(one.level >= Level.MEDIUM for one in found.findings), found.verdict.sentence


@pytest.mark.parametrize(
    ("language", "code"),
    [
        (SHELL, '(cd "$(mktemp -d)" && true); git reset --hard'),
        (SHELL, 'd=$(mktemp -d); [ -d x ] && cd "$d"; git reset --hard'),
        (SHELL, 'if false; then cd "$(mktemp -d)"; fi; git reset --hard'),
        (SHELL, 'pushd "$(mktemp -d)"; popd; git reset --hard'),
        (SHELL, 'x="$(cd "$(mktemp -d)" && pwd)"; git reset --hard'),
        (SHELL, 'd=$(mktemp -d); if true; then d=/srv/prod; fi; git -C "$d" reset --hard'),
        (SHELL, 'd=$(mktemp -d); git -C "$d" --work-tree=/srv/app reset --hard'),
        (SHELL, 'd=$(mktemp -d); redis-cli -s "$d/s" get a; redis-cli flushall'),
        (SHELL, 'd=$(mktemp); sqlite3 shop.db "delete from a"'),
        (
            PYTHON,
            "import sqlite3, tempfile\np = tempfile.mkdtemp()\nif p:\n    p = '/srv/a.db'\n"
            "sqlite3.connect(p).execute('DROP TABLE a')",
        ),
        (PYTHON, "import duckdb\ndef f(path):\n    duckdb.connect(path).execute('DROP TABLE a')"),
        (
            PYTHON,
            "import boto3\nfrom moto import mock_aws\n@mock_aws\ndef f():\n    pass\n"
            "boto3.client('s3').delete_bucket(Bucket='a')",
        ),
        (
            PYTHON,
            "import sqlite3\nfrom shop.models import Order\nsqlite3.connect(':memory:')\nOrder.objects.all().delete()",
        ),
        (PYTHON, "def f(db, old):\n    for one in old:\n        db.execute('DELETE FROM a WHERE id = ?', (one,))"),
        (
            PYTHON,
            "from sqlalchemy import create_engine\n"
            "create_engine('postgresql://a', application_name=':memory:').connect().execute('DELETE FROM a')",
        ),
        (
            JAVASCRIPT,
            "new (require('sequelize').Sequelize)({ dialect: 'mysql', storage: ':memory:' }).sync({ force: true })",
        ),
        (
            PYTHON,
            "import boto3\nfrom unittest.mock import MagicMock\n"
            "MagicMock(wraps=boto3.client('s3')).delete_bucket(Bucket='a')",
        ),
        (
            PYTHON,
            "from unittest.mock import patch\nimport shop\n"
            "with patch('shop.db', shop.real) as db:\n    db.execute('DELETE FROM a')",
        ),
        (PYTHON, "def f(db):\n    db.execute('DELETE FROM a WHERE id = id')"),
        (PYTHON, "def f(db):\n    db.execute('DELETE FROM a WHERE paid; DELETE FROM b WHERE id = 1')"),
        (PYTHON, "def f(db):\n    db.execute('WITH x AS (DELETE FROM a WHERE paid) SELECT 1 FROM b WHERE id = 1')"),
        (PYTHON, "def f(db):\n    db.execute('DELETE FROM a WHERE id = ? OR paid', (1,))"),
        (PYTHON, "def f(db):\n    db.execute('BEGIN; DELETE FROM a; COMMIT; ROLLBACK')"),
        (JAVASCRIPT, f"{MOCKED} const m = mockClient(S3Client); m.restore(); {DELETES}"),
        (JAVASCRIPT, f"{MOCKED} mockClient(new S3Client({{}})); {DELETES}"),
        (JAVASCRIPT, "ids.forEach((id) => User.deleteMany({ _id: id }))"),
        (JAVASCRIPT, "User.deleteMany({ _id: { $gt: 0 } })"),
        (JAVASCRIPT, "require('nodemailer').createTransport({ jsonTransport: false }).sendMail({ to: all })"),
    ],
)
def test_what_may_be_real_is_raised(language: Language, code: str) -> None:
    assert assessed(language, code)[0]


@pytest.mark.parametrize(
    ("language", "code"),
    [
        (SHELL, 'd=$(mktemp -d); cd "$d" && git init -q && git commit --allow-empty -m x; git reset --hard'),
        (SHELL, 'd=$(mktemp -d); cd "$d" || exit 1; git init; git clean -fdx'),
        (SHELL, 'd=$(mktemp -d); redis-cli -s "$d/s" flushall'),
        (SHELL, 'd=$(mktemp); sqlite3 "$d" "delete from a"'),
        (SHELL, "git clean -nfd"),
        (
            PYTHON,
            "import os, sqlite3, tempfile\nwith tempfile.TemporaryDirectory() as d:\n"
            "    sqlite3.connect(os.path.join(d, 'a')).execute('DROP TABLE a')",
        ),
        (PYTHON, "import duckdb\nduckdb.connect().execute('DROP TABLE a')"),
        (
            PYTHON,
            "import pytest, sqlite3\n@pytest.fixture\ndef db():\n"
            "    yield sqlite3.connect(':memory:')\ndef test_a(db):\n"
            "    db.execute('DELETE FROM a')",
        ),
        (
            PYTHON,
            "import fakeredis, unittest\nclass T(unittest.TestCase):\n    def setUp(self):\n"
            "        self.r = fakeredis.FakeRedis()\n    def tearDown(self):\n"
            "        self.r.flushall()",
        ),
        (
            PYTHON,
            "from unittest.mock import MagicMock\ndef empty(s3):\n"
            "    s3.delete_bucket(Bucket='a')\ndef test_empty():\n    empty(MagicMock())",
        ),
        (PYTHON, "def f(db):\n    db.execute('BEGIN; DELETE FROM a; ROLLBACK')"),
        (PYTHON, "from unittest.mock import patch\nwith patch('shop.db') as db:\n    db.execute('DELETE FROM a')"),
        (JAVASCRIPT, f"{MOCKED} mockClient(S3Client); {DELETES}"),
        (JAVASCRIPT, "require('nodemailer').createTransport({ jsonTransport: true }).sendMail({ to: all })"),
        (
            JAVASCRIPT,
            "new (require('sequelize').Sequelize)({ dialect: 'sqlite', storage: ':memory:' }).sync({ force: true })",
        ),
        (
            JAVASCRIPT,
            "const db = require('knex')({ client: 'sqlite3', connection: { filename: ':memory:' } }); db('a').del()",
        ),
        (JAVASCRIPT, "const db = require('knex')({ client: 'pg' }); console.log(db('a').del().toSQL())"),
    ],
)
def test_what_is_only_a_trial_is_not_raised(language: Language, code: str) -> None:
    assert not assessed(language, code)[0]


@pytest.mark.parametrize(
    ("language", "code", "words", "said"),
    [
        (JAVASCRIPT, "const a = new (require('https').Agent)({ rejectUnauthorized: false });", "trusts whatever", True),
        (JAVASCRIPT, "const a = new (require('https').Agent)({ rejectUnauthorized: true });", "trusts whatever", False),
        (SHELL, "stress-ng --cpu 4", "takes up the processor and the memory without end", True),
        (SHELL, "stress-ng --version", "takes up", False),
        (SHELL, "gh api -X DELETE repos/a/b", "deletes “repos/a/b” in the forge (gh)", True),
        (SHELL, "gh api repos/a/b", "deletes", False),
        (SHELL, "git gc --prune=now", "throws away commits that no branch holds", True),
        (SHELL, "git gc", "throws away", False),
        (PYTHON, "import boto3\nprint(boto3.client('ssm').get_parameter(Name='a'))", "prints stored secrets", True),
        (PYTHON, "import boto3\nlen(boto3.client('ssm').get_parameter(Name='a'))", "stored secrets", False),
    ],
)
def test_the_sentence(language: Language, code: str, words: str, *, said: bool) -> None:
    assert (words in assessed(language, code)[1].lower()) is said
