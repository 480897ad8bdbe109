"""The README and the page on commands: every command works, every configuration is the one Assent gives."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import pytest_asyncio

from runner.assembly import open_engine
from runner.gateway.snippets import configurations
from runner.system.places import Places
from tests.components import require
from tests.test_architecture import ROOMS, levels

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text("utf-8")
COMMANDS = (ROOT / "resources/help/commands.md").read_text("utf-8")
"""The page of the help that has what the README leaves out."""
BOTH = f"{README}\n{COMMANDS}"
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
"""Its other commands are held by `test_contributing.py`."""
MOST_BYTES = 300_000
"""Of each picture: a README should open at once."""
SHOWN_BY_TESTS = {
    "assent e2b-key": "tests/commands/test_e2b_key.py::test_the_key_is_kept_and_taken_out_again",
    "make run": "tests/path/test_console.py::test_a_key_approves_and_the_agent_gets_the_output",
    "make demo": "tests/path/test_demo.py::test_the_demo_comes_to_its_end",
    "make languages": "tests/languages/test_catalogues.py::test_what_is_new_comes_without_a_translation",
    "make bench": "tests/bench/test_bench.py::test_a_whole_run_makes_the_page_of_the_help_and_says_when_and_where",
    "make check": "tests/quick/test_touched.py::test_a_change_begins_with_its_own_tests",
    "make lint": "tests/test_architecture.py::test_there_are_no_circles",
    "make test": "tests/test_project.py::test_make_lists_the_commands_it_has",
    "assent": "tests/path/test_console.py::test_a_key_approves_and_the_agent_gets_the_output",
    "assent mcp": "tests/gateway/test_stdio_bridge.py::test_a_call_goes_there_and_comes_back",
    "assent run FILE": "tests/commands/test_cli.py::test_a_file_is_asked_about_and_its_output_printed",
    "assent connect claude-code": "tests/commands/test_connect.py::"
    "test_it_waits_for_the_first_call_and_says_when_it_came",
    "assent connect claude-code --hook": "tests/path/test_real_hooks.py::"
    "test_the_clients_own_tools_do_only_what_was_approved",
    "assent connect": "tests/commands/test_connect.py::test_show_changes_nothing_and_yes_writes_what_it_showed",
    "assent connect CLIENT": "tests/commands/test_connect.py::test_show_changes_nothing_and_yes_writes_what_it_showed",
    "assent connect CLIENT --hook": "tests/commands/test_hook.py::"
    "test_a_shell_command_is_asked_as_one_and_the_answer_reaches_the_client",
    "assent connect CLIENT --remove": "tests/commands/test_connect.py::"
    "test_show_changes_nothing_and_yes_writes_what_it_showed",
    "assent hook CLIENT": "tests/commands/test_hook.py::"
    "test_a_shell_command_is_asked_as_one_and_the_answer_reaches_the_client",
    "assent try COMMAND": "tests/path/test_trying.py::test_what_a_command_changes_is_listed_applied_and_taken_back",
    "assent work claude": "tests/work/test_session.py::test_a_shell_is_in_the_inner_ring",
    "assent work -- PROGRAM": "tests/work/test_session.py::test_commands_are_told_with_the_start_and_the_end",
    "assent work --copy PROGRAM": "tests/work/test_console_at_work.py::"
    "test_approved_code_runs_over_the_project_as_the_program_sees_it",
    "assent work list": "tests/path/test_trying.py::test_what_a_command_changes_is_listed_applied_and_taken_back",
    "assent work changes NAME": "tests/path/test_trying.py::"
    "test_what_a_command_changes_is_listed_applied_and_taken_back",
    "assent work undo NAME": "tests/path/test_trying.py::test_what_a_command_changes_is_listed_applied_and_taken_back",
    "assent try -- make clean": "tests/path/test_trying.py::"
    "test_what_a_command_changes_is_listed_applied_and_taken_back",
    "assent demo": "tests/path/test_console.py::test_a_key_approves_and_the_agent_gets_the_output",
    "assent images": "tests/containers/test_images.py::test_the_command_builds_what_is_missing_and_tells_how_far_it_is",
    "assent images --gvisor": "tests/sandbox/test_gvisor_program.py::"
    "test_the_command_fetches_one_and_says_how_it_is_put_in_place",
    "make images": "tests/containers/test_images.py::test_the_command_builds_what_is_missing_and_tells_how_far_it_is",
    "assent assess FILE": "tests/commands/test_assess.py::test_text_names_level_line_reason_and_what_is_touched",
    "assent assess --kept": "tests/commands/test_kept_cases.py::test_cases_are_listed_with_what_is_said_of_them_now",
    "make fuzz": "tests/fuzz/test_targets.py::test_what_failed_once_fails_no_more",
    "make soak": "tests/soak/test_soak.py::test_a_console_that_agents_ask_for_a_moment",
    "make kill": "tests/soak/test_soak.py::test_a_console_that_is_killed",
    "make breaks": "tests/test_breaks.py::test_only_what_failed_is_red",
    "make agents": "tests/path/test_real_agents.py::test_a_real_agent_waits_for_the_click_and_reports_the_output",
    "assent self-test": "tests/commands/test_cli.py::test_the_self_test_goes_the_whole_way",
    "assent export --output FILE": "tests/commands/test_export.py::test_each_format_and_the_verifier_are_written",
    "assent history prune": "tests/commands/test_history.py::test_what_is_removed_is_signed_by_the_key_of_the_console",
    "assent history --follow": "tests/commands/test_history.py::"
    "test_entries_come_as_they_are_written_and_a_signal_ends_it",
    "assent agents revoke NAME": "tests/commands/test_cli.py::test_agents_are_added_listed_and_revoked",
    "assent agents rename NAME NEW": "tests/commands/test_agents.py::test_a_renaming_names_the_rules_that_stay_behind",
    "assent agents pause NAME": "tests/commands/test_agents.py::test_an_agent_is_paused_and_resumed",
    "assent agents resume NAME": "tests/commands/test_agents.py::test_an_agent_is_paused_and_resumed",
    "assent agents set NAME": "tests/commands/test_agents.py::test_an_agent_is_limited_shown_and_let_go_again",
    "make package": "tests/package/test_package.py::test_it_says_its_version_and_its_files_are_as_packed",
    "make package-test": "tests/package/test_story.py::test_an_update_while_it_is_open",
    "sudo apt install ./assent_0.1.0_amd64.deb": "tests/package/test_package.py::test_every_library_is_found",
    "tar -xf assent-0.1.0-linux-x86_64.tar.xz": "tests/package/test_package.py::test_the_archive_runs_from_any_folder",
    "./assent-0.1.0/assent": "tests/package/test_package.py::test_the_archive_runs_from_any_folder",
    "assent terminal": "tests/commands/test_terminal.py::test_what_is_approved_on_the_terminal_runs",
}
"""Commands that run for long, need a screen, or run the tests themselves, each with the test of what it does."""
RUN_HERE = {
    "assent agents add claude-code": (0,),
    "assent agents add NAME": (0,),
    "assent agents list": (0,),
    "assent doctor": (0, 1),  # 1 where something does not work on this machine
    "assent doctor --json": (0, 1),
    "assent verify": (0, 2),
    "assent verify PATH": (0, 2),
    "make help": (0,),
}
"""Commands that are run, with the exit codes that are right."""


def blocks(kind: str) -> list[str]:
    return [text for found, text in re.findall(r"(?ms)^```(\w+)\n(.*?)^```$", BOTH) if found == kind]


def commands() -> list[str]:
    """Every line of every shell block."""
    return [line for block in blocks("sh") for line in block.splitlines() if line]


def mentioned() -> set[str]:
    """Commands within sentences and tables."""
    plain = set(re.findall(r"`(make [\w-]+)`", CONTRIBUTING))
    return {*plain, *re.findall(r"`((?:assent|make|python)(?: [^`]+)?)`", BOTH)}


@pytest_asyncio.fixture
async def history(home: Path) -> Places:
    """A home whose console was open once."""
    places = Places.under(home)
    engine = open_engine(places, {})
    await engine.start(gateway=False)
    await engine.close("the test is over")
    return places


def test_every_command_is_run_or_shown_by_a_test() -> None:
    assert {*commands(), *mentioned()} == {*SHOWN_BY_TESTS, *RUN_HERE}


@pytest.mark.parametrize("test", sorted(set(SHOWN_BY_TESTS.values())))
def test_the_tests_named_here_exist(test: str) -> None:
    file, _, name = test.partition("::")
    assert re.search(rf"(?m)^(async )?def {name}\(", (ROOT / file).read_text("utf-8"))


@pytest.mark.asyncio
@pytest.mark.parametrize("command", RUN_HERE)
async def test_a_command_does_what_it_says(history: Places, command: str) -> None:
    program, *arguments = shlex.split(command.replace("PATH", str(history.ledger)))
    start = {"assent": [sys.executable, "-m", "app"], "make": ["make"]}[program]
    done = subprocess.run([*start, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode in RUN_HERE[command], done.stderr
    assert done.stdout.strip()
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", [name for name in SHOWN_BY_TESTS if name.startswith("make ")])
def test_make_knows_the_command(command: str) -> None:
    done = subprocess.run([*command.split(), "-n"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "packaging/setup.sh" in done.stdout


def test_the_library_does_what_it_says() -> None:
    require("bubblewrap")
    (program,) = blocks("python")
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == ["42", "5"]


def test_configurations_are_those_that_assent_gives() -> None:
    given = {one.client: one.text for one in configurations("x", "TOKEN", "http://127.0.0.1:17317/mcp")}
    assert blocks("json") == [given["Claude Code"], given["Any client that speaks HTTP"]]
    assert blocks("toml") == [given["Codex"]]
    first = list(given)[:6]
    assert all('"mcp"' in given[name] and "17317" not in given[name] for name in first), "the bridge is shown first"
    for client in ("Gemini CLI", "Cursor", "VS Code"):
        assert client in given and client in BOTH


def test_every_path_and_link_leads_somewhere() -> None:
    linked = [link.split("#")[0] for link in re.findall(r"\]\(([^)]+)\)", README) if "://" not in link]
    named = re.findall(r"`((?:app|images|packaging|runner|resources|tests)/[\w./*-]*)`", README)
    assert linked
    for path in (*linked, *named):
        assert list(ROOT.glob(path.rstrip("/"))), path


def test_the_pictures_are_small_enough() -> None:
    pictures = re.findall(r"!\[[^]]+\]\(([^)]+\.(?:png|webp))\)", README)
    assert pictures
    assert all((ROOT / picture).stat().st_size < MOST_BYTES for picture in pictures)


def _picture_of_the_house() -> str:
    (drawing,) = re.findall(r"(?ms)^```mermaid\n(.*?)^```$", CONTRIBUTING)
    return str(drawing)


def test_the_picture_of_the_house_has_every_room() -> None:
    drawing = _picture_of_the_house()
    nodes = dict(re.findall(r'(\w+)\["([^<"]+)<br>', drawing))
    drawn = [room for title in nodes.values() for room in title.split(", ")]
    assert sorted(drawn) == sorted(" ".join(ROOMS.values()).split())


def test_the_picture_draws_no_import_upward() -> None:
    drawing = _picture_of_the_house()
    (engine_part,) = re.findall(r"(?s)subgraph runner\n(.*?)\n  end", drawing)
    heights = levels("runner")
    links = re.findall(r"(\w+)(?:\[[^]]+\])? --> (\w+)", engine_part)
    assert len(links) > 10
    assert [link for link in links if heights[link[0]] <= heights[link[1]]] == []


def test_the_glossary_is_short() -> None:
    (table,) = re.findall(r"(?s)\| Word \| Meaning \|\n\|---\|---\|\n(.*?)(?:\n\n|\n$)", COMMANDS)
    words = [row.split("|")[1].strip() for row in table.splitlines()]
    assert 10 < len(words) <= 25
    assert len(set(words)) == len(words)
