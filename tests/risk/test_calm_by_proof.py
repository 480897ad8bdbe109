"""What the code itself proves to do no harm is not raised, and is where it may do it after all."""

from __future__ import annotations

import pytest

from runner.model.assessment import Level
from runner.model.request import Language, Request, Tool
from runner.risk.assess import assess

P, J, S = Language.PYTHON, Language.JAVASCRIPT, Language.SHELL


def attention(language: Language, code: str) -> Level:
    said = assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, language, code))
    return said.attention or Level.LOW


AWS = 'aws() { echo "aws $*"; }\n'
GONE = "aws s3 rm --recursive s3://backups\n"
CALM_FUNCTIONS = [
    f"{AWS}{GONE}",
    'rm() { echo "rm $*"; }\nfor d in ~/Documents ~/Pictures; do rm -rf "$d"; done | sort\n',
    "kubectl() { printf '%s\\n' \"$*\" >> calls.log; }\nkubectl delete namespace prod\n",
]
REAL_PROGRAMS = [
    f'aws() {{ echo "$*"; command aws "$@"; }}\n{GONE}',
    f'aws() {{ echo x; /usr/bin/aws "$@"; }}\n{GONE}',
    f'aws() {{ echo $(/usr/bin/aws "$@"); }}\n{GONE}',
    f"{AWS}unset -f aws\n{GONE}",
    f'{AWS}u=un; u="${{u}}set"; $u -f aws\n{GONE}',
    f"{AWS}/usr/bin/{GONE}",
    f"{AWS}env {GONE}",
    f"{AWS}sudo {GONE}",
    f"{AWS}echo s3://backups | xargs aws s3 rm --recursive\n",
    f"{AWS}bash -c 'aws s3 rm --recursive s3://backups'\n",
    f"{GONE}{AWS}",
    f'if [ -n "$DRY" ]; then {AWS.strip()}; fi\n{GONE}',
    f"({AWS.strip()}; )\n{GONE}",
    f"{AWS.strip()} &\n{GONE}",
    f'{AWS}aws() {{ /opt/aws "$@"; }}\n{GONE}',
    f"{AWS}source ./real.sh\n{GONE}",
    f"{AWS}parallel {GONE}",
]


@pytest.mark.parametrize("code", CALM_FUNCTIONS)
def test_a_function_that_only_says_its_arguments_is_no_program(code: str) -> None:
    assert attention(S, code) < Level.HIGH


@pytest.mark.parametrize("code", REAL_PROGRAMS)
def test_a_program_behind_a_function_is_raised(code: str) -> None:
    assert attention(S, code) >= Level.HIGH


HEAD = "import shutil, os\nHOME = os.path.expanduser('~')\n"
WIPE = "shutil.rmtree(HOME)\n"
JS_HEAD = "const fs = require('fs'); const os = require('os');\n"
JS_WIPE = "fs.rmSync(os.homedir(), { recursive: true });"
NOT_TAKEN = [
    (P, f"{HEAD}DRY = True\nif not DRY:\n    {WIPE}"),
    (P, f"{HEAD}REAL = False\nif REAL:\n    {WIPE}"),
    (P, f"{HEAD}DRY = True\nif DRY:\n    print('would')\nelse:\n    {WIPE}"),
    (J, f"{JS_HEAD}const DRY = true;\nif (!DRY) {JS_WIPE}"),
    (J, f"{JS_HEAD}const DRY = true;\nif (DRY) {{ console.log('would'); }} else {{ {JS_WIPE} }}"),
]
MAY_BE_TAKEN = [
    (P, f"{HEAD}DRY = False\nif not DRY:\n    {WIPE}"),
    (P, f"{HEAD}DRY = True\ndef arm():\n    global DRY\n    DRY = False\narm()\nif not DRY:\n    {WIPE}"),
    (P, f"{HEAD}DRY = True\nfrom other import *\nif not DRY:\n    {WIPE}"),
    (P, f"{HEAD}DRY = True\nglobals()['DRY'] = False\nif not DRY:\n    {WIPE}"),
    (P, f"{HEAD}DRY = True\ndef wipe(DRY):\n    if not DRY:\n        {WIPE}wipe(False)\n"),
    (P, f"{HEAD}DRY = True\ndef wipe():\n    {WIPE}if not DRY:\n    wipe()\nwipe()\n"),
    (P, f"{HEAD}DRY = bool(os.environ.get('DRY'))\nif not DRY:\n    {WIPE}"),
    (P, f"{HEAD}from unittest.mock import patch\nDRY = True\npatch('__main__.DRY', False).start()\nif not DRY: {WIPE}"),
    (P, f"{HEAD}import pkgutil\nDRY = True\npkgutil.resolve_name('__ma' + 'in__').DRY = False\nif not DRY: {WIPE}"),
    (P, f"{HEAD}def f(): pass\nDRY = True\ngetattr(f, '__glo' + 'bals__')['D' + 'RY'] = False\nif not DRY: {WIPE}"),
    (P, f"{HEAD}import job\nDRY = True\njob.main.DRY = False\nif not DRY: {WIPE}"),
    (P, f"{HEAD}import cProfile\nDRY = True\ncProfile.run('DRY = False')\nif not DRY: {WIPE}"),
    (J, f"{JS_HEAD}let DRY = true;\nDRY = false;\nif (!DRY) {JS_WIPE}"),
    (J, f"{JS_HEAD}const DRY = true;\nfunction go(DRY) {{ if (!DRY) {JS_WIPE} }}\ngo(false);"),
    (J, f"{JS_HEAD}const DRY = true;\nfor (const {{ DRY }} of [{{ DRY: false }}]) {{ if (!DRY) {JS_WIPE} }}"),
    (J, f"{JS_HEAD}const DRY = true;\n[false].forEach(DRY => {{ if (!DRY) {JS_WIPE} }});"),
    (J, f"{JS_HEAD}const DRY = true;\nfunction go() {{ eval('var DRY = false'); if (!DRY) {JS_WIPE} }}\ngo();"),
]


@pytest.mark.parametrize(("language", "code"), NOT_TAKEN)
def test_a_branch_that_is_not_taken_is_said_and_not_raised(language: Language, code: str) -> None:
    said = assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, language, code))
    assert said.attention is Level.MEDIUM
    assert "in a branch that is not taken as it stands" in said.verdict.sentence


@pytest.mark.parametrize(("language", "code"), MAY_BE_TAKEN)
def test_a_branch_that_may_be_taken_is_raised(language: Language, code: str) -> None:
    assert attention(language, code) is Level.CRITICAL


MOTO = "import boto3, pytest\nfrom moto import mock_aws\n"
DELETED = "boto3.client('s3').delete_bucket(Bucket='b')\n"
FIXTURE = f"{MOTO}@pytest.fixture\ndef s3():\n    with mock_aws():\n        yield boto3.client('s3')\n"
TESTED = "def test_it(s3):\n    s3.delete_bucket(Bucket='b')\n"
SINON = "const sinon = require('sinon'); const fs = require('fs'); const os = require('os');\n"
ORDERS = "import pytest\nfrom shop.models import Order\n"
REPLACED = [
    (P, f"{FIXTURE}{TESTED}"),
    (P, f"{MOTO}@mock_aws\nclass T:\n    def test_it(self):\n        {DELETED}"),
    (P, f"{ORDERS}@pytest.mark.django_db\ndef test_it():\n    Order.objects.filter(a=1).delete()\n"),
    (J, f"{SINON}const s = sinon.stub(fs, 'rmSync');\n{JS_WIPE}\nconsole.log(s.calledOnce);\ns.restore();\n"),
    (J, f"{JS_HEAD}test('x', () => {{ jest.spyOn(fs, 'rmSync').mockImplementation(() => {{}}); {JS_WIPE} }});"),
    (J, f"import {{ vi }} from 'vitest';\nimport fs from 'node:fs';\nvi.mock('node:fs');\n{JS_WIPE}"),
]
REAL = [
    (P, f"{FIXTURE}{TESTED}test_it(boto3.client('s3'))\n"),
    (
        P,
        f"{MOTO}@pytest.fixture\ndef s3():\n    with mock_aws():\n        pass\n    yield boto3.client('s3')\n{TESTED}",
    ),
    (P, f"{FIXTURE}@pytest.fixture\ndef real():\n    return boto3.client('s3')\n{TESTED.replace('s3', 'real')}"),
    (P, f"{MOTO}@mock_aws\nclass T:\n    def helper(self):\n        {DELETED}T().helper()\n"),
    (P, f"{FIXTURE}@pytest.fixture\ndef s3():\n    yield boto3.client('s3')\n{TESTED}"),
    (P, f"{FIXTURE}@pytest.fixture(name='s3')\ndef other():\n    yield boto3.client('s3')\n{TESTED}"),
    (P, f"{MOTO}@mock_aws\ndef go():\n    {DELETED}go.__wrapped__()\n"),
    (P, f"import moto\nmoto.mock_aws = lambda f: f\n{MOTO}@mock_aws\ndef go():\n    {DELETED}go()\n"),
    (P, f"{ORDERS}@pytest.mark.django_db(transaction=True)\ndef test_it():\n    Order.objects.filter(a=1).delete()\n"),
    (P, f"{ORDERS}@pytest.mark.django_db\ndef test_it():\n    Order.objects.filter(a=1).delete()\ntest_it()\n"),
    (J, f"{SINON}const s = sinon.stub(fs, 'rmSync');\ns.restore();\n{JS_WIPE}"),
    (J, f"{SINON}const real = fs.rmSync;\nsinon.stub(fs, 'rmSync');\nreal(os.homedir(), {{ recursive: true }});"),
    (J, f"{SINON}sinon.stub(fs, 'rmSync').callThrough();\n{JS_WIPE}"),
    (J, f"{SINON}sinon.stub(fs, 'rm');\n{JS_WIPE}"),
    (J, f"{SINON}const copy = {{ ...fs }};\nsinon.stub(fs, 'rmSync');\ncopy.rmSync(os.homedir());"),
    (J, f"const sinon = {{ stub() {{}} }};\n{JS_HEAD}sinon.stub(fs, 'rmSync');\n{JS_WIPE}"),
    (J, f"{JS_HEAD}test('x', () => {{ jest.spyOn(fs, 'rmSync'); {JS_WIPE} }});"),
    (J, f"jest.mock('fs', () => jest.requireActual('fs'));\n{JS_HEAD}{JS_WIPE}"),
]


@pytest.mark.parametrize(("language", "code"), REPLACED)
def test_what_a_test_has_replaced_is_not_raised(language: Language, code: str) -> None:
    assert attention(language, code) < Level.HIGH


@pytest.mark.parametrize(("language", "code"), REAL)
def test_what_may_be_the_real_one_is_raised(language: Language, code: str) -> None:
    assert attention(language, code) >= Level.HIGH


def test_what_takes_a_migration_back_is_milder_and_files_are_not() -> None:
    code = "from alembic import op\nimport shutil, os\ndef upgrade():\n    pass\ndef downgrade():\n    "
    assert attention(P, f"{code}op.drop_column('a', 'b')\n") is Level.MEDIUM
    assert attention(P, f"{code}op.drop_column('a', 'b')\ndowngrade()\n") is Level.HIGH
    assert attention(P, f"{code}shutil.rmtree(os.path.expanduser('~'))\n") is Level.CRITICAL
    up = "exports.up = async (k) => { await k.schema.createTable('a', () => {}); };\n"
    assert attention(J, f"{up}exports.down = async (k) => {{ await k.schema.dropTable('a'); }};\n") is Level.MEDIUM


def test_a_service_on_this_machine_is_milder() -> None:
    code = "import boto3\na = boto3.client('s3', endpoint_url='{}')\n"
    here, elsewhere = code.format("http://localhost:4566"), code.format("http://localhost.a.example")
    assert attention(P, f"{here}a.delete_bucket(Bucket='b')\n") is Level.MEDIUM
    assert attention(P, f"{elsewhere}a.delete_bucket(Bucket='b')\n") is Level.HIGH
    assert attention(P, f"{here}boto3.client('s3').delete_bucket(Bucket='b')\n") is Level.HIGH


def test_a_long_list_of_tests_is_not_too_large() -> None:
    """What is asked about the whole program is found out once, and not for each of its tests."""
    many = "".join(f"def test_{number}(s3):\n    s3.delete_bucket(Bucket='b')\n" for number in range(1_500))
    said = assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, P, f"{FIXTURE}{many}"))
    assert "too large" not in said.verdict.sentence and said.attention is None
