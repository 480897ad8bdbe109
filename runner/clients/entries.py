"""The place of the bridge and its token in each client's configuration. Standard library only: hooks read it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SERVER = "assent"
"""Name of the server in every configuration."""


class AccountFile(NamedTuple):
    """A file below the home folder, or below the folder that a variable names instead of `folder`."""

    folder: str
    name: str
    variable: str = ""

    def path(self, environment: Mapping[str, str], home: Path) -> Path:
        named = environment.get(self.variable, "") if self.variable else ""
        return (Path(named) if named.startswith("/") else home / self.folder) / self.name


class BridgeEntry(NamedTuple):
    """Where one client has the entry of the bridge."""

    file: AccountFile
    table: str
    project: str = ""
    """The file in a project that may have it instead; '' where it reads none there."""
    by_project: str = ""
    """The table of `file` that has one for each project instead."""
    variables: str = "env"
    """What it calls the variables that the bridge is started with."""

    @property
    def has_projects(self) -> bool:
        """Whether the client reads a configuration that counts in one project."""
        return bool(self.project or self.by_project)

    def of_account(self, environment: Mapping[str, str], home: Path) -> tuple[Path, tuple[str, ...]]:
        """Return file and names of the entry that counts in every project."""
        return self.file.path(environment, home), (self.table, SERVER)

    def of_project(self, environment: Mapping[str, str], home: Path, folder: Path) -> tuple[Path, tuple[str, ...]]:
        """Return file and names of the entry that counts in `folder`."""
        if self.by_project:
            return self.file.path(environment, home), (self.by_project, str(folder), self.table, SERVER)
        return folder / self.project, (self.table, SERVER)

    def places(self, environment: Mapping[str, str], home: Path, folder: str) -> Iterator[tuple[Path, tuple[str, ...]]]:
        """Yield where it may be for a program that works in `folder`: the account first, then the nearest project."""
        yield self.of_account(environment, home)
        if self.has_projects:
            for project in projects(folder):
                yield self.of_project(environment, home, project)


def projects(folder: str) -> Iterator[Path]:
    """Yield the folders that may be the project of a program that works in `folder`, the nearest first."""
    if folder.startswith("/"):
        yield from (Path(folder), *Path(folder).parents)


CONFIG = "XDG_CONFIG_HOME"
ENTRIES = {
    # The file with its projects is never part of one: Claude Code calls these entries `local`.
    "claude-code": BridgeEntry(
        AccountFile(".", ".claude.json", "CLAUDE_CONFIG_DIR"), "mcpServers", by_project="projects"
    ),
    "codex": BridgeEntry(AccountFile(".codex", "config.toml", "CODEX_HOME"), "mcp_servers", ".codex/config.toml"),
    "gemini-cli": BridgeEntry(AccountFile(".gemini", "settings.json"), "mcpServers", ".gemini/settings.json"),
    "cursor": BridgeEntry(AccountFile(".cursor", "mcp.json"), "mcpServers", ".cursor/mcp.json"),
    "vscode": BridgeEntry(AccountFile(".config", "Code/User/mcp.json", CONFIG), "servers", ".vscode/mcp.json"),
    "goose": BridgeEntry(AccountFile(".config", "goose/config.yaml", CONFIG), "extensions", variables="envs"),
    "qwen-code": BridgeEntry(AccountFile(".qwen", "settings.json"), "mcpServers", ".qwen/settings.json"),
    "copilot-cli": BridgeEntry(AccountFile(".copilot", "mcp-config.json", "COPILOT_HOME"), "mcpServers"),
    "opencode": BridgeEntry(
        AccountFile(".config", "opencode/opencode.json", CONFIG), "mcp", "opencode.json", variables="environment"
    ),
    "cline": BridgeEntry(AccountFile(".cline", "data/settings/cline_mcp_settings.json"), "mcpServers"),
    "zed": BridgeEntry(AccountFile(".config", "zed/settings.json", CONFIG), "context_servers", ".zed/settings.json"),
}
