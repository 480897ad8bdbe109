"""Variables by which later programs load a library, run code or a command, or look for programs elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.bounds import excerpt
from runner.risk.model.outline_data import words
from runner.risk.model.temporary import TEMPORARY
from runner.risk.model.value import HOLE, UNKNOWN, text
from runner.risk.trace.search_path import note_programs

if TYPE_CHECKING:
    from runner.risk.model.acts import Place
    from runner.risk.model.value import Value
    from runner.risk.shell.command import ShellContext

LIBRARIES = words("LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES GCONV_PATH LD_LIBRARY_PATH DYLD_LIBRARY_PATH")
SEARCHED_PATHS = words("PATH PYTHONPATH NODE_PATH PERL5LIB RUBYLIB LUA_PATH GIT_EXEC_PATH CLASSPATH PYTHONHOME")
STARTED_FILES = words("PYTHONSTARTUP BASH_ENV ENV LUA_INIT PYTHONBREAKPOINT GIT_TEMPLATE_DIR ZDOTDIR GIT_CONFIG_GLOBAL")
OPTIONS_THAT_LOAD = {
    "NODE_OPTIONS": expression(r"(?:^|\s)(?:-r|--require|--import|--loader|--experimental-loader)[= ]"),
    "PERL5OPT": expression(r"-[Mmd]"),
    "RUBYOPT": expression(r"-r"),
    "JAVA_TOOL_OPTIONS": expression(r"-(?:javaagent|agentlib|agentpath)"),
    "_JAVA_OPTIONS": expression(r"-(?:javaagent|agentlib|agentpath)"),
}
COMMAND_VARIABLES = words(
    "PAGER GIT_PAGER MANPAGER LESSOPEN LESSCLOSE EDITOR VISUAL GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_SSH_COMMAND "
    "GIT_EXTERNAL_DIFF GIT_ASKPASS SSH_ASKPASS PROMPT_COMMAND GIT_PROXY_COMMAND RSYNC_RSH SYSTEMD_EDITOR FCEDIT"
)
"""Variables whose value is a command."""
PUBLIC = expression(r"(?:^|:)(?:/tmp|/var/tmp|/dev/shm)(?:/|:|$)")
"""A folder in which everybody may write."""
HERE = expression(r"(?:\.|/workspace)/?(?::|$)")
"""The working folder, before all others."""
OWN = expression(rf"/tmp/(?=[^:/]*{HOLE})[^:/]*(?:/(?!\.\.)[^:/]+)*(?=:|$)")
"""A temporary folder of the program's own, before all others."""
NOT_OWN = expression(r":(?:/tmp|/var/tmp|/dev/shm|\.)(?:/|:|$)")
"""Another folder in which everybody may write."""
PRELOADED = expression(r"^(?:/usr)?/lib")
PLAIN_SSH = expression(r"ssh(?: (?!.*(?:Proxy|Local|KnownHosts)Command)|$)")


def steers(shell: ShellContext, name: str, value: Value, where: Place) -> None:
    """Note a variable that is set, where it changes what later programs run; follow a command that is its value."""
    known = value.text
    if name in COMMAND_VARIABLES:
        plain = not known.strip(HOLE + " ") or PLAIN_SSH.match(known) is not None
        if not plain and not shell.trail.is_too_deep(name, where):
            with shell.trail.inside(where, excerpt(known, 200), "shell"):
                shell.inner(known.lstrip("|"), [], UNKNOWN)
        return
    if name in LIBRARIES:
        found = (
            bool(known) and not PRELOADED.match(known) and (name.endswith(("PRELOAD", "AUDIT")) or PUBLIC.search(known))
        )
        found = found or (name in ("DYLD_INSERT_LIBRARIES", "GCONV_PATH") and bool(known))
    elif name in SEARCHED_PATHS:
        found = PUBLIC.search(known) is not None or (name == "PATH" and HERE.match(known) is not None)
    elif name in STARTED_FILES:
        found = bool(known) and known not in ("0", "/dev/null")
    else:
        pattern = OPTIONS_THAT_LOAD.get(name)
        found = pattern is not None and pattern.search(known) is not None
    if found:
        made = name == "PATH" and any(label.startswith(TEMPORARY) for label in value.labels)
        begun = OWN.match(known) if made else None
        own = begun is not None and NOT_OWN.search(known, begun.end()) is None
        fields = {"value": text(excerpt(known, 200)), **({"own": text("yes")} if own else {})}
        shell.trail.add("steer", name, fields, where)
    elif name == "PATH":
        note_programs(shell.trail, value, where)
