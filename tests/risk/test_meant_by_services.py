"""What code asks services and databases for, by what it means there."""

from __future__ import annotations

import pytest

from runner.model.assessment import Level
from runner.model.request import Language, Request, Tool
from runner.risk.assess import assess

P, J, S = Language.PYTHON, Language.JAVASCRIPT, Language.SHELL
API = "https://api.acme.example/v1"

SAID = [
    (P, f"import httpx\nhttpx.Client(base_url='{API}').delete('/users/7')", "Deletes “v1/users/7” in api.acme.example"),
    (
        P,
        f"import httpx\nclass A(httpx.Client):\n    def __init__(self):\n        super().__init__(base_url='{API}')\n"
        "A().delete('/users/7')",
        "Deletes “v1/users/7” in api.acme.example",
    ),
    (
        P,
        "import requests\nclass A(requests.Session):\n    def drop(self, path):\n"
        f"        super().delete('{API}' + path)\nA().drop('/users/7')",
        "Deletes “v1/users/7” in api.acme.example",
    ),
    (
        P,
        "import requests\nclass A(requests.Session):\n    def request(self, method, url):\n"
        f"        return super().request(method, '{API}' + url)\nA().delete('/users/7')",
        "Deletes “v1/users/7” in api.acme.example",
    ),
    (P, "import httpx\nc = httpx.AsyncClient(timeout=9)\nc.get('https://a.example')", "Downloads from a.example"),
    (
        P,
        f"import httpx\nhttpx.Client(base_url='{API}').post('https://other.example/x', json={{'a': 1}})",
        "Sends data to other.example",
    ),
    (
        J,
        f"const a = require('axios').create({{ baseURL: '{API}' }}); a.post('https://other.example/x', {{ a: 1 }});",
        "Sends data to other.example",
    ),
    (
        P,
        "import os, requests\nB = os.environ['API']\nrequests.delete(f'{B}/users/7')",
        "Deletes “users/7” in the address in API",
    ),
    (
        J,
        "const A = process.env.API; fetch(`${A}/u`, { method: 'PATCH', body: JSON.stringify({ role: 'admin' }) });",
        "Gives somebody every right by fetch (“role: admin”)",
    ),
    (
        J,
        "const query = 'mutation { deleteRepo(id: 1) { ok } }'; "
        "fetch('https://a.example/graphql', { method: 'POST', body: JSON.stringify({ query }) });",
        "Deletes “deleteRepo” in a.example",
    ),
    (
        P,
        "import boto3\nboto3.client('ssm').send_command(Parameters={'commands': ['rm -rf /var/lib/db']})",
        "Deletes files of the operating system",
    ),
    (
        P,
        "import argparse\nfrom pathlib import Path\np = argparse.ArgumentParser()\np.add_argument('d', type=Path)\n"
        "for one in p.parse_args().d.glob('*'):\n    print(one)",
        "Looks through",
    ),
]


@pytest.mark.parametrize(("language", "code", "said"), SAID)
def test_what_is_asked_for_is_said(language: Language, code: str, said: str) -> None:
    sentence = assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, language, code)).verdict.sentence
    assert sentence.startswith(said)


RAISED = [
    (
        P,
        "import os, pandas, requests, io\nb = io.StringIO()\npandas.read_sql('select email, phone from customers', e)"
        ".to_csv(b)\nrequests.put('https://a.example', data=b.getvalue())",
    ),
    (P, "from app import Session, Staff\ns = Session()\nfor one in s.query(Staff).all():\n    one.pay = 1\ns.commit()"),
    (P, "import os\nfrom pyairtable import Api\nApi(os.environ['AIRTABLE_KEY']).table('a', 'b').batch_delete(['c'])"),
    (
        J,
        "const { MongoClient } = require('mongodb'); new MongoClient('a').db('b').collection('c')"
        ".aggregate([{ $match: {} }, { $out: 'users' }]);",
    ),
    (
        P,
        "import requests\ndef f(all):\n    for one in all:\n"
        "        requests.patch(f'https://a.example/users/{one}', json={'accountEnabled': False})",
    ),
    (S, "psql -c \"UPDATE users SET role = 'admin' WHERE id = 7\""),
]


@pytest.mark.parametrize(("language", "code"), RAISED)
def test_what_cannot_be_taken_back_is_raised(language: Language, code: str) -> None:
    said = assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, language, code))
    assert (said.attention or Level.LOW) >= Level.HIGH


def test_a_session_that_forgets_an_object_deletes_no_mails() -> None:
    def high(code: str) -> bool:
        found = assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, P, code))
        return (found.attention or Level.LOW) >= Level.HIGH

    assert high("import imaplib\nimaplib.IMAP4_SSL('a').expunge()")
    assert not high("from app import session, one\nsession.expunge(one)")
