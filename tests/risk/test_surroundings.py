"""What a request asks for besides its code: packages by source and name, network domains."""

from __future__ import annotations

import pytest

from runner.model.assessment import Level
from runner.model.request import Language, NetworkMode, Request, Tool
from runner.risk.assess import assess
from runner.risk.context.request_context import domains, packages
from runner.risk.rules.packages import mistaken_for, popular


@pytest.mark.parametrize(
    ("written", "ecosystem", "found"),
    [
        ("requests==2.32.0", "python", set()),
        ("requests", "python", {"package.version"}),
        ("requests>=2", "python", {"package.version"}),
        ("Flask_Cors==4.0", "python", set()),
        ("requets==1.0", "python", {"package.look-alike"}),
        ("reqeusts==1.0", "python", {"package.look-alike"}),
        ("request5==1.0", "python", {"package.look-alike"}),
        ("numpyy[extra]==1.0", "python", {"package.look-alike"}),
        ("numpy @ https://files.example/numpy.whl", "python", {"package.address"}),
        ("git+ssh://git@git.example/a/b", "python", {"package.address"}),
        ("./vendor/thing", "python", {"package.folder"}),
        ("thing-1.0-py3-none-any.whl", "python", {"package.folder"}),
        ("--index-url=https://pip.example", "python", {"package.option"}),
        ("-r requirements.txt", "python", {"package.option"}),
        ("lodash@4.17.21", "javascript", set()),
        ("lodash@latest", "javascript", {"package.version"}),
        ("@types/node@22.0.0", "javascript", set()),
        ("expres@1.0.0", "javascript", {"package.look-alike"}),
        ("cross-env.js", "javascript", {"package.version"}),
        ("crossenv@1.0.0", "javascript", {"package.look-alike"}),
        ("someone/something", "javascript", {"package.address"}),
        ("https://files.example/x.tgz", "javascript", {"package.address"}),
    ],
)
def test_packages(written: str, ecosystem: str, found: set[str]) -> None:
    assert {finding.id for finding in packages([written], ecosystem)} == found


@pytest.mark.parametrize("ecosystem", ["python", "javascript"])
def test_no_much_used_name_is_taken_for_another(ecosystem: str) -> None:
    assert [name for name in popular(ecosystem) if mistaken_for(name, ecosystem)] == []
    assert len(popular(ecosystem)) > 150


@pytest.mark.parametrize("name", ["api.example.org", "files.example.org:8443"])
def test_an_ordinary_domain_says_nothing(name: str) -> None:
    assert list(domains([name])) == []


@pytest.mark.parametrize("name", ["*.example.org", "*.example.org:8443"])
def test_a_wildcard_says_what_it_means(name: str) -> None:
    (finding,) = domains([name])
    said = "Every name below example.org; whoever owns it can receive data in the names themselves."
    assert (finding.id, finding.level, finding.reason) == ("request.wildcard", Level.CRITICAL, said)


def test_a_wildcard_inside_the_own_network_says_both() -> None:
    assert [one.id for one in domains(["*.corp.internal"])] == ["request.domain", "request.wildcard"]


@pytest.mark.parametrize(
    "name",
    [
        "10.0.0.7:8080",
        "[fd00::1]",
        "169.254.169.254",
        "10.0.0.7",
        "[::1]:8080",
        "[2001:db8::1]",
        "203.0.113.7",
        "2852039166",
        "0xa9fea9fe",
        "localhost",
        "printer.local",
        "*.com",
        "*",
        "xn--pple-43d.com",
        "gith\u0443b.com",
    ],
)
def test_an_unusual_domain_is_reported(name: str) -> None:
    (finding,) = domains([name])
    assert finding.level is Level.CRITICAL
    assert finding.evidence == name


def test_a_request_is_as_bad_as_what_it_asks_for() -> None:
    plain = Request("id", "agent", Tool.CODE_EXECUTE, 0.0, Language.JAVASCRIPT, "1", packages=("lodash@4.17.21",))
    assert assess(plain).level is Level.HIGH
    from_git = Request("id", "agent", Tool.CODE_EXECUTE, 0.0, Language.JAVASCRIPT, "1", packages=("a/b", "c/d"))
    assert assess(from_git).level is Level.CRITICAL
    assert [finding.evidence for finding in assess(from_git).findings] == ["a/b", "c/d"]
    networked = Request(
        "id",
        "agent",
        Tool.CODE_EXECUTE,
        0.0,
        Language.PYTHON,
        "1",
        network=NetworkMode.DOMAINS,
        domains=("10.0.0.1", "x.example.org"),
    )
    assert [finding.id for finding in assess(networked).findings] == ["request.domain", "request.network"]
