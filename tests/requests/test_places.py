"""Files of a client's tool are where the disk has them, whatever they are called."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from runner.gateway.client_tools import client_submission
from runner.model.assessment import Level
from runner.model.errors import KnownError, Refused
from runner.model.request import Isolation, Request
from runner.policy.decide import Policy, parameters
from runner.policy.rules import Action, Condition, Rule, Rules
from runner.requests import intake, places
from runner.requests.places import on_disk, real_path, require_unmoved
from runner.risk.tools.tools import weigh
from runner.settings.loading import Settings
from runner.system.pattern import Pattern

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.asyncio
DOCS = r"^docs/.*\.md$"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "docs").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.md").write_text("x")
    return folder


async def asked(folder: Path, name: str, **given: object) -> Request:
    wanted = await on_disk(client_submission("a", name, given, str(folder)))
    return intake.request(wanted, Settings(), Isolation.LOCAL)


async def write(folder: Path, path: str) -> Request:
    return await asked(folder, "Write", file_path=path, content="hello")


def allowed(request: Request) -> bool:
    """Whether a rule lets it through that allows the Markdown files of docs."""
    rule = Rule("docs", Action.ALLOW, ("client_edit",), (), (Condition("file_path", matches=Pattern(DOCS)),))
    decided = Policy(Settings(), Rules((rule,))).decide(request, weigh(request))
    return hasattr(decided, "verdict")


async def test_a_file_by_its_name_is_allowed_by_a_rule(project: Path) -> None:
    for path in ("docs/notes.md", str(project / "docs/notes.md"), "./docs//notes.md", "x/../docs/notes.md"):
        request = await write(project, path)
        assert request.files == (str(project / "docs/notes.md"),) and allowed(request), path


@pytest.mark.parametrize("kind", ["file", "dangling", "folder"])
async def test_a_link_out_of_the_folder_is_critical_and_no_rule_takes_it_for_what_it_is_called(
    project: Path, kind: str
) -> None:
    outside = project.parent / "outside"
    if kind == "folder":
        (project / "docs").rmdir()
        (project / "docs").symlink_to(outside)
    else:
        (project / "docs/todo.md").symlink_to(outside / ("secret.md" if kind == "file" else "new.md"))
    request = await write(project, "docs/todo.md")
    assessment = weigh(request)
    assert not allowed(request) and assessment.level is Level.CRITICAL
    assert "docs/todo.md is a link to" in assessment.verdict.sentence
    assert any(f"docs/todo.md is a link to {outside}" in part.text for part in request.beside)


async def test_a_link_within_the_folder_is_judged_by_where_it_leads(project: Path) -> None:
    (project / ".git/hooks").mkdir(parents=True)
    (project / "docs/todo.md").symlink_to("../.git/hooks/pre-commit")
    request = await write(project, "docs/todo.md")
    assert not allowed(request)
    assert {"edit.startup", "edit.link"} <= {one.id for one in weigh(request).findings}
    patch = "*** Begin Patch\n*** Add File: docs/todo.md\n+x\n*** End Patch"
    assert "edit.startup" in {one.id for one in weigh(await asked(project, "apply_patch", command=patch)).findings}


async def test_two_dots_do_not_lead_out_of_where_a_rule_allows(project: Path) -> None:
    patch = "*** Begin Patch\n*** Add File: docs/../x.md\n+x\n*** End Patch"
    request = await asked(project, "apply_patch", command=patch)
    assert request.files == (str(project / "x.md"),) and not allowed(request)
    # The text and the disk differ in what it means: both are named.
    (project / "docs/out").symlink_to(project.parent / "outside")
    request = await write(project, "docs/out/../notes.md")
    assert set(request.files) == {str(project / "docs/notes.md"), str(project.parent / "notes.md")}
    assert not allowed(request)


async def test_a_name_below_the_home_folder_may_mean_either(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(project.parent))
    request = await write(project, "~/notes.md")
    assert request.files == (str(project / "~/notes.md"), str(project.parent / "notes.md"))
    assert "edit.outside" in {one.id for one in weigh(request).findings} and not allowed(request)


async def test_a_project_that_is_itself_a_link_is_no_alarm(project: Path) -> None:
    called = project.parent / "called"
    called.symlink_to(project)
    for path in ("docs/notes.md", str(called / "docs/notes.md"), str(project / "docs/notes.md")):
        request = await write(called, path)
        assert allowed(request), path
        assert not {one.id for one in weigh(request).findings} & {"edit.link", "edit.outside"}


async def test_rules_meet_every_file_of_a_patch_by_both_of_its_names(project: Path) -> None:
    patch = "*** Begin Patch\n*** Add File: docs/a.md\n+x\n*** Delete File: src/b.py\n*** End Patch"
    request = await asked(project, "apply_patch", command=patch)
    found = parameters(request)["file_path"]
    assert found == ["docs/a.md", str(project / "docs/a.md"), "src/b.py", str(project / "src/b.py")]


async def test_what_became_a_link_while_a_person_looked_is_refused(project: Path) -> None:
    request = await write(project, "docs/todo.md")
    assert request.client is not None
    await require_unmoved(request.client)
    (project / "docs/todo.md").symlink_to(project.parent / "outside/secret.md")
    with pytest.raises(KnownError, match="since the question was asked"):
        await require_unmoved(request.client)


async def test_a_path_through_what_each_program_has_of_its_own_is_refused(project: Path) -> None:
    (project / "docs/x").symlink_to("/proc/self/cwd")
    for path in ("/proc/self/root/etc/passwd", "docs/x/notes.md", "/dev/stdout"):
        with pytest.raises(Refused, match="of which each program has its own"):
            await write(project, path)
    (project / "docs/y").symlink_to("y")
    with pytest.raises(Refused, match="circle"):
        real_path(str(project / "docs/y"))


async def test_a_disk_that_does_not_answer_takes_no_more_threads(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    over, looks = threading.Event(), list[int]()

    def hang(*_: object) -> None:
        looks.append(1)
        over.wait(60)

    monkeypatch.setattr(places, "PATIENCE", 0.05)
    monkeypatch.setattr(places, "_turns", threading.BoundedSemaphore(places.MOST_AT_ONCE))
    monkeypatch.setattr(places, "look", hang)
    try:
        for _ in range(places.MOST_AT_ONCE + 3):
            with pytest.raises(KnownError, match="does not say"):
                await write(project, "docs/notes.md")
    finally:
        over.set()
    assert len(looks) <= places.MOST_AT_ONCE


async def test_what_the_disk_says_is_in_the_digest(project: Path) -> None:
    request = await write(project, "docs/todo.md")
    assert request.client is not None and request.client.places
    assert replace(request, client=replace(request.client, places=())).digest != request.digest
