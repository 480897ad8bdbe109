"""The digest covers exactly what decides."""

from __future__ import annotations

from dataclasses import asdict, replace

import pytest

from runner.model.plan import Plan, Registry
from runner.model.request import Isolation, KnownFile, Language, Limits, NetworkMode, Request, Tool

BASE = Request("1", "claude", Tool.CODE_EXECUTE, 1.0, Language.PYTHON, "print(1)")


@pytest.mark.parametrize(
    "change",
    [
        {"agent": "codex"},
        {"tool": Tool.CODE_SANDBOX_INFO},
        {"language": Language.SHELL},
        {"code": "print(1) "},
        {"context": '{"a":1}'},
        {"stdin": "x"},
        {"files": ("a",)},
        {"packages": ("requests==2",)},
        {"network": NetworkMode.REGISTRIES},
        {"domains": ("example.org",)},
        {"limits": Limits(seconds=31)},
        {"isolation": Isolation.GVISOR},
        {"isolation": Isolation.PROCESS},
        {"image": "sha256:1"},
        {"protections": ("no network (namespace)",)},
    ],
)
def test_whatever_decides_changes_the_digest(change: dict[str, object]) -> None:
    assert replace(BASE, **change).digest != BASE.digest  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "change", [{"id": "2"}, {"received_at": 2.0}, {"title": "t"}, {"program": "p"}, {"session": 1}]
)
def test_what_does_not_decide_leaves_the_digest(change: dict[str, object]) -> None:
    assert replace(BASE, **change).digest == BASE.digest  # type: ignore[arg-type]


def test_isolation_is_ordered_from_weak_to_strong() -> None:
    ordered = (Isolation.PROCESS, Isolation.LOCAL, Isolation.DOCKER, Isolation.GVISOR_DIRECT, Isolation.GVISOR)
    assert [i.strength for i in ordered] == [0, 1, 2, 3, 4]


def test_every_text_that_decides_is_a_part() -> None:
    one = Request("1", "a", Tool.CODE_EXECUTE, 0.0, Language.PYTHON, "print(1)", '{"a": 1}', "yes")
    assert [(part.name, part.text) for part in one.parts] == [
        ("Code", "print(1)"),
        ("Variables", '{"a": 1}'),
        ("Input", "yes"),
    ]
    assert Request("1", "a", Tool.CODE_LIST_FILES, 0.0).parts == ()


def test_it_covers_the_values_as_a_dataclass_copies_them() -> None:
    """Digests of earlier versions in grants and in the history were made of `asdict`."""
    plan = Plan(Registry.PYPI, ("files.test",), ())
    request = replace(BASE, known=(KnownFile("a", "b"),), plan=plan, sandbox="s", files=("a", "b"), granted=("h",))
    whole = asdict(request)
    assert all(whole[name] == value for name, value in request.deciding().items())
    assert {"known", "plan", "sandbox", "files", "granted", "limits"} <= request.deciding().keys()
