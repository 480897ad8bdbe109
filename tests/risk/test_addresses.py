"""Addresses are read as the programs of agents read them, and what is not plain is said."""

from __future__ import annotations

import json
import random
import subprocess

import pytest

from runner.gateway.client_tools import client_submission
from runner.model.assessment import Level
from runner.model.request import Isolation, Request, Tool
from runner.policy.decide import parameters
from runner.policy.rules import Condition
from runner.requests import intake
from runner.risk.addresses import addresses_in, read_address
from runner.risk.tools.tools import weigh
from runner.settings.loading import Settings
from tests.components import require


def asked(name: str, **given: object) -> Request:
    return intake.request(client_submission("a", name, given, "/home/me/p"), Settings(), Isolation.LOCAL)


HIDDEN = [
    "https://good.example)@evil.example/",
    "https://good.example}@evil.example/",
    "https://good.example'@evil.example/",
    'https://good.example"@evil.example/',
    "https://evil.example\\@good.example/",
    "https:/evil.example/#https://good.example/",
    "https:\\\\evil.example/#https://good.example/",
    "https:evil.example/https://good.example/",
    "ht\ttps://evil.example/#https://good.example/",
    "https://evil.exam\tple/",
    "https://evil.exam\nple/",
    "\x01https://evil.example/",
    "https:///evil.example/",
    "https://%65vil.example/",
    "https://evil。example/",
]


@pytest.mark.parametrize("address", HIDDEN)
def test_the_host_that_the_client_goes_to_is_named_and_denied(address: str) -> None:
    request = asked("WebFetch", url=address)
    assessment = weigh(request)
    assert request.tool is Tool.CLIENT_FETCH and request.domains == ("evil.example",)
    assert assessment.level is Level.CRITICAL
    assert assessment.verdict.sentence.startswith("Reads evil.example from your machine.")
    assert {"fetch.unread", "fetch.login"} & {one.id for one in assessment.findings}
    assert Condition("domain", equals="evil.example").holds(parameters(request))


@pytest.mark.parametrize("address", ["file:///etc/passwd#https://good.example/", "javascript:1", "no", "https://a b/"])
def test_what_is_no_address_of_the_web_is_unread(address: str) -> None:
    assessment = weigh(asked("WebFetch", url=address))
    assert assessment.level is Level.CRITICAL and "fetch.unread" in {one.id for one in assessment.findings}
    assert "good.example" not in assessment.verdict.sentence


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:8080/",
        "https://0x7f.1/",
        "https://2130706433/",
        "https://0177.0.0.1/",
        "https://[::ffff:7f00:1]/",
        "https://[::1]/",
        "https://0/",
        "https://localhost/",
        "https://a.localhost/",
    ],
)
def test_this_machine_is_said_in_any_spelling(address: str) -> None:
    assessment = weigh(asked("WebFetch", url=address))
    assert assessment.level is Level.CRITICAL
    assert "This address is this machine itself." in assessment.verdict.sentence


def test_a_plain_address_is_no_alarm() -> None:
    for address in ("https://docs.example.org/a?b=c#d", "HTTPS://Docs.Example.org:443", "http://docs.example.org:80/x"):
        assessment = weigh(asked("WebFetch", url=address))
        assert (assessment.level, assessment.findings) == (Level.HIGH, ()), address


def test_data_is_noticed_behind_a_host_that_is_hidden() -> None:
    assessment = weigh(asked("WebFetch", url="https://good.example)@evil.example/?q=" + "a" * 240))
    assert {"fetch.data", "fetch.login"} <= {one.id for one in assessment.findings}


def test_a_prompt_is_split_where_the_client_splits_it() -> None:
    text = "read https://a.example/x and\u00a0https://good.example)@evil.example/ or (https://c.example/)"
    request = asked("web_fetch", prompt=text)
    assert request.domains == ("a.example", "evil.example")
    assert "fetch.unread" in {one.id for one in weigh(request).findings}
    assert asked("web_fetch", prompt="see https:evil.example").domains == ("evil.example",)
    assert asked("web_fetch", url="https://a.example/").domains == ("a.example",)
    raw = asked("web_fetch", prompt="https://github.com/a/b/blob/main/c.py")
    assert raw.domains == ("github.com", "raw.githubusercontent.com")
    assert asked("web_fetch", prompt="x", url="https://a.example/").tool is Tool.CLIENT_TOOL


def test_nothing_that_can_be_sent_raises() -> None:
    for text in ("https://[::1", "https://\ud800/", "https://a:99999/", "http://xn--a/", "https://[::ffff:7f00:1]/"):
        assert read_address(text).written == text
        addresses_in(text)
        weigh(asked("WebFetch", url=text.replace("\ud800", "x")))


SCRIPT = """
const read = text => { try { const u = new URL(text); return [u.protocol, u.hostname, u.port, u.username] }
  catch { return null } }
const texts = JSON.parse(require("fs").readFileSync(0, "utf8"))
console.log(JSON.stringify(texts.map(read)))
"""
PIECES = ["http", "https", "file", ":", "/", "//", "\\", "@", "#", "?", "[", "]", "::1", "0x7f", "127.1", ".", "%2e"]
PIECES += [
    "%41",
    "evil.example",
    "good.example",
    "a",
    "ä",
    "。",
    "\t",
    "\n",
    " ",
    "\x00",
    "\x1f",
    "\xad",
    "\u200b",
    ")",
    "}",
]
PIECES += ["'", '"', "|", "^", "443", ":80", "xn--", "ß", "&", "="]


def some_address(choose: random.Random) -> str:
    begin = choose.choice(["https://", "http://", "https:", "https:/", " https://", "ht\ttp://", "file://", ""])
    return begin + "".join(choose.choice(PIECES) for _ in range(choose.randrange(1, 9)))


def test_node_reads_the_same() -> None:
    """Random strings: scheme, host, port and whether it is an address at all."""
    require("node")
    choose = random.Random(5)
    texts = [*HIDDEN, *(some_address(choose) for _ in range(20_000))]
    ran = subprocess.run(["node", "-e", SCRIPT], input=json.dumps(texts), capture_output=True, text=True, check=True)
    web = 0
    for text, read in zip(texts, json.loads(ran.stdout), strict=True):
        mine = read_address(text)
        web += mine.is_web
        if read is None:
            # Releases of the parser differ in whether these names are valid.
            assert not mine.is_web or "xn--" in mine.host, text
        else:
            assert [mine.scheme, mine.host, mine.port] == read[:3] or "xn--" in read[1], text
            assert mine.has_login or not read[3], text
    assert web > 2000
