"""What is read from names and settings where no list knows a library, and what is calm only where that is proved."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from runner.model.assessment import Assessment, Level
from runner.model.request import Language, Request, Tool
from runner.risk.assess import assess

FOLDER = Path(__file__).parent


def programs(name: str) -> list[tuple[str, str]]:
    found = re.split(r"(?m)^=== (.+)\n", (FOLDER / name).read_text("utf-8"))[1:]
    return [*zip(found[::2], found[1::2], strict=True)]


def judged(code: str, language: Language = Language.JAVASCRIPT) -> Assessment:
    return assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, language, code))


def attention(code: str) -> Level:
    return judged(code).attention or Level.LOW


@pytest.mark.parametrize(("what", "code"), programs("clients_by_name.txt"))
def test_a_client_that_no_list_names_is_judged_by_what_it_is_asked_for(what: str, code: str) -> None:
    assert attention(code) >= Level.HIGH, what


@pytest.mark.parametrize(("what", "code"), programs("looks_calm.txt"))
def test_what_only_looks_calm_is_not(what: str, code: str) -> None:
    assert attention(code) >= Level.HIGH, what


NOCK = "const nock = require('nock');\nconst axios = require('axios');\nnock.disableNetConnect();\n"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (
            "const nock = require('nock');\nconst axios = require('axios');\n"
            "(async () => {\n  nock.disableNetConnect();\n"
            "  await axios.delete('https://api.a.example/users/7');\n})();",
            "answered by nock",
        ),
        (f"{NOCK}await axios.delete('https://api.a.example/users/7');", "answered by nock"),
        (
            "const sg = require('@sendgrid/mail');\nfor (const to of require('./list.json'))\n"
            "  await sg.send({ to, mailSettings: { sandboxMode: { enable: true } } });",
            "only checks messages in its sandbox mode and sends none",
        ),
        (
            "const t = require('nodemailer').createTransport({ streamTransport: true });\n"
            "for (const to of require('./list.json')) await t.sendMail({ to });",
            "that nobody is sent",
        ),
        ("const { fs } = require('memfs');\nfs.rmSync('/home/a/b', { recursive: true });", "Works on files in memory"),
        (
            "const links = require('fs').readFileSync('links.txt', 'utf8').split('\\n');\n"
            "for (const l of links) console.log((await fetch(l, { headers: { 'User-Agent': 'a' } })).status);",
            "Downloads from",
        ),
        ("require('fs').writeFileSync(process.argv[2], 'x');", "Writes the file that it gets as an argument"),
        ("const [, , out] = process.argv;\nrequire('fs').writeFileSync(out, 'x');", "Writes the file that it gets"),
        ("const c = require('a-client').createApiClient({ url: 'https://a.example' });\nc.close();", "Calls"),
        ("import nock from 'nock';\nnock('https://a.example').delete('/a').reply(204);", "Calls"),
        ("import { Client } from 'x';\nnew Client({ host: 'a.example' }).removeListener('a', () => {});", "Calls"),
        (
            "import { Client } from 'x';\nconst c = new Client({ url: 'https://a.example' });\nc.on('delete', f);",
            "Calls",
        ),
    ],
)
def test_what_is_proved_to_change_nothing_is_not_raised(code: str, said: str) -> None:
    assert attention(code) < Level.HIGH
    assert said in judged(code).verdict.sentence


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (
            "import test from 'node:test';\nimport assert from 'node:assert';\n"
            "const slug = (t) => t.toLowerCase();\ntest('small letters', () => assert.equal(slug('A'), 'a'));",
            "Runs tests of slug (“small letters”); no use of files",
        ),
        (
            "import assert from 'node:assert';\nimport { MongoClient } from 'mongodb';\n"
            "import { MongoMemoryServer } from 'mongodb-memory-server';\nconst s = await MongoMemoryServer.create();\n"
            "const c = await MongoClient.connect(s.getUri());\nawait c.db('a').collection('visits').deleteMany({});\n"
            "assert.equal(await c.db('a').collection('visits').countDocuments(), 0);",
            "Works on visits in a database in memory by “mongodb-memory-server” and checks the result by assertions",
        ),
        (
            "import { Client } from '@acme/shop';\nimport fs from 'fs';\n"
            "const c = new Client({ accessToken: process.env.SHOP_TOKEN });\n"
            "fs.writeFileSync('orders.json', JSON.stringify(await c.sales.orders.list({ status: 'open' })));",
            "sales.orders.list (“open”)",
        ),
        (
            "import { Workbook } from 'sheets';\nimport { list } from 'pigs';\nconst w = new Workbook();\n"
            "w.add(list());\nawait w.writeFile('pigs.xlsx');",
            "Writes pigs.xlsx",
        ),
        (
            "const { Route53Client, ChangeTagsForResourceCommand } = require('@aws-sdk/client-route-53');\n"
            "await new Route53Client({}).send(new ChangeTagsForResourceCommand({ ResourceType: 'hostedzone' }));",
            "“ResourceType: hostedzone”",
        ),
        (
            "const c = new (require('b-client').Client)({ url: 'https://b.example' });\n"
            "await c.updateUser({ name: 'ann', apiToken: 'hunter22', plan: 'gold' });",
            "“name: ann”, “plan: gold”",
        ),
        (
            "const p = await (await require('playwright').chromium.launch()).newPage();\nawait p.goto('https://a.example/b');",
            "in a browser",
        ),
        (
            "require('fs').writeFileSync('out/a.sql', 'DELETE FROM users;');",
            "Deletes every row of users (if run) and writes out/a.sql",
        ),
        (
            "import { test, mock } from 'node:test';\nconst save = (db) => db.put(1);\n"
            "test('puts one', (t) => { const put = t.mock.fn(); save({ put }); });",
            "with mock functions",
        ),
        ("const d = require('dockerode')();\nawait d.pruneNetworks();", "Deletes unused networks"),
    ],
)
def test_the_sentence_names_what_is_called_tested_and_set(code: str, said: str) -> None:
    assert said in judged(code).verdict.sentence


def test_what_is_in_memory_does_not_hide_what_is_not() -> None:
    code = (
        "import Mock from 'ioredis-mock';\nimport Redis from 'ioredis';\nawait new Mock().flushall();\n"
        "console.log(await new Redis(process.env.CACHE_HOST).ping());"
    )
    assert "ioredis" in judged(code).verdict.sentence.replace("ioredis-mock", "")


def test_what_a_request_carries_beside_its_body_is_sent() -> None:
    code = (
        "const fs = require('fs');\nconst text = fs.readFileSync('notes.txt', 'base64');\n"
        "for (const l of fs.readFileSync('links.txt', 'utf8').split('\\n'))\n"
        "  await fetch(l, { headers: { 'x-note': text } });"
    )
    assert judged(code).verdict.sentence.startswith("Sends ")


def test_a_key_in_the_code_is_not_named() -> None:
    code = "const sg = require('@sendgrid/mail');\nsg.setApiKey('SG.x1y2z3');\nrequire('fs').writeFileSync('a', 'b');"
    assert "x1y2z3" not in judged(code).verdict.sentence


@pytest.mark.parametrize("index", ["1", "i", "3 - 2"])
def test_its_own_file_is_still_known_among_its_arguments(index: str) -> None:
    assert (
        "its own program file" in judged(f"require('fs').writeFileSync(process.argv[{index}], 'x');").verdict.sentence
    )


def test_an_argument_of_python_is_not_its_own_file() -> None:
    code = "import sys\nopen(sys.argv[{}], 'w').write('x')"
    assert "argument" in judged(code.format(1), Language.PYTHON).verdict.sentence
    assert "its own program file" in judged(code.format(0), Language.PYTHON).verdict.sentence


def test_the_line_to_look_at_is_the_one_with_the_main_effect() -> None:
    code = "import Redis from 'ioredis-mock';\n" + "// nothing\n" * 9 + "await new Redis().flushall();\n"
    look = judged(code).verdict.look_at
    assert look is not None
    assert look.line == 11
