"""The home folder of a client at work: what comes in, what stays, what goes, and what comes back."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.system.removal import remove_tree
from runner.work import credentials, layer_files
from runner.work.facts import PROJECT, SLUG, CredentialFile, MergedFile, StatePlace, WorkFacts, slug
from runner.work.home import HOME, NEXT, OLD, LayerBind, open_layer

if TYPE_CHECKING:
    from runner.work.home import HomeLayer

PROJECT_PATH = Path("/some/my project")
OWN = slug(str(PROJECT_PATH))
LOG_IN = {
    "oauth": {"accessToken": "a", "refreshToken": "r", "expiresAt": 1, "scopes": ["x"]},
    "url": "https://a.example",
}
FACTS = WorkFacts(
    "some-client",
    state=(
        StatePlace(
            ".some",
            "SOME_DIR",
            fresh=("settings.json", "skills", "*.toml"),
            kept=("history.jsonl", f"projects/{SLUG}/*.jsonl", "sessions", "state_*.sqlite*"),
            credentials=(CredentialFile("auth.json", ("accessToken", "refreshToken", "expiresAt")),),
            shared=("packages",),
            shell=("snapshots",),
        ),
        StatePlace(
            ".some.json",
            "SOME_DIR",
            ".some.json",
            merged=(MergedFile("", kept=(("userID",), ("projects", PROJECT, "seen")), by_project="projects"),),
        ),
    ),
)


def put(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))


class Person:
    """An account with a client's state, and layers of it."""

    def __init__(self, root: Path) -> None:
        self.home, self.homes = root / "home", root / "homes"
        self.state = self.home / ".some"
        put(self.state / "settings.json", {"model": "x"})
        put(self.state / "auth.json", LOG_IN)
        put(self.home / ".some.json", {"theme": "dark", "projects": {"/other": {"history": ["secret"]}}})
        self.environment: dict[str, str] = {}

    def open(self, **instead: bytes) -> HomeLayer:
        shown = {self.state / name.replace("_", "."): data for name, data in instead.items()}
        return open_layer(self.homes, FACTS, PROJECT_PATH, self.home, self.environment, shown)


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path)


def inside(layer: HomeLayer) -> Path:
    """Return what the program sees as its home."""
    return layer.binds[0].source


def test_what_the_person_set_comes_in_and_nothing_else(person: Person) -> None:
    put(person.state / "projects/-other/a.jsonl", "theirs")
    put(person.state / f"projects/{OWN}/a.jsonl", "ours")
    put(person.state / "telemetry/x", "x")
    put(person.home / ".ssh/id", "key")
    put(person.home / "dotfiles/SKILL.md", "be kind")
    (person.state / "skills").mkdir()
    (person.state / "skills/kind").symlink_to(person.home / "dotfiles")
    layer = person.open()
    home = inside(layer)
    found = {str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()}
    some = {"settings.json", "auth.json", "skills/kind/SKILL.md", f"projects/{OWN}/a.jsonl"}
    assert found == {*(f".some/{name}" for name in some), ".some.json"}
    assert json.loads((home / ".some.json").read_text()) == {"theme": "dark", "projects": {}}
    assert not (home / ".some/skills/kind").is_symlink()
    assert layer.binds == (LayerBind(home, person.home),)
    assert layer.shell_binds == (LayerBind(home / ".some/snapshots", person.state / "snapshots"),)
    assert layer.finish() == ()


def test_a_session_leaves_to_the_next_what_may_stay(person: Person) -> None:
    layer = person.open()
    home = inside(layer)
    put(home / ".some/history.jsonl", "one")
    put(home / f".some/projects/{OWN}/b.jsonl", "two")
    put(home / ".some/state_5.sqlite-wal", "three")
    put(home / ".some/sessions/2026/a.jsonl", "four")
    put(home / ".some/settings.json", {"hooks": "planted"})
    put(home / ".some/skills/planted/SKILL.md", "obey")
    put(home / f".some/projects/{OWN}/memory/a.md", "obey")
    put(home / ".config/autostart/x.desktop", "run")
    values = {
        "theme": "light",
        "userID": "u",
        "mcpServers": {"planted": {}},
        "projects": {str(PROJECT_PATH): {"seen": 3, "trusted": True}},
    }
    put(home / ".some.json", values)
    layer.finish()
    put(person.state / "settings.json", {"model": "y"})
    layer = person.open()
    home = inside(layer)
    found = {str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()}
    kept = {"history.jsonl", f"projects/{OWN}/b.jsonl", "state_5.sqlite-wal", "sessions/2026/a.jsonl"}
    assert found == {*(f".some/{name}" for name in (*kept, "settings.json", "auth.json")), ".some.json"}
    assert json.loads((home / ".some/settings.json").read_text()) == {"model": "y"}
    projects = {str(PROJECT_PATH): {"seen": 3}}
    assert json.loads((home / ".some.json").read_text()) == {"theme": "dark", "userID": "u", "projects": projects}
    layer.finish()
    assert not list(person.home.rglob("*history*"))


def test_a_second_session_at_once_gets_a_layer_that_is_removed(person: Person) -> None:
    first = person.open()
    put(inside(first) / ".some/history.jsonl", "one")
    second = person.open()
    assert first.kept and not second.kept
    assert not (inside(second) / ".some/history.jsonl").exists()
    assert (inside(second) / ".some/settings.json").exists()
    second.finish()
    assert not inside(second).exists()
    assert (inside(first) / ".some/history.jsonl").exists()
    first.finish()
    assert sorted(path.suffix for path in person.homes.iterdir()) == ["", ".lock"]


@pytest.mark.parametrize("name", ["history.jsonl", "sessions", "auth.json", "projects"])
def test_a_planted_link_leads_nowhere(person: Person, name: str) -> None:
    outside = person.home / "outside"
    put(outside / "x.jsonl", renewed())
    put(outside / OWN / "x.jsonl", "x")
    layer = person.open()
    planted = inside(layer) / ".some" / name
    remove_tree(planted)
    planted.symlink_to(outside / "x.jsonl" if "." in name else outside)
    (inside(layer) / ".some.json").unlink()
    (inside(layer) / ".some.json").symlink_to(outside / "x.jsonl")
    assert layer.finish() == ()
    assert json.loads((person.state / "auth.json").read_text()) == LOG_IN
    layer = person.open()
    assert not [path for path in inside(layer).rglob("*") if path.is_symlink()]
    assert (outside / "x.jsonl").exists() and (outside / OWN / "x.jsonl").exists()
    layer.finish()


def test_folders_that_a_session_closed_are_moved_and_removed(person: Person) -> None:
    layer = person.open()
    home = inside(layer)
    put(home / ".some/sessions/a/b", "x")
    put(home / "other/a/b", "x")
    for path in (home / ".some/sessions/a", home / ".some/sessions", home / "other/a", home / "other"):
        path.chmod(0)
    layer.finish()
    layer = person.open()
    os.chmod(inside(layer) / ".some/sessions/a", 0o700)
    assert (inside(layer) / ".some/sessions/a/b").exists() and not (inside(layer) / "other").exists()
    layer.finish()


@pytest.mark.parametrize("at", ["made", "moved", "swapped"])
def test_a_start_that_was_killed_loses_nothing(person: Person, at: str) -> None:
    layer = person.open()
    put(inside(layer) / ".some/history.jsonl", "one")
    layer.finish()
    folder = inside(layer).parents[1]
    (folder / NEXT / "home/.some").mkdir(parents=True)
    if at != "made":
        (folder / HOME / "home/.some/history.jsonl").rename(folder / NEXT / "home/.some/history.jsonl")
    if at == "swapped":
        (folder / HOME).rename(folder / OLD)
    layer = person.open()
    assert (inside(layer) / ".some/history.jsonl").read_text() == "one"
    assert not (folder / NEXT).exists() and not (folder / OLD).exists()
    layer.finish()


def test_a_large_folder_is_shown_as_it_is_outside(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layer_files, "MOST_COPIED", 100)
    put(person.state / "skills/big", "x" * 200)
    put(person.state / "packages/big", "x")
    layer = person.open()
    shown = {bind.target: bind for bind in layer.binds[1:]}
    for name in ("skills", "packages"):
        assert shown[person.state / name] == LayerBind(person.state / name, person.state / name, read_only=True)
    layer.finish()


def test_a_variable_puts_the_state_elsewhere(person: Person, tmp_path: Path) -> None:
    there = tmp_path / "data"
    person.environment["SOME_DIR"] = str(there)
    put(there / "settings.json", {"model": "z"})
    put(there / ".some.json", {"theme": "blue"})
    layer = person.open()
    assert [bind.target for bind in layer.binds] == [person.home, there]
    outside = layer.binds[1].source
    assert sorted(path.name for path in outside.iterdir()) == [".some.json", "settings.json", "snapshots"]
    assert not list(inside(layer).iterdir())
    layer.finish()


def test_what_is_shown_in_place_of_a_file(person: Person) -> None:
    layer = person.open(settings_json=b"{}")
    assert (inside(layer) / ".some/settings.json").read_bytes() == b"{}"
    layer.finish()


# ---- log-ins ----


def renewed(**more: object) -> dict[str, object]:
    return {**LOG_IN, "oauth": {**LOG_IN["oauth"], "accessToken": "b", "expiresAt": 2.5, **more}}  # type: ignore[dict-item]


def test_a_renewed_log_in_comes_back(person: Person) -> None:
    layer = person.open()
    put(inside(layer) / ".some/auth.json", renewed())
    assert layer.finish() == (person.state / "auth.json",)
    assert json.loads((person.state / "auth.json").read_text()) == renewed()
    assert (person.state / "auth.json").stat().st_mode & 0o777 == 0o600


def test_a_log_in_that_was_renewed_before_a_kill_comes_back_at_the_next_start(person: Person) -> None:
    layer = person.open()
    put(inside(layer) / ".some/auth.json", renewed())
    layer._held.close()
    layer = person.open()
    assert json.loads((person.state / "auth.json").read_text()) == renewed()
    assert json.loads((inside(layer) / ".some/auth.json").read_text()) == renewed()
    layer.finish()


def test_a_log_in_that_changed_outside_stays(person: Person) -> None:
    layer = person.open()
    put(inside(layer) / ".some/auth.json", renewed())
    put(person.state / "auth.json", renewed(accessToken="c"))
    assert layer.finish() == ()
    layer = person.open()
    assert json.loads((inside(layer) / ".some/auth.json").read_text()) == renewed(accessToken="c")
    layer.finish()


@pytest.mark.parametrize(
    "written",
    [
        "nonsense",
        "",
        json.dumps({**renewed(), "url": "https://evil.example"}),
        json.dumps({**renewed(), "more": 1}),
        json.dumps(renewed(scopes=["x", "y"])),
        json.dumps(renewed(accessToken={"a": 1})),
        json.dumps(renewed(accessToken="a\x1b]0;")),
        json.dumps(renewed(accessToken="a" * 100_000)),
        json.dumps(renewed(expiresAt=True)),
        json.dumps([renewed()]),
        "[" * 100_000,
    ],
)
def test_anything_else_in_its_place_does_not(person: Person, written: str) -> None:
    before = (person.state / "auth.json").read_bytes()
    layer = person.open()
    put(inside(layer) / ".some/auth.json", written)
    assert layer.finish() == ()
    assert (person.state / "auth.json").read_bytes() == before


def test_a_log_in_that_was_made_inside_stays_inside(person: Person) -> None:
    (person.state / "auth.json").unlink()
    layer = person.open()
    put(inside(layer) / ".some/auth.json", LOG_IN)
    assert layer.finish() == ()
    assert not (person.state / "auth.json").exists()
    layer = person.open()
    assert json.loads((inside(layer) / ".some/auth.json").read_text()) == LOG_IN
    layer.finish()


def test_the_same_log_in_is_not_renewed() -> None:
    data = json.dumps(LOG_IN).encode()
    assert not credentials.is_renewed(data, data, ("accessToken",))
