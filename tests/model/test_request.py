"""The digest covers exactly what decides."""

from __future__ import annotations

from dataclasses import asdict, replace

import pytest

from runner.model.plan import BuildFile, OwnProgram, Plan, PlannedPackage, Registry
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
    del whole["plan"]["indexes"]
    assert all(whole[name] == value for name, value in request.deciding().items())
    assert {"known", "plan", "sandbox", "files", "granted", "limits"} <= request.deciding().keys()


def test_a_plan_of_one_index_has_the_digest_that_earlier_versions_recorded() -> None:
    made_with = BuildFile("b", "1", "b.whl", "1" * 64, 1, "https://files.test/b")
    runs = (OwnProgram("setup.py", "x"),)
    url = "https://files.test/a"
    package = PlannedPackage("a", "1", "a.tar.gz", "0" * 64, 1, url, programs=runs, build_files=(made_with,))
    plan = Plan(Registry.PYPI, ("files.test",), (package,))
    recorded = "8822e12117706a5b8448d02491aed1788befd2bb4a6b82e3a9e84e97650d4248"
    assert replace(BASE, plan=plan).digest == recorded
    other = replace(package, index="a", also_in=("b",))
    changed = (
        replace(plan, indexes=("a", "b")),
        replace(plan, packages=(other,)),
        replace(plan, packages=(replace(package, build_files=(replace(made_with, index="a"),)),)),
    )
    assert len({recorded, *(replace(BASE, plan=one).digest for one in changed)}) == 4
