"""Names what runs a file by itself, by the file's path."""

from __future__ import annotations

import re

STARTERS = (
    (re.compile(r"(^|/)(\.git/)?hooks/[\w-]+$|(^|/)\.husky/"), "git hook"),
    (re.compile(r"(^|/)\.gitconfig$|(^|/)\.config/git/"), "settings of git"),
    (re.compile(r"cron"), "cron"),
    (re.compile(r"\.pth$|(site|user)customize\.py$|pythonstartup|pythonrc"), "Python start-up"),
    (re.compile(r"authorized_keys"), "keys for logging in"),
    (re.compile(r"\.github/workflows/"), "workflow on a server"),
    (re.compile(r"(^|/)\.vscode/tasks|\.idea/workspace"), "task of an editor"),
    (re.compile(r"systemd|init\.d|/rc\.|inittab|launchdaemons"), "service"),
    (re.compile(r"autostart|launchagents|loginitems|startup|xsession|xinitrc|xprofile"), "log-in"),
    (re.compile(r"(bash|zsh|profile|shrc|zlog|login|logout|fish|xonsh)"), "shell start-up"),
    (re.compile(r"vimrc|emacs|gdbinit|irbrc|screenrc|inputrc"), "start of a tool"),
)
"""Expressions over a path in lower case, and what they stand for; the first that is found counts."""


def started_by(path: str) -> str:
    """Return what runs the file, in a word or two; '' where that is unknown."""
    lowered = path[:1000].lower().replace("\\", "/")
    return next((words for pattern, words in STARTERS if pattern.search(lowered)), "")
