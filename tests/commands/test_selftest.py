"""The self-test says what is wrong: a build that has lost a part must not pass (spec O4)."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import detect_secrets.core.plugins.util
import pytest

from runner.audit.files import redact
from runner.commands import selftest
from runner.identity.agents import Agents
from runner.model.language_support import LANGUAGES
from runner.model.request import Isolation
from runner.system.places import Places
from tests import direct_gvisor
from tests.components import require

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def detectors() -> Iterator[None]:
    """The detectors are found again before and after the test."""
    redact._detectors.cache_clear()
    yield
    redact._detectors.cache_clear()


def no_path(_home: Path) -> Iterator[selftest.SelfCheck]:
    return iter(())


@pytest.mark.usefixtures("detectors")
def test_a_detector_that_is_missing_is_bad(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    whole = detect_secrets.core.plugins.util.get_mapping_from_secret_type_to_class()
    less = {kind: plugin for kind, plugin in whole.items() if kind != "Slack Token"}
    monkeypatch.setattr(detect_secrets.core.plugins.util, "get_mapping_from_secret_type_to_class", lambda: less)
    monkeypatch.setattr(selftest, "_path", no_path)
    assert selftest.main() == 1
    said = capsys.readouterr().out
    assert "BAD   redaction: Slack Token is not looked for" in said
    assert "Slack Token stays readable" in said


@pytest.mark.usefixtures("detectors")
def test_what_is_carried_is_ok_here(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(selftest, "_path", no_path)
    assert selftest.main() == 0
    assert capsys.readouterr().out.count("ok  ") == len(selftest.CARRIED)


def test_a_step_that_raises_is_bad_and_the_others_are_tried(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> Iterator[selftest.SelfCheck]:
        raise OSError("no such library")

    monkeypatch.setattr(selftest, "_path", broken)
    assert selftest.main((("window", broken),)) == 1  # type: ignore[arg-type]
    said = capsys.readouterr().out
    assert "BAD   window: OSError: no such library" in said
    assert "BAD   sandboxes: OSError: no such library" in said
    assert "ok    keyring" in said


@pytest.mark.parametrize(
    ("program", "problem"),
    [
        ("import sys; sys.stdin.read()", "it did not name"),
        ("import sys; print('hello', flush=True); sys.stdin.read()", "JSONDecodeError"),
    ],
)
def test_a_gateway_that_does_not_answer_is_bad(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, problem: str
) -> None:
    command = tmp_path / "a command"
    command.write_text(f"#!{sys.executable}\n{program}\n")
    command.chmod(0o755)
    monkeypatch.setattr(selftest, "own_program", lambda: str(command))
    monkeypatch.setattr(selftest, "BRIDGE_SECONDS", 0.5)
    token = Agents(Places.under(tmp_path)).add("self-test")
    assert problem in selftest._bridge(tmp_path, token).problem


def test_the_gateway_counts_for_the_whole(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    require("bubblewrap")
    monkeypatch.setattr(selftest, "own_program", lambda: "true")
    assert selftest.main() == 1
    said = capsys.readouterr().out
    assert "BAD   gateway, through assent mcp" in said
    assert "ok    local sandbox, python" in said


def test_a_machine_on_which_no_code_can_run_is_bad(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def none(_: Places) -> list[object]:
        return []

    monkeypatch.setattr(selftest, "_sandboxes", none)
    assert selftest.main() == 1
    assert "BAD   sandboxes: there is none in which code can run" in capsys.readouterr().out


def test_every_language_that_has_an_image_is_tried(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In containers; those of the local sandbox are named by their versions."""
    monkeypatch.setattr("runner.sandbox.gvisor.program.located", direct_gvisor.program)
    places = Places.under(home)
    places.data.mkdir(parents=True)
    places.images.symlink_to(direct_gvisor.images().folder)
    found = {step.name: step for step in selftest._path(home / "self-test") if "gVisor without Docker" in step.name}
    assert {*found} == {f"gVisor without Docker sandbox, {language}" for language in LANGUAGES}
    assert not [step.line for step in found.values() if step.problem]
    # The images of compilers have hundreds of megabytes each: nobody builds them for a test.
    without = {name.rpartition(" ")[2] for name, step in found.items() if step.skipped}
    assert without <= {one.value for one, support in LANGUAGES.items() if support.toolchain is not None}


def test_requests_at_e2b_go_to_the_service_that_was_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether or not SANDBOX_TYPE names it: --sandbox does."""
    monkeypatch.delenv("SANDBOX_TYPE", raising=False)
    monkeypatch.setenv("E2B_API_URL", "https://e2b.example.org")
    monkeypatch.setenv("SANDBOX_TIMEOUT", "7")
    chosen = selftest._chosen("e2b", Isolation.E2B)
    assert (chosen["SANDBOX_TYPE"], chosen["E2B_API_URL"]) == ("e2b", "https://e2b.example.org")
    assert "SANDBOX_TIMEOUT" not in chosen
    assert selftest._chosen("gvisor", Isolation.GVISOR) == {"SANDBOX_TYPE": "gvisor"}
