"""Folders and files of Assent, by the XDG base directory specification. Standard library only: the bridge uses it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from runner.system import address_files
from runner.system.address_files import DOOR
from runner.system.private_folder import make_folder
from runner.system.shipped import resources

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["DOOR", "Places", "resources", "variables"]


class Places(NamedTuple):
    """The folders and files. Nothing is created until `make()`; folders are 0700, writers set the mode of files."""

    config: Path
    data: Path
    state: Path
    runtime: Path
    home: Path | None = None
    """The person's home folder; None where everything is below `ASSENT_HOME`."""

    @classmethod
    def standard(cls) -> Places:
        """Return the standard places: all below `ASSENT_HOME`, else by the XDG variables and their defaults."""
        if root := os.environ.get("ASSENT_HOME"):
            return cls.under(Path(root))
        home = Path.home()
        return cls(
            config=_xdg("XDG_CONFIG_HOME", home / ".config"),
            data=_xdg("XDG_DATA_HOME", home / ".local/share"),
            state=_xdg("XDG_STATE_HOME", home / ".local/state"),
            runtime=Path(address_files.session_folder(str(home))),
            home=home,
        )

    @classmethod
    def under(cls, root: Path) -> Places:
        return cls(root / "config", root / "data", root / "state", root / "runtime")

    def make(self) -> None:
        """Create the folders. Raises OSError where that is not possible."""
        for folder in (self.config, self.data, self.state, self.runtime, self.artifacts):
            make_folder(folder)

    @property
    def settings(self) -> Path:
        return self.config / "assent.yaml"

    @property
    def own_rules(self) -> Path:
        """Folder of the person's own rules of dangers."""
        return self.config / "rules"

    @property
    def ledger(self) -> Path:
        return self.data / "ledger.sqlite3"

    @property
    def images(self) -> Path:
        """Folder of unpacked images, for gVisor without a container engine."""
        return self.data / "images"

    @property
    def runsc(self) -> Path:
        """gVisor's program where `assent images --gvisor` has put it; `packaging/engine.sh` keeps its own there too."""
        return (self.state if self.home is None else _xdg("XDG_CACHE_HOME", self.home / ".cache")) / "runsc"

    @property
    def agents(self) -> Path:
        return self.config / "agents.json"

    @property
    def seen(self) -> Path:
        """File with the time each agent was last seen."""
        return self.state / "agents-seen.json"

    @property
    def away(self) -> Path:
        """Whether the person is away."""
        return self.state / "away.json"

    @property
    def last_isolation(self) -> Path:
        """File with the kind of sandbox that was used last."""
        return self.state / "isolation.json"

    @property
    def keyring_answer(self) -> Path:
        """File with the person's answer about the keyring."""
        return self.state / "keyring.json"

    @property
    def verified(self) -> Path:
        """File with the time at which the whole ledger was last found unbroken."""
        return self.state / "verified.json"

    @property
    def searches(self) -> Path:
        """File with searches of the history that a person saved."""
        return self.state / "searches.json"

    @property
    def exports(self) -> Path:
        """Folder with a note of each export that is being written."""
        return self.state / "exports"

    @property
    def sent(self) -> Path:
        """File that says up to where a log store has the history."""
        return self.state / "opentelemetry.json"

    @property
    def packages(self) -> Path:
        """Folder with packages that were fetched, by their hashes."""
        return self.state / "packages"

    @property
    def work(self) -> Path:
        """Folder of the working copies: layers over projects."""
        return self.state / "work"

    @property
    def grants(self) -> Path:
        return self.config / "grants.json"

    @property
    def grants_time(self) -> Path:
        """File with the latest time at which a grant with an end was there."""
        return self.state / "grants-time.json"

    @property
    def secrets(self) -> Path:
        return self.data / "secrets.json"

    @property
    def disputed(self) -> Path:
        """File with requests whose class the person marked as wrong, with their code."""
        return self.data / "disputed.jsonl"

    @property
    def artifacts(self) -> Path:
        return self.data / "artifacts" / "executions"

    @property
    def captures(self) -> Path:
        """Folder of files that runs created."""
        return self.data / "artifacts" / "files"

    @property
    def door(self) -> Path:
        """File with address and process of the running console, for the bridge."""
        return self.runtime / DOOR

    @property
    def doors(self) -> tuple[Path, ...]:
        """Files to which the console writes its address: `door`, and one below the home folder.

        Most clients start the bridge without the variables of the session.
        """
        at_home = () if self.home is None else (Path(address_files.at_home(str(self.home)), DOOR),)
        return tuple(dict.fromkeys((self.door, *at_home)))

    @property
    def known_doors(self) -> tuple[Path, ...]:
        """Return the files that may hold the address of a console, in the order in which they are read."""
        home = None if self.home is None else str(self.home)
        return tuple(map(Path, address_files.known(str(self.runtime), home)))

    @property
    def socket(self) -> Path:
        """Socket by which a second console raises the first one's window."""
        return self.runtime / "console.sock"

    @property
    def faults(self) -> Path:
        return self.state / "faults.log"

    @property
    def log(self) -> Path:
        return self.state / "assent.log"


def variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of `environment` that another process needs to find these folders."""
    if root := environment.get("ASSENT_HOME"):
        return {"ASSENT_HOME": os.path.abspath(root)}
    state = environment.get("XDG_STATE_HOME", "")
    usual = Path.home() / ".local/state"
    return {"XDG_STATE_HOME": state} if state.startswith("/") and Path(state) != usual else {}


def _xdg(variable: str, default: Path) -> Path:
    value = os.environ.get(variable, "")
    return (Path(value) if value.startswith("/") else default) / "assent"
