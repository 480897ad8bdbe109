"""The front door of the classifier: levels of spec R1."""

from __future__ import annotations

from dataclasses import replace

from runner.model.assessment import Capability, Level
from runner.model.request import ClientTool, Language, NetworkMode, Request, Tool
from runner.risk.assess import MOST_CHARACTERS, assess


def asked(code: str = "print(1)", language: Language = Language.PYTHON, **more: object) -> Request:
    return Request("id", "agent", Tool.CODE_EXECUTE, 0.0, language, code, **more)  # type: ignore[arg-type]


def test_running_any_code_is_high() -> None:
    assessment = assess(asked())
    assert assessment.level is Level.HIGH
    assert assessment.findings == ()
    assert assessment.reasons


def test_network_access_is_critical_and_names_the_hosts() -> None:
    assessment = assess(asked(network=NetworkMode.DOMAINS, domains=("example.org",)))
    assert assessment.level is Level.CRITICAL
    assert Capability.NETWORK in {finding.capability for finding in assessment.findings}
    assert assessment.touch.hosts == ("example.org",)


def test_too_much_code_is_critical_and_says_so() -> None:
    assessment = assess(asked("x" * (MOST_CHARACTERS + 1)))
    assert assessment.level is Level.CRITICAL
    assert "too large to assess" in assessment.reasons[0]


def test_a_folder_deleted_by_the_clients_own_tool_stands_out() -> None:
    """No sandbox holds it, and nothing brings the folder back."""
    own = ClientTool("Bash", "/home/p/work")
    for code, level in (
        ("rm -rf build && make", Level.MEDIUM),
        ("find build -delete", Level.MEDIUM),
        ("rm a.txt", None),
    ):
        here = assess(replace(asked(code, Language.SHELL), tool=Tool.CLIENT_SHELL, client=own))
        assert here.attention is level and here.level is Level.HIGH, code
        assert assess(asked(code, Language.SHELL)).attention is None, code
