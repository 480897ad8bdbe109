"""What is said of JavaScript and TypeScript that agents write: libraries for databases, clouds, messages and files.

The sentences and their programs are in `said_of_javascript.txt`.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from runner.model.assessment import Assessment, Level
from runner.model.request import Language, Request, Tool
from runner.risk.assess import assess
from runner.risk.model.value import UNKNOWN

PROGRAMS = re.split(r"(?m)^=== (.+)\n", (Path(__file__).parent / "said_of_javascript.txt").read_text("utf-8"))[1:]


def judged(code: str) -> Assessment:
    return assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, Language.JAVASCRIPT, code))


@pytest.mark.parametrize(("said", "code"), [*zip(PROGRAMS[::2], PROGRAMS[1::2], strict=True)])
def test_each_word_is_true_of_the_program(said: str, code: str) -> None:
    assert judged(code).verdict.sentence == said


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (
            "const knex = require('knex')({ client: 'pg', connection: 'x' });\n"
            "const old = knex('orders').select('id');\nknex('baskets').whereIn('order_id', old).del();",
            "rows of baskets that match a condition",
        ),
        (
            "const c = new (require('mongodb').MongoClient)('x');\n"
            "const t = process.argv[2];\nc.db('a').collection(t).deleteMany({});",
            "all documents of a collection worked out at run time",
        ),
        (
            "const Docker = require('dockerode'); const d = new Docker();\nd.getVolume('data').remove();",
            "the volume “data”",
        ),
        ("export async function down(knex) { await knex.schema.dropTable('payments'); }", "the table “payments”"),
        ("const User = require('./models/User');\nUser.deleteMany();", "all records of User"),
    ],
)
def test_the_thing_is_the_one_that_the_chain_began_with(code: str, said: str) -> None:
    assert judged(code).verdict.sentence.startswith(f"Deletes {said}")


def test_a_client_that_knows_its_address_is_no_table_of_values() -> None:
    code = "const a = require('axios').create({ baseURL: 'https://api.example' });\na.get('/x').then(console.log)"
    assert judged(code).verdict.sentence.startswith("Downloads from api.example")


def test_each_of_several_commands_in_a_list_is_read() -> None:
    loop = "const { spawnSync } = require('child_process');\nfor (const a of [['init'], ['destroy', '-auto-approve']]) "
    each = "const { spawnSync } = require('child_process');\n[['init'], ['destroy', '-auto-approve']].forEach((a) => "
    texts = "const { spawnSync } = require('child_process');\nfor (const a of ['plan', 'destroy']) "
    codes = [f"{loop}spawnSync('terraform', a);"]
    codes += [f"{each}spawnSync('terraform', a));", f"{texts}spawnSync('terraform', [a]);"]
    for code in codes:
        assert judged(code).attention is Level.HIGH
        assert "everything in the infrastructure" in judged(code).verdict.sentence


def test_the_constructor_of_what_is_extended_is_followed() -> None:
    code = (
        "const { rmSync } = require('fs'), { homedir } = require('os');\n"
        "class A { constructor(dir) { this.dir = dir } clean() { rmSync(this.dir, { recursive: true }) } }\n"
        "class B extends A { constructor() { super(homedir()) } }\nnew B().clean();"
    )
    assert "the home folder" in judged(code).verdict.sentence


def test_what_a_base_class_gives_changes_nothing_that_is_not_known() -> None:
    read = "require('fs').readFileSync('a.txt')"
    judged(f"const {{ Base }} = require('x');\nclass A extends Base {{ constructor() {{ super({read}) }} }}\n")
    assert not UNKNOWN.labels


def test_what_a_program_is_given_is_not_what_it_prints() -> None:
    code = (
        "const { execFileSync: x } = require('child_process');\nconsole.log(x('npx', ['tsc', process.env.NPM_TOKEN]))"
    )
    assert "Prints" not in judged(code).verdict.sentence
    code = "const { execSync: x } = require('child_process');\nconsole.log(x(`npx tsc ${process.env.NPM_TOKEN}`))"
    assert "Prints" not in judged(code).verdict.sentence
    code = "const { execSync: x } = require('child_process');\nconsole.log(x(`npx tsc; echo ${process.env.NPM_TOKEN}`))"
    assert judged(code).verdict.sentence.startswith("Prints the value of NPM_TOKEN")
    code = "const { execFileSync: x } = require('child_process');\nconsole.log(x('echo', [process.env.NPM_TOKEN]))"
    assert judged(code).verdict.sentence.startswith("Prints the value of NPM_TOKEN")


def test_a_script_in_a_package_that_is_put_together_is_read() -> None:
    code = (
        "const fs = require('fs'); const p = JSON.parse(fs.readFileSync('package.json', 'utf8'));\n"
        "p.scripts = { ...p.scripts, postinstall: 'rm -rf ~' };\n"
        "fs.writeFileSync('package.json', JSON.stringify(p, null, 2));"
    )
    assert judged(code).level is Level.CRITICAL


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("rm -rf /srv/old", "Deletes the folder /srv/old on web1.example.com"),
        ("psql -c 'DROP TABLE orders'", "Drops the table orders on web1.example.com"),
    ],
)
def test_what_a_command_does_on_another_machine_is_said_to_be_done_there(command: str, said: str) -> None:
    code = (
        "const { NodeSSH } = require('node-ssh'); const ssh = new NodeSSH();\n"
        f'await ssh.connect({{ host: "web1.example.com" }}); await ssh.execCommand("{command}");'
    )
    assert judged(code).verdict.sentence.startswith(said)
    late = (
        "const { Client } = require('ssh2'); const client = new Client();\n"
        f'client.on("ready", () => client.exec("{command}", () => {{}})).connect({{ host: process.argv[2] }});'
    )
    assert said.replace("web1.example.com", "another machine") in judged(late).verdict.sentence
