"""Commands that print, filter, decode and rewrite text."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model import fold
from runner.risk.model.acts import PICKED, Source
from runner.risk.model.outline_data import words
from runner.risk.model.value import HOLE, UNKNOWN, Value, concatenate, each, labels_of, readable, text
from runner.risk.shell.commands.escapes import sed_runs, values_of
from runner.risk.shell.commands.outputs import sed_writes
from runner.risk.shell.expansion import ansi, printed
from runner.risk.shell.redirects import overwriting

if TYPE_CHECKING:
    from runner.risk.shell.command import Command, Handler


def echo(command: Command) -> Value | None:
    words = command.arguments
    escapes = False
    while words and re.fullmatch(r"-[neE]+", words[0].text):
        escapes = escapes or "e" in words[0].text
        words = words[1:]
    said = concatenate(words, " ") if words else text("")
    if not escapes or "\\" not in said.text:
        return said
    hides = bool(re.search(r"(\\x[0-9a-fA-F]{2}|\\0?[0-7]{3}){3,}", said.text))
    return each(said, printed, labels=fold.ASSEMBLED if hides else ())


def printf(command: Command) -> Value | None:
    words = command.arguments
    if len(words) > 1 and words[0].text == "-v":
        command.shell.state.variables[words[1].text] = _printed(words[2:])
        return UNKNOWN
    return _printed(words)


def _printed(words: list[Value]) -> Value:
    if not words:
        return text("")
    template = words[0]
    hides = bool(re.search(r"(\\x[0-9a-fA-F]{2}|\\0?[0-7]{3}){3,}", template.text))
    parts = re.split(r"(%[-#0 +]*+[\d.]*+[a-zA-Z%])", template.text)
    out: list[Value] = []
    rest = words[1:]
    while True:
        taken = 0
        for part in parts:
            if part.startswith("%") and len(part) > 1:
                if part == "%%":
                    out.append(text("%"))
                    continue
                value = rest[taken] if taken < len(rest) else text("")
                out.append(_converted(part[-1], value))
                taken += 1
            else:
                out.append(text(ansi(part)))
        rest = rest[taken:]
        if not taken or not rest or len(out) > 200:
            break
    return concatenate(out).labelled((*template.labels, *(fold.ASSEMBLED if hides else ())))


def _converted(letter: str, value: Value) -> Value:
    """Return one argument of printf, as its directive prints it."""
    known = value.exact
    if letter == "b" and value.texts:
        return each(value, printed)
    if letter in "oxXd" and known is not None and re.fullmatch(r"\d{1,9}|0x[0-9a-fA-F]{1,8}|'.", known):
        number = ord(known[1]) if known[0] == "'" else int(known, 0) if known[:2] == "0x" else int(known)
        return text(format(number, letter), labels=value.labels)
    if letter == "c" and known:
        return text(known[0], labels=value.labels)
    return value


LONG_VALUED = "--lines --bytes --delimiter --key --field-separator --regexp --file --files0-from --max-count --width"
"""Long options that take a value, of any of them. A file behind another one, as in `cat -n FILE`, is a file."""
NAMES_ONLY = expression(r"\^(?:(?:export|\\s\*|\s)[+*?]?)?(?:\[[A-Z_a-z0-9-]{1,20}\][+*]?|\[\^=\][+*]|\\w[+*])+=?")
"""Patterns that begin with a line and match no more of it than the name of a variable."""
PATTERNS = ("-e", "-f", "--regexp", "--file")


CHOOSES = frozenset(("grep", "egrep", "fgrep", "rg", "head", "tail"))
"""Commands that give a part of the lines that they get."""


def passes(skip: int = 0) -> Handler:
    """cat, head, sort, grep, ...: what goes in comes out, more or less."""

    def handle(command: Command) -> Value | None:
        options, operands = command.parsed(f"{command.valued} {LONG_VALUED}")
        paths = operands if skip and not options.keys().isdisjoint(PATTERNS) else operands[skip:]
        for name in ("-f", "--file", "--files0-from") if skip else ("--files0-from",):
            if name in options and options[name].texts:
                command.read(options[name])  # patterns, or the names of what is read
        whole = [command.read(path) for path in paths] or [command.stdin]
        if not paths and "found" in command.stdin.labels and command.name in CHOOSES:
            whole = [command.stdin.labelled((PICKED,))]
        if command.name in ("cat", "head", "tail", "tac") and len(whole) == 1:
            return whole[0]
        if command.name == "cat":
            return concatenate(whole, "\n")
        recursive = options.keys() & {"-r", "-R", "--recursive"}
        if recursive and command.name.endswith("grep"):
            root = paths[0] if paths else text(".")
            command.act("search", path=root, pattern=operands[0] if operands else options.get("-e", UNKNOWN))
        labels = labels_of(whole)
        if command.name == "jq":
            labels |= labels_of(command.arguments)  # `--arg name value`, from which it makes its output
        if command.name.endswith("grep") and labels & {"process", Source.ENVIRONMENT} and operands:
            asks = not options.keys().isdisjoint(QUIET) and IS_SET.fullmatch(operands[0].exact or "")
            kind = "compare" if "process" in labels or asks else "search-environment"
            command.act(kind, text=operands[0], **{"with": Value(labels=labels)})
        only = command.name.endswith("grep") and any("o" in option for option in options if option[1:2] != "-")
        if only and operands and NAMES_ONLY.fullmatch(operands[0].exact or "") is not None:
            labels -= {Source.ENVIRONMENT, "environment-file"}
        return Value(labels=labels)

    return handle


QUIET = ("-q", "--quiet", "--silent")
IS_SET = expression(r"\^?[A-Z][A-Z0-9_]{1,60}=?")
"""What is looked for in the environment where it is only asked whether a variable is set, and nothing is shown."""


def cut(command: Command) -> Value | None:
    """cut -d' ' -f2-4: fields of known lines."""
    options, operands = command.parsed()
    data = command.read(operands[0]) if operands else command.stdin
    wanted = options.get("-f") or options.get("--fields")
    letters = options.get("-c") or options.get("-b") or options.get("--characters")
    listed = (wanted or letters or UNKNOWN).exact
    if listed == "1" and (options.get("-d") or options.get("--delimiter") or UNKNOWN).text == "=":
        return Value(labels=labels_of((data,)) - {Source.ENVIRONMENT, "environment-file"})
    if data.exact is None or listed is None or not re.fullmatch(r"[\d,-]{1,40}", listed):
        return Value(labels=labels_of((data,)))
    by = (options.get("-d") or options.get("--delimiter") or text("\t")).text[:1] if wanted is not None else ""

    def taken(line: str) -> str:
        parts = line.split(by) if by else list(line)
        chosen: list[str] = []
        for one in listed.split(","):
            low, dash, high = one.partition("-")
            start = int(low or 1) - 1
            chosen += parts[start : (int(high) if high else None) if dash else start + 1]
        return by.join(chosen)

    return each(data, lambda known: "\n".join(map(taken, known.split("\n"))), labels=fold.ASSEMBLED)


def base64(command: Command) -> Value | None:
    options, operands = command.parsed()
    data = (
        command.read(options.get("-i", operands[0] if operands else UNKNOWN))
        if operands or "-i" in options
        else command.stdin
    )
    if options.keys() & {"-d", "-D", "--decode", "-r", "-di", "--d"} or command.name in ("b64decode", "base64dec"):
        decode = fold.base32_text if command.name == "base32" else fold.base64_text
        return each(data, lambda known: readable(decode(known)), labels=fold.DECODED)
    return each(data, fold.ENCODERS["base64.b64encode"], labels={"encoded"})


def xxd(command: Command) -> Value | None:
    options, operands = command.parsed()
    data = command.read(operands[0]) if operands else command.stdin
    if any("r" in option for option in options if not option.startswith("--")):
        return each(data, lambda known: readable(fold.hex_text(known)), labels=fold.DECODED)
    return Value(labels=data.labels)


PUBLIC_PART = frozenset(("x509", "verify", "crl"))
"""Commands of openssl that read certificates; of a file that has a key as well they print none of it."""
OF_THE_PUBLIC = words(
    "in inform outform noout text subject issuer dates startdate enddate serial fingerprint md5 sha1 sha256 sha512 "
    "nameopt certopt purpose email ocsp_uri modulus hash subject_hash issuer_hash checkend checkhost checkip "
    "checkemail ext pubkey alias lastupdate nextupdate crlnumber untrusted trusted verbose show_chain partial_chain "
    "crl_check crl_check_all verify_hostname"
)
"""Options by which they read no key, write no file, load nothing and ask nobody."""
WRITTEN = words("out writerand reqout respout")
"""Options of openssl whose value is a file that it writes."""
CERTIFICATE = expression(r"\.(?:pem|crt|cer|crl|der)$")


def openssl(command: Command) -> Value | None:
    line = concatenate(command.arguments, " ").text
    options, _operands = command.parsed()
    given = options.get("-in", UNKNOWN)
    asked = {one.text[1:].removeprefix("-") for one in command.arguments if one.text.startswith("-")}
    if (
        command.arguments
        and command.arguments[0].exact in PUBLIC_PART
        and asked <= OF_THE_PUBLIC
        and _are_certificates(command)
    ):
        return Value(labels=given.labels)
    data = command.read(given) if given.texts else command.stdin
    output = Value(labels=labels_of((data,)))
    if re.match(r"(enc|base64|aes|des)", line) and re.search(r"(^| )-d( |$)", line):
        output = each(data, lambda known: readable(fold.base64_text(known)), labels=fold.DECODED)
    elif re.match(r"(enc|aes|des|rsautl|pkeyutl|smime|cms)", line):
        command.act("encrypt", path=options.get("-in", UNKNOWN), data=data)
        output = output.labelled(("encrypted",))
    if line.startswith("ocsp ") and (asks := options.get("-url") or options.get("-host")) is not None:
        command.act("send", url=asks, data=UNKNOWN)
    if "-connect" in options:
        command.act("connect", host=options["-connect"], tool=text("openssl"))
        command.act("send", url=options["-connect"], data=command.stdin)
        output = output.labelled((Source.REMOTE, Source.DOWNLOADED))
    for name, value in pairwise(command.arguments):
        if name.text[:1] == "-" and name.text.lstrip("-") in WRITTEN:
            command.act("write", path=value, data=output)
    return output


def _are_certificates(command: Command) -> bool:
    """Return whether everything that is read has the name of a certificate."""
    given = command.parsed()[0].get("-in", UNKNOWN)
    return all(one.exact is not None or one is given for one in command.arguments) and all(
        map(CERTIFICATE.search, given.texts)
    )


def unpack(command: Command) -> Value | None:
    """gunzip -c, zcat, bzip2 -dc: the content is hidden in the data."""
    options, operands = command.parsed()
    data = command.read(operands[0]) if operands else command.stdin
    if command.name in ("gzip", "bzip2", "xz", "zstd") and not options.keys() & {"-d", "-dc", "-cd", "--decompress"}:
        return Value(labels=labels_of((data,)))
    if operands:
        return Value(labels=labels_of((data,)))
    return each(data, lambda known: readable(fold.inflated(known)), labels=fold.DECODED)


def reverse(command: Command) -> Value | None:
    data = command.read(command.arguments[0]) if command.arguments else command.stdin
    return each(data, lambda known: "\n".join(line[::-1] for line in known.split("\n")), labels=fold.ASSEMBLED)


def translate(command: Command) -> Value | None:
    options, operands = command.parsed()
    if command.stdin.exact is None or not operands or operands[0].exact is None:
        return Value(labels=labels_of((command.stdin,)))
    before = _ranged(operands[0].exact)
    if options.keys() & {"-d", "--delete"}:
        return each(command.stdin, lambda known: "".join(c for c in known if c not in before))
    after = _ranged(operands[1].exact or "") if len(operands) > 1 else ""
    if not after:
        return command.stdin
    table = {ord(a): after[min(i, len(after) - 1)] for i, a in enumerate(before)}
    return each(command.stdin, lambda known: known.translate(table), labels=fold.ASSEMBLED)


def _ranged(known: str) -> str:
    classes = {"[:lower:]": "a-z", "[:upper:]": "A-Z", "[:digit:]": "0-9"}
    for name, range_ in classes.items():
        known = known.replace(name, range_)
    return re.sub(r"(\w)-(\w)", lambda m: "".join(map(chr, range(ord(m[1]), ord(m[2]) + 1))), ansi(known))


CUT_OFF = expression(r"s([/|,#])(?:\^?\\?\(?\[\^=\]\*\\?\)?)?=\.\*\$?\1(?:[^&\\/|,#\n]|\\[1-9]){0,60}\1[gp]{0,2}")
"""A program of sed that leaves nothing of any line from the first sign of equality on: `s/=.*//`."""
WITHOUT_VALUES = expression(
    r"s([/|,#])(?:\^|\[\^=\]|\[[\w:\[\]-]{1,30}\]|\\[()+?s|]|[()*+?|\w ]){0,60}+=\.\*\$?\1"
    r"(?:[^&\\/|,#\n]|\\[1-9]){0,60}\1p"
)
"""One that does so with the lines that it prints, where it prints no others."""


def sed(command: Command) -> Value | None:
    options, operands = command.parsed()
    in_place = any(option.startswith(("-i", "--in-place")) for option in options)
    programs = values_of(command, "-e --expression")
    program = concatenate(programs, "\n") if programs else operands[0] if operands else UNKNOWN
    sed_writes(command, program)
    paths = operands if "-e" in options or "--expression" in options or "-f" in options else operands[1:]
    if in_place:
        sed_runs(command, program)
        for path in paths:
            command.act("write", path=path, data=program, program=program, edit=text("yes"))
        return UNKNOWN
    sed_runs(command, program)
    data = concatenate([command.read(path) for path in paths], "\n") if paths else command.stdin
    if (runs := _substitution(program.text, executes=True)) is not None:
        command.script(text(runs[1], labels=program.labels))
    matching_only = any(option[:2] != "--" and "n" in option for option in options)
    if len(programs) < 2 and (WITHOUT_VALUES if matching_only else CUT_OFF).fullmatch((program.exact or "").strip()):
        return Value(labels=labels_of((data,)) - {Source.ENVIRONMENT, "environment-file"})
    simple = _substitution(program.text, executes=False)
    if simple is not None and data.exact is not None and not re.search(r"[\\\[\]^$.*&]", "".join(simple)):
        return each(data, lambda known: known.replace(*simple), labels=fold.ASSEMBLED)
    if data.exact is not None:
        return Value((HOLE,), labels=data.labels)
    return Value(labels=data.labels)


def _substitution(program: str, *, executes: bool) -> tuple[str, str] | None:
    """Return what `s/old/new/` replaces, and by what; with the flag `e` among others, or with none but `g`."""
    if len(program) < 4 or program[0] != "s" or "\n" in program:
        return None
    mark = program[1]
    middle = program.find(mark, 2)
    if executes:
        flags = len(program)
        while flags and (program[flags - 1].isalnum() or program[flags - 1] == "_"):
            flags -= 1
        end = program.find(mark, max(middle + 1, flags - 1))
        if "e" not in program[end + 1 :]:
            return None
    else:
        end = len(program) - (2 if program.endswith(f"{mark}g") and len(program) - 2 > middle else 1)
        if program[end] != mark:
            return None
    return (program[2:middle], program[middle + 1 : end]) if 2 <= middle < end else None


def tee(command: Command) -> Value | None:
    options, operands = command.parsed()
    kind = "append" if options.keys() & {"-a", "--append"} else "write"
    for path in operands:
        fields = overwriting(command.shell, path, command.place) if kind == "write" else {}
        command.act(kind, path=path, data=command.stdin, **fields)
    return command.stdin


AWK_BEGIN = expression(r"\s*+BEGIN\s*+(\{[^{}]*+\})\s*+")
"""A program that reads nothing."""


def awk(command: Command) -> Value | None:
    _options, operands = command.parsed()
    if operands:
        command.code("awk", operands[0])
        if (said := _awk_print(operands[0].text, command.stdin)) is not None:
            return said
        if "process" in labels_of((command.stdin,)):
            command.act("compare", text=operands[0], **{"with": command.stdin})
        for operand in operands[1:]:
            command.read(operand)
    return Value(labels=labels_of((command.stdin, *operands[1:])))


def _awk_print(program: str, data: Value) -> Value | None:
    """Return what `{print $2" "$1}` makes of one known line."""
    if (begun := AWK_BEGIN.fullmatch(program)) is not None:
        program, data = begun[1], text("")
    match = re.fullmatch(r"\s*+\{\s*+print\s*+((?:\$\d{1,9}+|\"[^\"]*+\"|,|\s)++);?+\s*+\}\s*+", program)
    if match is None or data.exact is None:
        return None
    words = [data.exact.strip(), *data.exact.split()]
    out = ""
    for part in re.findall(r"\$\d+|\"[^\"]*\"|,", match[1]):
        if part == ",":
            out += " "
        elif part[0] == '"':
            out += ansi(part[1:-1])
        else:
            out += words[int(part[1:])] if int(part[1:]) < len(words) else ""
    return text(out, labels=data.labels | fold.ASSEMBLED)
