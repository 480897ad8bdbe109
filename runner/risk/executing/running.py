"""The one judgement whether a program of the shell can run what it reads: its input, or files that it is given."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.executing.running_scripts import Reading, of_awk, of_foreign, of_node, of_perl, of_python, of_sed
from runner.risk.model.outline_data import words
from runner.risk.model.value import HOLE

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Sequence

    Words = Sequence[str | None]


class Obeys(IntEnum):
    """How sure it is that a program runs what it reads."""

    NEVER = 0
    """Whatever it reads is data to it."""
    UNKNOWN = 1
    """Nobody knows the program; or it starts another one, which is judged by itself."""
    CAN = 2
    """It has a way to, and its words do not rule that out."""
    DOES = 3
    """Its words say so."""


ANYTHING = words(
    "echo cat head tail wc cut tr uniq rev tac nl fold paste column comm seq basename dirname sleep true false : pwd "
    "date cksum md5sum sha1sum sha256sum sha512sum base64 base32 ls mkdir touch rm cp mv grep egrep fgrep jq join "
    "expand unexpand od xxd hexdump iconv numfmt shuf tee diff cmp stat file du df cd realpath readlink exit return "
    "break continue shift"
)
"""Commands that run nothing, whatever their arguments are."""
FIXED_WORDS = {
    "sort": expression(r"(?!--comp)[^\0]*"),
    "printf": expression(r"(?!-v.)[^\0]*"),
    "read": expression(r"-[rsenptdua0-9]+|\w*|,|:|;|\|"),
    **dict.fromkeys(("mapfile", "readarray"), expression(r"-t|\w+")),
    "set": expression(r"[-+][euxo]+|pipefail"),
    "wait": expression(r""),
    "exec": expression(r"(?!-\w*c)[^\0]*"),
    **dict.fromkeys(
        ("unset", "export", "local", "declare", "typeset", "readonly"), expression(r"-[rxpgaAf]++|\w++=?.*+")
    ),
}
"""How every word of a command looks with which it runs nothing."""
AS_WRITTEN = words("trap alias")
"""Commands that run their words, which are followed as far as they are known."""
STEERED = expression(
    r"PATH|LD_\w*|IFS|ENV|BASH\w*|\w*_(?:OPTIONS|OPTS|FLAGS)|\w*PAGER|PYTHON\w*|NODE_\w*|PERL\w*|GIT_\w*"
    r"|RUBY\w*|LUA_\w*|AWK\w*|LESS\w*|EDITOR|VISUAL|MAKEFLAGS|CLASSPATH"
    r"|PS\d|PROMPT_COMMAND|S?RANDOM|SECONDS|EPOCH\w*|LINENO|OPTIND|HIST\w*|FUNCNEST"
)
"""Variables that tell programs what to load or start, and those of which the shell runs the text or calculates it."""
RUNNERS = words(
    "make gmake cmake ninja meson scons just npm npx pnpm yarn pytest tox nox coverage pre-commit cargo go gradle "
    "gradlew mvn ant sbt rake bundle gem composer artisan phpunit git hg svn vim vi nvim emacs ed ex screen tmux gdb "
    "lldb jupyter invoke fab waf bazel buck m4 sqlite3 psql mysql R Rscript julia octave gnuplot java ldd parallel "
    "direnv crontab at batch enable ssh scp rsync bind fc dc logrotate rlwrap expect irb jshell groovy scala elixir "
    "crystal swift nim"
)
"""Programs that run, or can run, what they find in the folder where they are started or in a file that they get."""
SIGNS = {
    "tar": expression(r"--(?:checkpoint-a|to-c|use-c|rsh|info-s|new-v)|-\w*[IF]"),
    **dict.fromkeys(
        ("gcc", "cc", "g++", "c++", "clang", "clang++"), expression(r"-(?:B|wrapper|specs|fplugin|Xclang)")
    ),
    **dict.fromkeys(("pip", "pip3", "uv"), expression(r"install|wheel|download|run|sync|tool|build|add")),
    **dict.fromkeys(("less", "more", "man"), expression(r"\+|-\w*[PHkK]|--(?:lesskey|pager|html)")),
    "openssl": expression(r"-{0,2}engine|-provider|-config"),
    **dict.fromkeys(("compgen", "complete"), expression(r"-\w*[CFW]")),
    "env": expression(r"-"),
    **dict.fromkeys(("sh", "bash", "dash", "zsh", "ksh", "rbash", "fish"), expression(r"--(?:rcfile|init-file)")),
}
"""What the words begin with that let a program run a file; without any of them it runs nothing of its own accord."""
CERTAIN = {
    **dict.fromkeys(("make", "gmake"), expression(r"-\w*f|--(?:make)?file")),
    "gdb": expression(r"-x|--command|-ix?"),
    **dict.fromkeys(("vim", "vi", "nvim", "ex", "view"), expression(r"-[Su]")),
    **dict.fromkeys(
        ("Rscript", "parallel", "julia", "octave", "expect", "irb", "at", "batch", "crontab"), expression(r"")
    ),
    "R": expression(r"-f|--file|--(?:no-save|vanilla|slave)"),
    "split": expression(r"--filter"),
    **dict.fromkeys(("sh", "bash", "dash", "zsh", "ksh", "rbash", "fish"), expression(r"--(?:rcfile|init-file)")),
    "tar": expression(r"--(?:to-c|use-c|rsh)|-\w*I"),
}
"""What words begin with that say which file is run, or that the input is."""
SCRIPTS: dict[str, Callable[[Words], Reading]] = {
    **dict.fromkeys(("sed", "gsed"), of_sed),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), of_awk),
    **dict.fromkeys(("python", "pypy", "ipython"), of_python),
    **dict.fromkeys(("node", "nodejs", "bun", "deno"), of_node),
    "perl": of_perl,
    **dict.fromkeys(("ruby", "jruby", "php", "lua", "luajit", "tclsh", "wish"), of_foreign),
}
"""Programs with a language of their own, by how their words are read."""
FOLLOWED = words("exec python python2 python3 pypy ipython node nodejs bun deno")
"""Commands whose program is followed by itself, as far as it is known: what their words say is not all."""
SURENESS = {Reading.DATA: Obeys.NEVER, Reading.DOUBT: Obeys.CAN, Reading.CODE: Obeys.DOES}


def runs(name: str, given: Words) -> Obeys:
    """Return whether the program `name` with these words runs what it reads; a word that is not known is None."""
    if name in ANYTHING:
        return Obeys.NEVER
    plain = name.rstrip("0123456789.") or name
    if (reads := SCRIPTS.get(plain)) is not None:
        return SURENESS[reads(given)]
    if (pattern := FIXED_WORDS.get(name)) is not None:
        return Obeys.NEVER if _fixed(name, given, pattern) else Obeys.CAN
    if name in AS_WRITTEN:
        return Obeys.CAN if any(word is None or HOLE in word for word in given) else Obeys.UNKNOWN
    sign, certain = SIGNS.get(plain), CERTAIN.get(plain)
    known = [word for word in given if word is not None]
    if certain is not None and (any(map(certain.match, known)) or not certain.pattern):
        return Obeys.DOES
    if name in RUNNERS or (sign is not None and (any(map(sign.match, known)) or None in given[:1])):
        return Obeys.CAN
    return Obeys.UNKNOWN


def takes_data(name: str, given: Words) -> bool:
    """Return whether the program runs nothing of what it reads, be that a program that is followed by itself."""
    return runs(name, given) is Obeys.NEVER and (name.rstrip("0123456789.") or name) not in FOLLOWED


def _fixed(name: str, given: Words, pattern: re.Pattern[str]) -> bool:
    """Return whether the words are all known and of the shape that is known to run nothing."""
    if name == "printf" and given and given[0] is not None and not given[0].startswith("-v"):
        return True
    if name == "printf" and given[:1] == ["-v"]:
        given = given[1:]
    if name == "set" and "--" in given:
        given = given[: list(given).index("--")]
    for word in given:
        if word is None or pattern.fullmatch(word) is None or STEERED.fullmatch(word.partition("=")[0]):
            return False
    return True
