"""Programs that run a file automatically (cron, systemd, hooks of git), by the path of the file."""

from __future__ import annotations

from runner.model.expression import expression

STARTERS = (
    (expression(r"(^|/)(\.git/)?hooks/[\w-]+$|(^|/)\.husky/"), "git hook"),
    (expression(r"(^|/)\.gitconfig$|(^|/)\.config/git/"), "settings of git"),
    (expression(r"cron"), "cron"),
    (expression(r"\.pth$|(site|user)customize\.py$|pythonstartup|pythonrc"), "Python start-up"),
    (expression(r"authorized_keys"), "keys for logging in"),
    (expression(r"\.github/workflows/"), "workflow on a server"),
    (expression(r"(^|/)\.vscode/tasks|\.idea/workspace"), "task of an editor"),
    (expression(r"systemd|init\.d|/rc\.|inittab|launchdaemons"), "service"),
    (expression(r"autostart|launchagents|loginitems|startup|xsession|xinitrc|xprofile"), "log-in"),
    (expression(r"(bash|zsh|profile|shrc|zlog|login|logout|fish|xonsh)"), "shell start-up"),
    (expression(r"vimrc|emacs|gdbinit|irbrc|screenrc|inputrc"), "start of a tool"),
)
"""Expressions over a path in lower case, and what they stand for; the first that is found counts."""


def started_by(path: str) -> str:
    """Return what runs the file, in a word or two; '' where that is unknown."""
    lowered = path.lower().replace("\\", "/")
    return next((words for pattern, words in STARTERS if pattern.search(lowered)), "")
