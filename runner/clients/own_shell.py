"""The shell command in which a client wraps its model's command, seen with the programs; and taken off again.

Each wrapping has to match whole, character by character. One of another version is shown as it is, with the command in
it: too much on screen, but nothing left out.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from runner.work.shell_words import PLAIN_PATH, QUOTED, one_word, script, unwrapped

if TYPE_CHECKING:
    from collections.abc import Sequence

_QUIET = r"2>/dev/null \|\| true && "
CLAUDE_CODE = re.compile(
    r"(?:\{ case \"\$\{BASH_VERSINFO-\}\" in '2'\|'3'\) \\builtin printf '%s\\n' "
    r"'__CLAUDE_CODE_DID_NOT_RUN_BASH_TOO_OLD='\"\$\{BASH_VERSION-\}\" >&2; "
    r"\\builtin exit 126; \\exit 126;; esac; \} && )?"
    rf"(?:source {PLAIN_PATH} {_QUIET})?"
    rf"(?:\\builtin shopt -u extglob {_QUIET})?"
    r"(?:\{ \\builtin unalias -- '[\w-]+'; \\builtin unset -f -- '[\w-]+'; \} >/dev/null 2>&1 \|\| true && )*"
    rf"eval (?P<command>{QUOTED})(?: \\?< ?/dev/null)? && pwd -P >\| {PLAIN_PATH}"
)
"""It sources a snapshot of the person's shell, runs the command, and notes the folder that it ended in."""
CLAUDE_SNAPSHOT = re.compile(rf"SNAPSHOT_FILE={PLAIN_PATH}/shell-snapshots/snapshot-\w+-[0-9]+-\w+\.sh\n")
_NAME, _OWN = "[A-Za-z_][A-Za-z0-9_]*", "__CODEX_SNAPSHOT_[A-Z_]+[0-9]*"
CODEX_LINE = re.compile(
    rf'|fi|{_OWN}="\$\{{{_NAME}(?:\+x|-)\}}"'
    rf"|if \. {PLAIN_PATH} >/dev/null 2>&1; then :; fi"
    rf'|if \[ -n "\$\{{{_OWN}\}}" \]; then|if \[ -n "\${_OWN}" \] \|\| \[ -n "\$\{{{_NAME}\+x\}}" \]; then'
    rf'|  if \[ -z "\$\{{{_NAME}\+x\}}" \] \|\| \[ "\$\{{{_NAME}-\}}" != "\$\{{{_OWN}\}}" \]; then'
    rf' export {_NAME}="\$\{{{_OWN}\}}"; else export {_NAME}; fi'
    rf"|else builtin unset {_NAME} 2>/dev/null \|\| command unset {_NAME}; fi"
    rf"|builtin unset {_OWN} {_OWN} 2>/dev/null \|\| command unset {_OWN} {_OWN}"
    rf'|if \[ -n "\$\{{PATH:-\}}" \]; then export PATH={PLAIN_PATH}:"\$PATH"; else export PATH={PLAIN_PATH}; fi'
)
"""A line before the command: it sources a snapshot of the person's shell, and sets some variables again."""
CODEX_COMMAND = re.compile(rf"exec {PLAIN_PATH} -c (?P<command>{QUOTED})")
CODEX_SNAPSHOTS = frozenset({"6414b5f0a9e24341a4f2215ad77a0ae9b1871bcfa1dfff48260df5e29f4f8638"})
"""SHA-256 of all that Codex 0.169 gives bash for its look at the shell. A command of its model comes in the same form,
and may begin with the same lines: so any other text is judged, also that of another version."""
CODEX_TRIAL = re.compile(r'set -e; \. "/[\w./@%+ -]*/shell_snapshots/[\w-]+\.tmp-[0-9]+"')
GEMINI_CLI = re.compile(
    r"shopt -u promptvars nullglob extglob nocaseglob dotglob; "
    rf"(?:_bgpids_file={PLAIN_PATH}\n)?\(\n(?:  trap 'jobs -p > \"\$_bgpids_file\"' EXIT\n)?"
    r"(?P<command>.*)\n\)\n__code=\$\?\nexit \$__code",
    re.DOTALL,
)
"""It runs the command in a group, and notes what that leaves running."""


def claude_code(argv: Sequence[str]) -> str:
    """Return the command of Claude Code's shell."""
    if (found := CLAUDE_CODE.fullmatch(script(argv) or "")) and (command := one_word(found["command"])) is not None:
        return command
    return unwrapped(argv)


def codex(argv: Sequence[str]) -> str:
    """Return the command of Codex's shell: with a snapshot of the shell, it ends in `exec bash -c COMMAND`."""
    lines = (script(argv) or "").split("\n")
    own = next((at for at, line in enumerate(lines) if not CODEX_LINE.fullmatch(line)), len(lines))
    if own and (found := CODEX_COMMAND.fullmatch("\n".join(lines[own:]))):
        return one_word(found["command"]) or unwrapped(argv)
    return unwrapped(argv)


def gemini_cli(argv: Sequence[str]) -> str:
    """Return the command of Gemini CLI's shell."""
    if found := GEMINI_CLI.fullmatch(script(argv) or ""):
        return found["command"]
    return unwrapped(argv)


def claude_code_prepares(argv: Sequence[str]) -> bool:
    """Return whether Claude Code takes its snapshot of the shell. No command of a model, and no hook, starts so."""
    return list(argv[1:3]) == ["-c", "-l"] and len(argv) == 4 and CLAUDE_SNAPSHOT.match(argv[3]) is not None


def codex_prepares(argv: Sequence[str]) -> bool:
    """Return whether Codex takes its snapshot of the shell, or tries it."""
    text = script(argv) or ""
    hash = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return hash in CODEX_SNAPSHOTS or CODEX_TRIAL.fullmatch(text) is not None
