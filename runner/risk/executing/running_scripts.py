"""Interpreters and stream editors that run what they read: by their options, and by the code in their words."""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple

from runner.model.expression import expression
from runner.model.modules import is_standard
from runner.risk.model.outline_data import words

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Sequence

    Words = Sequence[str | None]

LONGEST = 20_000
"""Characters of a script, beyond which it is in doubt."""


class Reading(Enum):
    """What a program makes of what it reads."""

    DATA = auto()
    DOUBT = auto()
    """Its words do not say that nothing is run."""
    CODE = auto()


def _worst(found: Sequence[Reading]) -> Reading:
    return next((one for one in (Reading.CODE, Reading.DOUBT) if one in found), Reading.DATA)


class Options(NamedTuple):
    """The options of a program that matter here: letters, and long names."""

    scripts: tuple[str, ...]
    """Options that have a script as their value."""
    files: tuple[str, ...]
    """Those that have a program file."""
    valued: str = ""
    """Letters of those that have another value, in a word of its own if need be."""
    glued: str = ""
    """Letters of those that have one in the same word."""


def _scripts(given: Words, options: Options) -> tuple[list[str | None], bool]:
    """Return the scripts among the words, and whether a program file is named."""
    found: list[str | None] = []
    named = False
    rest = iter(given)
    for word in rest:
        if word is None:
            found.append(None)
        elif word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            if _is_long(name, options.scripts):
                found.append(value if equals else next(rest, None))
            named = named or _is_long(name, options.files)
        elif word.startswith("-") and word != "-":
            named = _letters(word, rest, options, found) or named
        elif not found and not named:
            found.append(word)
    return found, named


def _is_long(name: str, names: tuple[str, ...]) -> bool:
    """Return whether a long option, which may be cut short, is one of `names`."""
    return bool(name) and any(len(one) > 1 and one.startswith(name) for one in names)


def _letters(word: str, rest: Iterator[str | None], options: Options, found: list[str | None]) -> bool:
    """Read a word of short options; return whether it names a program file."""
    for at, letter in enumerate(word[1:], 2):
        if letter in options.files:
            return True
        if letter in options.scripts:
            found.append(word[at:] or next(rest, None))
            return False
        if letter in options.valued + options.glued:
            if letter in options.valued and not word[at:]:
                next(rest, None)
            return False
    return False


# ---- sed ----

_ADDRESS = r"(?:\d++(?:~\d++)?|\$|/(?:[^/\\\n]|\\.)*+/[IM]*+)"
_COMMAND = (
    r"(?:[pPdDgGhHxnNqQ=zlF][ \t]*+\d*+|[btT:][ \t]*+[\w.-]*+|[aic](?:\\\n|\\?+[ \t]*+)[^\n]*+|\}|"
    r"s(?P<mark>[/|,#:@!%+~_])(?:(?!(?P=mark))(?:[^\\\n]|\\.))*+(?P=mark)"
    r"(?:(?!(?P=mark))(?:[^\\]|\\.|\\\n))*+(?P=mark)[gpiImM0-9]*+|"
    r"y(?P<sign>[/|,#])(?:(?!(?P=sign))(?:[^\\\n]|\\.))*+(?P=sign)(?:(?!(?P=sign))(?:[^\\\n]|\\.))*+(?P=sign)|"
    r"#[^\n]*+)"
)
ONE_OF_SED = expression(
    rf"[ \t;\n]*+(?:{_ADDRESS}(?:[ \t]*+,[ \t]*+[+~]?{_ADDRESS})?+)?+[ \t]*+!?+[ \t]*+"
    rf"(?:\{{|{_COMMAND}[ \t]*+(?=[;}}\n]|\Z)|(?<=[;\n])\Z)"
)
"""One command that neither runs nor writes anything, with what separates it from the one before."""
RUNS_IN_SED = expression(r"(?m)(?:^|[;{}!\d$/,])[ \t]*+e[ \t]*+(?:$|;|\})")
RUN_FLAGS = expression(r"[^\w\s\\][a-df-zA-Z0-9]*+e")
MARKS = frozenset("!\"#$%&'()*+,-./:;<=>?@[]^`{|}~")
"""What may stand around the parts of an `s` command; of others it is not known here."""


SED = Options(("e", "expression"), ("f", "file"), "l", "i")


def of_sed(given: Words) -> Reading:
    scripts, named = _scripts(given, SED)
    if named:
        return Reading.CODE
    return _worst([_sed_script(one) for one in scripts])


def _sed_script(script: str | None) -> Reading:
    if script is None or len(script) > LONGEST:
        return Reading.DOUBT
    at = 0
    while at < len(script):
        found = ONE_OF_SED.match(script, at)
        if found is None or found.end() == at:
            return Reading.CODE if _runs_in_sed(script) else Reading.DOUBT
        at = found.end()
    return Reading.DATA


def _runs_in_sed(script: str) -> bool:
    """Return whether a script may have the command `e`, or an `s` with that flag."""
    return RUNS_IN_SED.search(script) is not None or any(_replaces_and_runs(line) for line in script.split("\n"))


def _replaces_and_runs(line: str) -> bool:
    for mark in MARKS & {*line}:
        _before, found, parts = line.partition(f"s{mark}")
        _pattern, found, behind = parts.partition(mark) if found else ("", "", "")
        if found and any(flags[0].startswith(mark) for flags in RUN_FLAGS.finditer(behind)):
            return True
    return False


# ---- awk ----

IN_AWK = expression(
    r"\"(?:[^\"\\\n]|\\.)*+(?P<text>\")?+|(?P<before>\A|[~(,!{};&|\n])[ \t]*+/(?:[^/\\\n]|\\.)*+(?P<pattern>/)?+"
    r"|(?P<comment>#)[^\n]*"
)
"""Texts, patterns and comments, the first two also where they do not end."""
ENDED = ("text", "pattern", "comment")
CAN_IN_AWK = expression(r"system|getline|(?<!\|)\|(?!\|)|@|extension|include|load")
RUNS_IN_AWK = expression(
    r"system[ \t]*+\((?![ \t]*+\"[^\"]*+\"[ \t]*+\))|\|[ \t]*+\"(?:[^\s\"|/]*+/)*+(?:ba|da|z|k)?sh\b"
    r"|(?<!\")\|[ \t]*+getline|@\w++[ \t]*+\("
)


AWK = Options(("source",), ("f", "file", "i", "include", "l", "load", "E", "exec"), "Fv")


def of_awk(given: Words) -> Reading:
    scripts, named = _scripts(given, AWK)
    if named:
        return Reading.CODE
    if any(word is None or (word.startswith("-") and word[1:2] not in ("F", "v", "")) for word in given):
        return Reading.DOUBT
    return _worst([_awk_script(one) for one in scripts])


def _awk_script(script: str | None) -> Reading:
    if script is None or len(script) > LONGEST:
        return Reading.DOUBT
    bare = IN_AWK.sub(lambda found: (found["before"] or "") if found.lastgroup in ENDED else found[0], script)
    # A slash or quote that is left may be the end of something read wrongly.
    looked_at = script if set(bare) & set('/"') else bare
    if not CAN_IN_AWK.search(looked_at):
        return Reading.DATA
    return Reading.CODE if RUNS_IN_AWK.search(script) else Reading.DOUBT


# ---- perl, ruby and others ----

PLAIN_PERL = expression(
    r"\A\s*+(?:(?:s/(?:[^/\\@$\n]|\\[^Q]|\$(?=/))*+/(?:[^/\\@$`]|\\[^QEe]|\$\d|\$&)*+/[gimx]*+"
    r"|print(?:[ ]++\$[_.&\d])?+|next|last|tr/[^/\\]*+/[^/\\]*+/[cdsr]*+)"
    r"(?:[ ]++(?:if|unless)[ ]++(?:/(?:[^/\\@$]|\\.|\$(?=/))*+/[im]*+|\$\.[ ]*+[<>=!]=?+[ ]*+\d++))?+"
    r"|/(?:[^/\\@$]|\\.)*+/[im]*+[ ]*+&&[ ]*+print)?+[ ]*+;?+\s*+"
)
"""Code of perl that replaces or prints lines, and does nothing else."""
RUNS_IN_FOREIGN = expression(
    r"\b(?:system|exec|eval|qx|require|do|use|syscall|fork|popen|spawn|include|include_once|load|dofile|loadfile|passthru|"
    r"shell_exec|instance_eval|class_eval|proc_open|assert|send|IO|open3?)\b|`|%x|\|[ \t]*[\"']|[\"'][ \t]*\||"
    r"/[a-z]*e[a-z]*[ \t]*(?:;|\}|$)|@\{|\$\{\\"
)
PERL_LOADS = expression(r"-\w*[IMmdxS]")
PERL_DATA = expression(
    r"-\w*[Mm]-?(?:strict|warnings|utf8|feature|open|JSON(?:::\w+)?|List::Util|POSIX|Data::Dumper|MIME::Base64|"
    r"Digest::\w+|Time::\w+|Encode|Text::\w+)(?:=.*)?"
)
INFORMS = words("--version -v -V -VV --help -h -help")


def of_perl(given: Words) -> Reading:
    found: list[Reading] = []
    for word in given:
        if word is not None and word.startswith("-") and PERL_LOADS.match(word) and not _has_code(word):
            found.append(Reading.DATA if PERL_DATA.fullmatch(word) else Reading.CODE)
    return _worst([*found, _foreign(given, "eE", PLAIN_PERL)])


def _has_code(word: str) -> bool:
    """Return whether the letters of an option end in that for code, before any that takes a value."""
    letters = word[1:].partition("I")[0].partition("M")[0]
    return letters.endswith(("e", "E"))


def of_foreign(given: Words) -> Reading:
    """Read the words of an interpreter whose code is not followed: ruby, php, lua, tclsh."""
    if any(word is not None and word.startswith(("-r.", "-r/", "-l", "-I")) for word in given):
        return Reading.CODE
    return _foreign(given, "eEr", None)


def _foreign(given: Words, letters: str, plain: re.Pattern[str] | None) -> Reading:
    if given and all(word in INFORMS for word in given):
        return Reading.DATA
    codes: list[str | None] = []
    rest = iter(given)
    for word in rest:
        if word is None:
            return Reading.DOUBT
        if word.startswith("-") and not word.startswith("--") and any(one in word[1:7] for one in letters):
            at = min(word.index(one) for one in letters if one in word)
            codes.append(word[at + 1 :] or next(rest, None))
        elif not word.startswith("-") and not codes:
            return Reading.DATA  # the file is noted by itself
    if not codes:
        return Reading.CODE
    for code in codes:
        if code is None or plain is None or len(code) > LONGEST or plain.fullmatch(code) is None:
            return Reading.CODE if code is not None and RUNS_IN_FOREIGN.search(code) else Reading.DOUBT
    return Reading.DATA


# ---- Python and JavaScript ----

DATA_MODULES = words(
    "json json.tool ast tokenize calendar base64 gzip zipfile tarfile py_compile compileall this platform sysconfig "
    "http.server uuid random mimetypes quopri dis symtable tabnanny pickletools difflib textwrap encodings.rot_13 "
    "http.client locale getpass webbrowser pip venv ensurepip"
)
"""Modules of Python's library that are programs, and run nothing of what they read."""
PYTHON_VALUED = ("W", "X")
NODE_PLAIN = expression(
    r"--?(?:e|p|pe|eval|print|v|version|h|help|c|check|input-type=\w+|no-warnings|max-old-space-size=\d+|stack-size=\d+|"
    r"trace-\w[\w-]*|harmony[\w-]*|enable-source-maps|unhandled-rejections=\w+|experimental-strip-types|A|"
    r"allow-\w+(?:=.*)?|no-check|quiet)"
)


def of_python(given: Words) -> Reading:
    """Read the words of Python up to its program; a program in a file, or known code, is followed by itself."""
    rest = iter(given)
    for word in rest:
        if word is None:
            return Reading.DOUBT
        if not word.startswith("-") or word in ("-", "--version", "--help"):
            return Reading.DATA
        if word.startswith("--"):
            next(rest, None)
            continue
        for at, letter in enumerate(word[1:], 2):
            value = word[at:]
            if letter == "c":
                return Reading.DATA
            if letter in "iE":
                # Afterwards it reads its input as code; or looks for modules in the working folder.
                return Reading.CODE
            if letter == "m":
                return _module(value or next(rest, None))
            if letter in PYTHON_VALUED:
                if not value:
                    next(rest, None)
                break
    return Reading.DATA


def _module(name: str | None) -> Reading:
    if name is None:
        return Reading.DOUBT
    if name in DATA_MODULES:
        return Reading.DATA
    return Reading.CODE if is_standard(name) else Reading.DOUBT


def of_node(given: Words) -> Reading:
    after_code = False
    for word in given:
        if word is None:
            return Reading.DATA if after_code else Reading.DOUBT
        if word.startswith("-") and word != "-":
            if NODE_PLAIN.fullmatch(word) is None:
                return Reading.CODE
            after_code = after_code or word in ("-e", "-p", "-pe", "--eval", "--print")
        elif not after_code:
            return Reading.DATA
    return Reading.DATA
