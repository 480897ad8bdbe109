"""Files that tools run, or take orders from, by their paths; and those of which none is known that does."""

from __future__ import annotations

import re

from runner.model.expression import expression

MAKEFILE = expression(r"(?i)(?:\A|/)(?:gnu)?makefile\Z|\.mk\Z")
PROGRAMS = expression(
    r"(?i).*\.(?:rb|pl|pm|php|lua|tcl|r|jl|awk|ps1|bat|cmd|vbs|pth|so|node|wasm|jar|class|exe|dll|service|timer|desktop"
    r"|gradle|ipynb|zsh|fish|csh|ksh|command|sql|tf|tfvars|hcl|nix|cmake|bzl|cron|crontab|socket|mount|kts|sbt|lds|ld)\Z"
    r"|(?:.*/)?(?:package\.json|composer\.json|pyproject\.toml|setup\.cfg|tox\.ini|pytest\.ini|noxfile|justfile|rakefile"
    r"|gemfile|jenkinsfile|(?:[\w-]++\.)?(?:docker|container)file(?:\.[\w-]++)?|vagrantfile|procfile|\.envrc"
    r"|\.gitattributes|\.gitmodules|\.gitconfig|\.pre-commit-(?:config|hooks)\.yaml|\.?justfile|taskfile[^/]*\.ya?ml"
    r"|crontab|tiltfile|earthfile|brewfile|podfile|guardfile|fastfile|workspace|build\.bazel|\.bazelrc|\.npmrc|\.yarnrc"
    r"|\.yarnrc\.yml|pip\.conf|lefthook\.ya?ml|(?:docker-)?compose[^/]*\.ya?ml|azure-pipelines[^/]*\.ya?ml|action\.ya?ml"
    r"|bitbucket-pipelines\.ya?ml|\.gitlab-ci[^/]*\.ya?ml|\.travis\.ya?ml|buildspec[^/]*\.ya?ml|cloudbuild\.ya?ml)\Z|(?:.*/)?\.(?:git|github|circleci|husky)/.*"
)
"""Files that interpreters and tools run, or take commands from."""
DATA_ENDINGS = frozenset(
    ("csv", "tsv", "txt", "json", "jsonl", "ndjson", "md", "log", "png", "jpg", "jpeg", "gif", "webp", "pdf", "parquet")
)
FOLDERS_OF_TOOLS = frozenset(("hooks", "node_modules", "site-packages", "bin", "sbin"))
NAMES_OF_TOOLS = expression(
    r"package-lock\.json|npm-shrinkwrap\.json|bower\.json|[tj]sconfig(\..*)?\.json"
    r"|deno\.json|project\.json|workspace\.json|lerna\.json|nx\.json|turbo\.json|vercel\.json|now\.json|angular\.json"
    r"|manifest\.json|(tasks|launch|settings|extensions|keybindings|mcp|hooks)(\..*)?\.json|devcontainer\.json"
    r"|cmake\w*\.(txt|json)|(requirements|constraints)\b.*\.txt|runtime\.txt"
    r"|(claude|agents|gemini|codex|cursor|skill|copilot-instructions)(\..*)?\.md|.*\.instructions\.md|.*\.prompt\.md"
)
"""More names with the ending of data by which tools, and agents, find what they are to run or to follow."""


AUTOMATIC = expression(r"\$(?:([@<^?*+|%])|\(([\w.-]++)\)|(\$))")
VALUE = expression(r"\A([A-Za-z_]\w*+)[ \t]*+(?:\?|::?|\+)?=[ \t]*+([\w./: @%+,=-]*+)(?:#.*)?")


def recipes(makefile: str) -> str:
    """Return what the rules of a makefile run, in the lines where it stands, with its variables as those of a shell."""
    return "\n".join(map(_in_shell, makefile.split("\n")))


def _in_shell(line: str) -> str:
    if line.startswith("\t"):
        return AUTOMATIC.sub(_variable, line[1:].lstrip("@-+ "))
    match = VALUE.fullmatch(line)
    return "" if match is None else f"{match[1]}='{match[2].strip()}'"


def _variable(match: re.Match[str]) -> str:
    """Return a variable of make as one of a shell; `$$` is a dollar sign."""
    if match[3]:
        return "$"
    return "$TARGET" if match[1] else f"${{{re.sub(r'[.-]', '_', match[2])}}}"


def is_data_file(path: str) -> bool:
    """Return whether no tool is known that runs, or takes orders from, a file of this path."""
    *folders, name = path.lower().split("/")
    if name.startswith(".") or any(folder.startswith(".") or folder in FOLDERS_OF_TOOLS for folder in folders):
        return False
    followed = PROGRAMS.match(path) or NAMES_OF_TOOLS.fullmatch(name)
    return name.rpartition(".")[2] in DATA_ENDINGS and not followed
