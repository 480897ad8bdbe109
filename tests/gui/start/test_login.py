"""Starting with the desktop: one file, written and removed as the settings ask, and never over the person's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from app.start import login
from runner.model.errors import KnownError
from runner.system.places import Places

if TYPE_CHECKING:
    from pathlib import Path

COMMAND = "/usr/bin/assent"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config/autostart/assent.desktop"


def test_it_is_written_and_removed_with_the_setting(file: Path) -> None:
    login.keep(file, COMMAND, wanted=False, before=False)
    assert not file.parent.exists()
    login.keep(file, COMMAND, wanted=True, before=False)
    assert 'Exec="/usr/bin/assent"\n' in file.read_text()
    login.keep(file, COMMAND, wanted=False, before=True)
    assert not file.exists()
    login.keep(file, COMMAND, wanted=False, before=True)


def test_an_unchanged_setting_leaves_alone_what_the_desktop_has_done(file: Path) -> None:
    login.keep(file, COMMAND, wanted=True, before=False)
    file.unlink()
    login.keep(file, COMMAND, wanted=True, before=True)
    assert not file.exists()


def test_a_command_that_has_moved_is_followed(file: Path) -> None:
    login.keep(file, "/old/assent", wanted=True, before=False)
    login.keep(file, COMMAND, wanted=True, before=True)
    assert COMMAND in file.read_text()


@pytest.mark.parametrize("wanted", [True, False])
@pytest.mark.parametrize("change", ["Hidden=true\n", "binary", "link", "folder"])
def test_a_file_that_the_person_changed_is_not_touched(file: Path, change: str, wanted: bool) -> None:
    login.keep(file, COMMAND, wanted=True, before=False)
    elsewhere = file.with_name("mine.desktop")
    if change == "link":
        file.rename(elsewhere)
        file.symlink_to(elsewhere)
    elif change == "folder":
        file.unlink()
        file.mkdir()
    elif change == "binary":
        file.write_bytes(b"\xff\xfe")
    else:
        file.write_text(file.read_text() + change)
    before = None if change == "folder" else file.read_bytes()
    with pytest.raises(KnownError):
        login.keep(file, "/another/assent", wanted=wanted, before=not wanted)
    assert change == "folder" or file.read_bytes() == before
    login.keep(file, "/another/assent", wanted=wanted, before=wanted)
    assert change == "folder" or file.read_bytes() == before
    assert file.is_symlink() == (change == "link")


def test_with_a_folder_of_its_own_no_desktop_is_touched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert login.file_for(Places.under(tmp_path)) is None
    monkeypatch.delenv("ASSENT_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    assert login.file_for(Places.standard()) == tmp_path / ".config/autostart/assent.desktop"


def test_the_command_is_quoted_as_desktops_read_it() -> None:
    assert login.quoted('/a folder/100%/it"s $HOME\\x') == '"/a folder/100%%/it\\\\"s \\\\$HOME\\\\\\\\x"'


def test_it_starts_minimized_where_that_is_wanted_and_a_change_of_that_is_taken_up(file: Path) -> None:
    login.keep(file, COMMAND, wanted=True, before=False, minimized=True)
    assert f'Exec="{COMMAND}" --minimized\n' in file.read_text()
    login.keep(file, COMMAND, wanted=True, before=True)
    assert "--minimized" not in file.read_text()
