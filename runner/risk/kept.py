"""What a kept sandbox holds and a run in it would start: files that nobody reads with the request."""

from __future__ import annotations

import itertools
import re
import sys
from typing import TYPE_CHECKING

from runner.model.assessment import Capability, Finding, Level
from runner.model.request import Language
from runner.risk.executing import executes, steered
from runner.risk.model.value import HOLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from runner.risk.model.acts import Act, Place, Trail
    from runner.risk.model.lines import Lines

MOST = 10
"""Findings of this kind in one request."""
LONGEST = 120
WHOLE: Place = (1, 0, 1, 0)
SYSTEM = re.compile(r"/(?:usr|bin|sbin|lib|opt)/(?!.*\.\.)")
"""What an absolute path begins with that no run can write to."""


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


NODE_MODULES = _words(
    "assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain "
    "events fs http http2 https inspector module net os path perf_hooks process punycode querystring readline repl "
    "stream string_decoder sys test timers tls trace_events tty url util v8 vm wasi worker_threads zlib"
)
RUNNERS = _words(
    "make gmake cmake ninja meson scons just npm npx pnpm yarn pytest tox nox coverage pre-commit cargo go gradle "
    "gradlew mvn ant sbt rake bundle gem composer artisan phpunit git hg svn vim vi nvim emacs ed ex screen tmux gdb "
    "lldb jupyter invoke fab waf bazel buck m4 sqlite3 psql mysql R Rscript julia octave gnuplot java ldd parallel "
    "direnv crontab at batch enable ssh scp rsync"
)
"""Programs that run, or can run, what they find in the folder where they are started or in a file that they get."""
SCRIPTED = {
    **dict.fromkeys(("awk", "gawk", "mawk", "sed", "bc", "dc"), re.compile(r"\s(?:-\w*f|--file|-x)")),
    "tar": re.compile(r"\s(?:--(?:checkpoint-a|to-c|use-c|rsh|info-s|new-v)|-\w*[IF])"),
    "alias": re.compile(HOLE),
    "trap": re.compile(HOLE),
}
"""What is in the words of a program where they let it run a file, or what it has read of one."""


def unread(language: Language | None, trail: Trail, lines: Lines) -> Iterator[Finding]:
    """Findings about what code of `language` in a kept sandbox starts of the files that lie in it.

    Where no act shows it, Python and JavaScript that may run what they read count as doing so.
    """
    found = list(itertools.islice(_named(language, trail), MOST))
    if language is Language.SHELL:
        found += [(name, WHOLE) for name in steered(lines.text)[:MOST]]
    elif not found and (how := executes(language, lines.text, trail.acts, writes=False)):
        found = [(how, WHOLE)]
    for name, place in found:
        shown = name[:LONGEST]
        reason = f"Runs, or may run, what lies in the kept sandbox and was not read with this request: {shown}."
        span = lines.place(place)
        yield Finding("kept.unread", Level.CRITICAL, Capability.STARTS_PROCESSES, span, shown, reason, "T1059")


def _named(language: Language | None, trail: Trail) -> Iterator[tuple[str, Place]]:
    for act in trail.acts:
        if act.kind == "import":
            name = _imported(act, act.language or (language or ""))
        else:
            name = CHECKS[act.kind](act) if act.kind in CHECKS else ""
        if name:
            yield name, act.place


def _started(act: Act) -> str:
    path = act.get("path").text
    if act.get("followed").texts or SYSTEM.match(path):
        return ""
    return path.replace(HOLE, "\N{HORIZONTAL ELLIPSIS}") or "a file whose name is not known"


def _executed(act: Act) -> str:
    code = act.get("code")
    known = bool(code.texts) and not any(HOLE in one for one in code.texts)
    return "" if known else f"a text that {act.name[:40]} gets"


def _module(act: Act) -> str:
    return "" if _is_standard(act.get("name").text) else act.get("name").text or "a module"


def _imported(act: Act, language: str) -> str:
    name = act.get("module").text
    if language == Language.JAVASCRIPT:
        return "" if name.removeprefix("node:").partition("/")[0] in NODE_MODULES else name or "a module"
    return "" if _is_standard(name) else name or "a module"


def _is_standard(name: str) -> bool:
    return name.partition(".")[0] in sys.stdlib_module_names


def _command(act: Act) -> str:
    scripted = (sign := SCRIPTED.get(act.name)) is not None and sign.search(act.get("line").text) is not None
    return act.name if act.name in RUNNERS or scripted else ""


CHECKS: dict[str, Callable[[Act], str]] = {
    "start": _started,
    "execute": _executed,
    "module": _module,
    "command": _command,
}
"""What of an act is not known, by its kind; '' where all of it is."""
