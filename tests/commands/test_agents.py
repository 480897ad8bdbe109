"""`assent agents`: changing one agent from a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runner.commands import cli
from runner.identity.agents import Agents
from runner.identity.allowance import Allowance
from runner.model.errors import KnownError
from runner.system.places import Places

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from runner.identity.agents import Agent


@pytest.fixture
def places(home: Path) -> Places:
    places = Places.under(home)
    places.make()
    Agents(places).add("codex")
    return places


def run(places: Places, *words: str) -> int:
    """The exit code, in this process: nothing here needs one of its own."""
    arguments: argparse.Namespace = cli.parser().parse_args(["agents", *words])
    return int(arguments.command(arguments, places))


def codex(places: Places, name: str = "codex") -> Agent:
    found = Agents(places).found(name)
    assert found is not None
    return found


def test_an_agent_is_limited_shown_and_let_go_again(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    run(places, "set", "codex", "--rate", "5", "--seconds", "2.5", "--languages", "shell, python", "--network", "no")
    assert codex(places).allowance == Allowance(5, 0, 2.5, 0, ("python", "shell"), network=False)
    run(places, "set", "codex", "--ink", "4", "--packages", "no")
    assert (codex(places).ink, codex(places).allowance.network, codex(places).allowance.packages) == (4, False, False)
    capsys.readouterr()
    run(places, "set", "codex")
    shown = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert (shown["seconds"], shown["memory_mb"], shown["languages"]) == ("2.5", "as in the settings", "python, shell")
    run(
        places,
        "set",
        "codex",
        *["--rate", "0", "--seconds", "0", "--languages", "all", "--network", "yes", "--packages", "yes"],
    )
    assert codex(places).allowance == Allowance()


def test_rehearsals_are_switched_on_and_off(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    for word, mode in (("gvisor", "gvisor"), ("any", "any"), ("no", "")):
        capsys.readouterr()
        run(places, "set", "codex", "--try", word)
        assert codex(places).allowance.rehearse == mode
        assert dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())["rehearse"] == word


@pytest.mark.parametrize(
    "words",
    ["codex --rate 61", "codex --rate -1", "codex --languages ruby", "codex --ink 10", "nobody --rate 1"],
)
def test_what_cannot_be_set_changes_nothing(places: Places, words: str) -> None:
    with pytest.raises(KnownError):
        run(places, "set", *words.split())
    assert (codex(places).allowance, codex(places).ink) == (Allowance(), 0)


def test_an_agent_is_paused_and_resumed(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    run(places, "pause", "codex")
    run(places, "list")
    assert codex(places).paused and "codex" in (out := capsys.readouterr().out) and "paused, no call yet" in out
    run(places, "resume", "codex")
    assert not codex(places).paused
    with pytest.raises(KnownError, match="no agent called nobody"):
        run(places, "pause", "nobody")


def test_a_renaming_names_the_rules_that_stay_behind(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    (places.config / "rules.yaml").write_text("rules: [{name: no-net, action: deny, agents: [codex]}]")
    run(places, "rename", "codex", "codex-work")
    out = capsys.readouterr().out
    assert "Its token stays valid" in out and "do not count for codex-work: no-net" in out
    run(places, "list")
    assert "renamed to codex-work" in capsys.readouterr().out
    assert codex(places).revoked and not codex(places, "codex-work").revoked
