"""What shell commands do with what goes through them: wrappers, interpreters, data movers, downloads and file tools."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from runner.risk.model import fold
from runner.risk.model.acts import Place, Source
from runner.risk.model.value import HOLE, UNKNOWN, Value, concatenate, each, either, labels_of, text
from runner.risk.rules.packages import mistaken_for, name_of, source_of
from runner.risk.shell.expansion import ansi

if TYPE_CHECKING:
    from runner.risk.shell.script import Redirect, Shell

SHELLS = frozenset(
    ["sh", "bash", "dash", "zsh", "ksh", "mksh", "pdksh", "ash", "csh", "tcsh", "fish", "rbash", "yash", "posh"]
)
PLAIN = frozenset(
    ["", "sudo", "doas", "exec", "command", "builtin", "time", "nohup", "su", "env", "chroot", "nice", "setsid"]
)
"""Commands that people start a shell through every day."""
INTERPRETER = re.compile(
    r"(?:(?P<python>python|pypy|ipython|python2|python3)|(?P<javascript>node|nodejs|bun|deno)|(?P<perl>perl)|(?P<ruby>ruby|jruby|irb)"
    r"|(?P<php>php)|(?P<lua>lua|luajit|lua5)|(?P<tcl>tclsh|wish|expect)|(?P<powershell>powershell|pwsh))[\d.]*(?:\.exe)?\Z"
)


class Command:
    """One command with its words."""

    __slots__ = ("labels", "name", "place", "redirects", "shell", "stdin", "through", "words")

    def __init__(
        self,
        shell: Shell,
        name: str,
        words: Sequence[Value],
        stdin: Value,
        place: Place,
        redirects: Sequence[Redirect],
        labels: frozenset[str],
        through: str = "",
    ) -> None:
        self.shell = shell
        self.name = name
        self.words = list(words)
        self.stdin = stdin
        self.place = place
        self.redirects = redirects
        self.labels = labels
        self.through = through
        """The command that starts this one, such as `find` or `env`."""

    @property
    def arguments(self) -> list[Value]:
        return self.words[1:]

    def parsed(self, valued: str = "", stop: bool = False) -> tuple[dict[str, Value], list[Value]]:
        """Options and operands. `valued` lists the options that take a value, as `-o --output`; with `stop` the
        first operand ends the options, as for commands that run another one."""
        takes = set(valued.split())
        options: dict[str, Value] = {}
        operands: list[Value] = []
        arguments = self.arguments
        at = 0
        while at < len(arguments):
            word = arguments[at].text
            at += 1
            if word == "--":
                operands += arguments[at:]
                break
            if len(word) < 2 or word[0] not in "-" or HOLE in word[:2]:
                operands.append(arguments[at - 1])
                if stop:
                    operands += arguments[at:]
                    break
                continue
            name, equals, inline = word.partition("=")
            if word.startswith("--") and equals:
                options[name] = text(inline, labels=arguments[at - 1].labels)
            elif word in takes:
                options[word] = arguments[at] if at < len(arguments) else UNKNOWN
                at += 1
            elif word.startswith("--"):
                options[word] = UNKNOWN
            else:
                at = self._letters(word, takes, options, arguments, at)
        return options, operands

    @staticmethod
    def _letters(word: str, takes: set[str], options: dict[str, Value], arguments: list[Value], at: int) -> int:
        """`-xvf file`: each letter an option, the last one perhaps with a value."""
        for i, letter in enumerate(word[1:], 1):
            option = "-" + letter
            if option in takes:
                rest = word[i + 1 :]
                if rest:
                    options[option] = text(rest, labels=arguments[at - 1].labels)
                else:
                    options[option] = arguments[at] if at < len(arguments) else UNKNOWN
                    at += 1
                break
            options[option] = UNKNOWN
        options.setdefault(word, UNKNOWN)
        return at

    def act(self, kind: str, **fields: Value) -> Value:
        """Write an act down; a value with the labels it gives."""
        done = self.shell.trail.add(kind, self.name, fields, self.place, self.labels)
        return Value(labels=self.shell.nested.done(done))

    def again(self, words: Sequence[Value], stdin: Value | None = None) -> Value:
        """Run other words as a command in this one's place."""
        if not words:
            return UNKNOWN
        return self.shell.simple_values(
            list(words), self.stdin if stdin is None else stdin, self.place, self.redirects, self.labels, self.name
        )

    def script(self, code: Value, arguments: Sequence[Value] = (), stdin: Value = UNKNOWN) -> Value:
        """Run `code` as a shell script in this one's place."""
        return self.shell.nested.shell_text(self, code, arguments, stdin)

    def code(self, language: str, code: Value) -> Value:
        """Run `code` in another language."""
        return self.act("execute", code=code, language=text(language))


Handler = Callable[[Command], Value | None]


# Commands that run another command.


def wrapper(valued: str, skip: int = 0) -> Handler:
    """sudo, env, nice, ...: options, perhaps some operands, then the command."""

    def handle(command: Command) -> Value | None:
        options, operands = command.parsed(valued, stop=True)
        if command.name in ("sudo", "doas") and not operands and (options.keys() & {"-i", "-s", "--login", "--shell"}):
            command.act("shell", name=text(command.name))
        while operands and "=" in operands[0].text and operands[0].text.partition("=")[0].isidentifier():
            name, _, value = operands[0].text.partition("=")
            command.shell.state.variables[name] = text(value)
            operands = operands[1:]
        if command.name == "env" and (split := options.get("-S") or options.get("--split-string")):
            return command.script(split)
        return command.again(operands[skip:]) if len(operands) > skip else None

    return handle


def exec_(command: Command) -> Value | None:
    _, operands = command.parsed("-a", stop=True)
    if operands:
        return command.again(operands)
    return UNKNOWN


def xargs(command: Command) -> Value | None:
    options, operands = command.parsed(
        "-I -i -n -P -d -L -s -a -E --replace --max-args --max-procs --delimiter --max-lines --arg-file", stop=True
    )
    if not operands:
        return None
    fed = command.stdin
    marker = (options.get("-I") or options.get("--replace") or text("{}")).text or "{}"
    given = _fed(fed)
    if any(marker in operand.text for operand in operands) and (
        "-I" in options or "--replace" in options or "-i" in options
    ):
        words = [_put(operand, marker, given) for operand in operands]
    else:
        words = [*operands, *(given.items or [given])]
    return command.again(words, UNKNOWN)


def _fed(stdin: Value) -> Value:
    if stdin.exact is not None:
        return Value(items=[text(part, labels=stdin.labels) for part in stdin.exact.split()[:50]], labels=stdin.labels)
    return Value((HOLE,) if not stdin.texts else stdin.texts, labels=stdin.labels | {"listed"}, name=stdin.name)


def _put(operand: Value, marker: str, given: Value) -> Value:
    before, found, after = operand.text.partition(marker)
    if not found:
        return operand
    inside = either(given.items) if given.items else given
    return concatenate((text(before), inside, text(after))).labelled(given.labels)


def find(command: Command) -> Value | None:
    """find PATH... tests -exec COMMAND ; -delete"""
    arguments = command.arguments
    roots: list[Value] = []
    for argument in arguments:
        if argument.text.startswith(("-", "(", "!")):
            break
        roots.append(argument)
    root = either(roots) if roots else text(".")
    names = [
        arguments[i + 1]
        for i, argument in enumerate(arguments[:-1])
        if argument.text in ("-name", "-iname", "-path", "-wholename", "-ipath", "-regex", "-iregex")
    ]
    found = _found(root, names)
    narrowed = (
        Value(labels=frozenset({"narrowed"})) if len(arguments) > len(roots) + 1 and _narrows(arguments) else UNKNOWN
    )
    result = command.act("walk", path=root, names=either(names) if names else UNKNOWN)
    found = found.labelled(result.labels | narrowed.labels)
    at = 0
    while at < len(arguments):
        word = arguments[at].text
        at += 1
        if word == "-delete":
            command.act("delete", path=found if names else root, tree=text("yes"), narrowed=_mark(narrowed))
        elif word in ("-exec", "-execdir", "-ok", "-okdir"):
            end = next((i for i in range(at, len(arguments)) if arguments[i].text in (";", "+", "\\;")), len(arguments))
            words = [_put(argument, "{}", found) for argument in arguments[at:end]]
            words = [w.labelled(("found",)) if "found" not in w.labels and HOLE in w.text else w for w in words]
            command.again(words, UNKNOWN)
            at = end + 1
        elif word in ("-fprintf", "-fprint", "-fls") and at < len(arguments):
            command.act("write", path=arguments[at], data=UNKNOWN)
    return Value(found.texts, labels=found.labels | {"found"}, name="find")


def _found(root: Value, names: Sequence[Value]) -> Value:
    """Paths a find may give: every name below the root, with a hole between."""
    if not names:
        return Value(tuple(_below(known) for known in root.texts) or (HOLE,), labels=root.labels | {"found"})
    made = [f"{_below(known)}{name.text.lstrip('*/') or '*'}" for known in root.texts or (".",) for name in names]
    return Value(tuple(dict.fromkeys(made))[:12], labels=root.labels | {"found"})


def _below(known: str) -> str:
    return known + HOLE if known.endswith("/") else f"{known}/{HOLE}" if not known.endswith("*") else known


NARROWING = frozenset(
    [
        "-name",
        "-iname",
        "-path",
        "-ipath",
        "-regex",
        "-iregex",
        "-empty",
        "-mtime",
        "-atime",
        "-ctime",
        "-mmin",
        "-amin",
        "-cmin",
        "-size",
        "-newer",
        "-user",
        "-perm",
        "-inum",
        "-wholename",
        "-samefile",
        "-links",
        "-lname",
        "-xtype",
    ]
)


def _narrows(arguments: Sequence[Value]) -> bool:
    for at, argument in enumerate(arguments):
        if argument.text in NARROWING:
            following = arguments[at + 1].text if at + 1 < len(arguments) else ""
            if not (argument.text in ("-name", "-iname", "-path") and set(following) <= set("*./")):
                return True
    return False


def _mark(value: Value) -> Value:
    return text("yes") if "narrowed" in value.labels else UNKNOWN


def ssh(command: Command) -> Value | None:
    options, operands = command.parsed("-p -i -l -o -F -L -R -D -J -W -b -c -E -e -I -m -O -Q -S -w -B", stop=True)
    host = operands[0] if operands else UNKNOWN
    command.act("connect", host=host, tool=text("ssh"))
    for word in (options.get("-o") or UNKNOWN).texts:
        name, _, code = word.partition("=")
        if name.lower() in ("proxycommand", "localcommand", "knownhostscommand"):
            command.script(text(code))
    for option in ("-R", "-L", "-D"):
        if option in options:
            command.act("tunnel", host=host, how=text(option), what=options[option])
    if len(operands) > 1:
        command.script(concatenate(operands[1:], " "))
        command.act("send", url=host, data=command.stdin, how=text("ssh"))
    return Value(labels=frozenset({Source.DOWNLOADED}))


def su(command: Command) -> Value | None:
    options, _operands = command.parsed("-c --command -s --shell -g -G")
    code = options.get("-c") or options.get("--command")
    if code is not None:
        return command.script(code)
    command.act("shell", name=text("su"))
    return UNKNOWN


def script_option(valued: str, *names: str) -> Handler:
    """A command whose option holds a shell script: `script -c`, `watch`, `flock -c`."""

    def handle(command: Command) -> Value | None:
        options, _operands = command.parsed(valued, stop=True)
        for name in names:
            if name in options and options[name].texts:
                return command.script(options[name])
        return None

    return handle


def watch(command: Command) -> Value | None:
    _, operands = command.parsed("-n --interval", stop=True)
    return command.script(concatenate(operands, " ")) if operands else None


def start_terminal(command: Command) -> Value | None:
    """screen -dmS name command, tmux new-session -d command, systemd-run command."""
    valued = "-S -s -t -c -L -p --unit --on-calendar --on-active --on-boot --property --uid --slice -n"
    options, operands = command.parsed(valued, stop=True)
    if command.name == "systemd-run" and any(key.startswith("--on-") for key in options):
        command.act("schedule", what=concatenate(operands, " "), how=text("systemd"))
    if command.name == "tmux" and operands:
        operands = [operand for operand in operands[1:] if not operand.text.startswith("-")]
        return command.script(concatenate(operands[-1:], " ")) if operands else None
    return command.again(operands) if operands else None


# Shells and other interpreters.


def shell(command: Command) -> Value | None:
    options, operands = command.parsed("-o -O --rcfile --init-file", stop=True)
    cluster = next((o for o in options if o.startswith("-") and not o.startswith("--") and "c" in o), None)
    if cluster is not None:
        if not operands:
            return UNKNOWN
        command.act("execute", code=operands[0], language=text("shell"))
        return command.script(operands[0], operands[2:], command.stdin)
    if operands and operands[0].text not in ("-", "/dev/stdin"):
        content = (operands[0].fields or {}).get("content")
        if content is not None:
            command.act("execute", code=content, language=text("shell"))
            return command.script(content, operands[1:])
        command.shell.nested.started(operands[0], command.labels, command.place)
        return UNKNOWN
    if command.stdin is not UNKNOWN:
        command.act("execute", code=command.stdin, language=text("shell"))
        return command.script(command.stdin)
    interactive = "-i" in options or any(
        r.operator.startswith((">&", "<&", "&>")) or "/dev/" in r.target.text for r in command.redirects
    )
    command.act(
        "shell",
        name=text(command.name),
        interactive=text("yes") if interactive else UNKNOWN,
        through=text(command.through) if command.through not in PLAIN else UNKNOWN,
        privileged=text("yes") if "-p" in options else UNKNOWN,
    )
    return UNKNOWN


def interpreter(language: str) -> Handler:
    """python -c, node -e, perl -e, ruby -e, php -r, lua -e; a script file; or code on standard input."""

    def handle(command: Command) -> Value | None:
        if language == "powershell":
            return powershell(command)
        letters = {"python": "-c", "php": "-r", "javascript": "-e -p --eval --print"}.get(language, "-e -E")
        valued = letters + (
            " -W -X -m" if language == "python" else " -r -I -M -m -l" if language in ("ruby", "perl") else ""
        )
        if language == "javascript":
            valued += " -r --require"
        arguments = command.arguments
        codes: list[Value] = []
        takes = set(valued.split())
        at = 0
        while at < len(arguments):
            word = arguments[at].text
            at += 1
            flag = next((f for f in letters.split() if word == f or (len(f) == 2 and _clustered(word, f[1]))), None)
            if flag is not None:
                inline = (
                    word[word.index(flag[1]) + 1 :]
                    if len(flag) == 2 and word != flag and not word.endswith(flag[1])
                    else ""
                )
                if inline:
                    codes.append(text(inline, labels=arguments[at - 1].labels))
                elif at < len(arguments):
                    codes.append(arguments[at])
                    at += 1
                if language in ("python", "php", "javascript"):
                    break
            elif word in takes:
                if word == "-m" and language == "python" and at < len(arguments):
                    if arguments[at].text in ("pip", "http.server"):
                        command.again(arguments[at:])
                    command.act("module", name=arguments[at], line=concatenate(arguments[at:], " "))
                    return UNKNOWN
                at += 1
            elif word.startswith("-") and word != "-":
                continue
            else:
                if (
                    word in ("eval", "-")
                    and language == "javascript"
                    and command.name == "deno"
                    and at < len(arguments)
                ):
                    codes.append(arguments[at])
                    break
                if word != "-" and not codes:
                    target = arguments[at - 1]
                    content = (target.fields or {}).get("content")
                    if content is not None:
                        return command.code(language, content)
                    if command.name in ("deno", "bun") and word == "run" and at < len(arguments):
                        target = arguments[at]
                    command.shell.nested.started(target, command.labels, command.place)
                    return Value(labels=labels_of((command.stdin,)))
                break
        if codes:
            return command.code(language, concatenate(codes, "\n"))
        if command.stdin is not UNKNOWN:
            return command.code(language, command.stdin)
        return UNKNOWN

    return handle


def _clustered(word: str, letter: str) -> bool:
    """`-ne`, `-lne`, `-rsocket -e`: the letter in a group of short options."""
    return (
        len(word) > 1
        and word[0] == "-"
        and word[1] != "-"
        and letter in word[1:6]
        and word[1] not in "rIMm"
        and word[1:2].isalpha()
    )


def powershell(command: Command) -> Value | None:
    line = concatenate(command.arguments, " ")
    arguments = command.arguments
    for at, argument in enumerate(arguments[:-1]):
        option = argument.text.lower().lstrip("-/")
        if option and "file".startswith(option):
            command.shell.nested.started(arguments[at + 1], command.labels, command.place)
        if (option and "encodedcommand".startswith(option)) or option in ("ec", "enc"):
            code = each(
                arguments[at + 1], lambda known: fold.coded(fold.base64_text(known), "utf-16-le"), labels=fold.DECODED
            )
            return command.code("powershell", concatenate((line, text("\n"), code)))
    return command.code(
        "powershell", concatenate((line, command.stdin), "\n") if command.stdin is not UNKNOWN else line
    )


CMDLET = re.compile(
    r"(?:Invoke|Start|Remove|New|Set|Get|Expand|Add|Register|Stop|Copy|Out|Import|ConvertTo|Write)-[A-Z]\w+"
)


def cmdlet(command: Command) -> Value | None:
    """PowerShell given to a shell that splits it at its semicolons: each piece is looked at by itself."""
    return command.code("powershell", concatenate(command.words, " "))


def awk(command: Command) -> Value | None:
    _options, operands = command.parsed("-F -v -f --file --field-separator --assign")
    if operands:
        command.code("awk", operands[0])
        if (said := _awk_print(operands[0].text, command.stdin)) is not None:
            return said
        if "process" in labels_of((command.stdin,)):
            command.act("compare", text=operands[0], **{"with": command.stdin})
        for operand in operands[1:]:
            _read(command, operand)
    return Value(labels=labels_of((command.stdin, *operands[1:])))


def _awk_print(program: str, data: Value) -> Value | None:
    """What `{print $2" "$1}` makes of one known line."""
    match = re.fullmatch(r"\s*+\{\s*+print\s((?:\$\d{1,9}+|\"[^\"]*+\"|,|\s)++);?+\s*+\}\s*+", program)
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


def evaluate(command: Command) -> Value | None:
    code = concatenate(command.arguments, " ")
    command.act("execute", code=code, language=text("shell"), how=text("eval"))
    return command.script(code, command.shell.state.arguments)


def source(command: Command) -> Value | None:
    if not command.arguments:
        return UNKNOWN
    target = command.arguments[0]
    content = (target.fields or {}).get("content")
    if content is not None:
        command.act("execute", code=content, language=text("shell"))
        return command.script(content)
    if target.text == "/dev/stdin":
        command.act("execute", code=command.stdin, language=text("shell"))
        return command.script(command.stdin)
    command.shell.nested.started(target, command.labels, command.place)
    return UNKNOWN


def trap(command: Command) -> Value | None:
    _, operands = command.parsed()
    if len(operands) >= 2:
        command.script(operands[0])
        command.act("trap", code=operands[0], signal=concatenate(operands[1:], " "))
    return UNKNOWN


def alias(command: Command) -> Value | None:
    for argument in command.arguments:
        name, equals, value = argument.text.partition("=")
        if equals:
            command.script(text(value, labels=argument.labels))
            command.shell.state.aliases[name] = text(value)
    return UNKNOWN


# The shell's own.


def change_directory(command: Command) -> Value | None:
    _, operands = command.parsed()
    command.shell.state.directory = operands[0].text if operands else "~"
    return UNKNOWN


def which(command: Command) -> Value | None:
    """`which python`: the command's own name will do for its path."""
    _, operands = command.parsed()
    return operands[0] if len(operands) == 1 and operands[0].exact else None


def start(command: Command) -> Value | None:
    """Windows' `start` and `cmd /c`: what follows the options runs."""
    words = [word for word in command.arguments if not re.fullmatch(r"/\w+(:\w+)?|\"[^\"]*\"", word.text)]
    if command.name == "cmd":
        return command.script(concatenate(words, " ")) if words else command.act("shell", name=text("cmd"))
    return command.again(words) if words else None


def told_to_network(command: Command) -> Value | None:
    """dig, nslookup, ping: a name that is looked up reaches whoever answers for it."""
    data = Value(tuple(word.text for word in command.arguments)[:12], labels=labels_of(command.arguments))
    command.act("lookup", host=concatenate(command.arguments, " "))
    if data.labels:
        command.act("send", url=concatenate(command.arguments, " "), data=data)
    return Value(labels=data.labels)


def environment(command: Command) -> Value | None:
    """`env` without a command prints all variables."""
    options, operands = command.parsed("-u -C -S --unset --chdir --split-string", stop=True)
    if operands or "-S" in options:
        return wrapper("-u -C -S --unset --chdir --split-string")(command)
    return Value(labels=frozenset({Source.ENVIRONMENT}))


def read(command: Command) -> Value | None:
    """read, mapfile: what comes in goes into variables."""
    options, operands = command.parsed("-d -n -N -p -t -u -i -a" if command.name == "read" else "-d -n -O -s -u -C -c")
    fed = command.stdin
    if fed.texts and fed.text.strip(HOLE):
        lines = fed.text.rstrip("\n").split("\n")[:200]
        array = options.get("-a") if command.name == "read" else (operands[0] if operands else text("MAPFILE"))
        if array is not None and array.exact:
            parts = lines[0].split() if command.name == "read" else lines
            command.shell.state.variables[array.exact] = Value(items=[text(p, labels=fed.labels) for p in parts])
        elif len(operands) <= 1:
            name = operands[0].text if operands else "REPLY"
            command.shell.state.variables[name] = text(*lines[:12], labels=fed.labels)
        else:
            parts = lines[0].split(None, len(operands) - 1)
            for operand, part in zip(operands, parts, strict=False):
                command.shell.state.variables[operand.text] = text(part, labels=fed.labels)
        return UNKNOWN
    for operand in operands:
        if operand.exact:
            command.shell.state.variables[operand.exact] = Value(
                labels=labels_of((command.stdin,))
                | ({f"${operand.exact}"} if command.stdin is UNKNOWN else frozenset())
            )
    return UNKNOWN


def set_(command: Command) -> Value | None:
    arguments = command.arguments
    if arguments and arguments[0].text == "--":
        command.shell.state.arguments = arguments[1:]
    return UNKNOWN


def shift(command: Command) -> Value | None:
    command.shell.state.arguments = command.shell.state.arguments[1:]
    return UNKNOWN


# Text going through.


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
    return each(said, ansi, labels=fold.ASSEMBLED if hides else ())


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
    """One argument of printf, as its directive prints it."""
    known = value.exact
    if letter == "b" and value.texts:
        return each(value, ansi)
    if letter in "oxXd" and known is not None and re.fullmatch(r"\d{1,9}|0x[0-9a-fA-F]{1,8}|'.", known):
        number = ord(known[1]) if known[0] == "'" else int(known, 0) if known[:2] == "0x" else int(known)
        return text(format(number, letter), labels=value.labels)
    if letter == "c" and known:
        return text(known[0], labels=value.labels)
    return value


def _read(command: Command, path: Value) -> Value:
    content = (path.fields or {}).get("content")
    if content is not None:
        return content
    if path.text == "-":
        return command.stdin
    given = command.act("read", path=path)
    return command.shell.nested.content(path).labelled(given.labels | (path.labels & {"found"}))


FILTER_OPTIONS = (
    "-n -c -d -f -k -t -b -w -s -m -A -B -C -e --lines --bytes --delimiter --fields --key"
    " --field-separator --regexp --max-count"
)


def passes(valued: str = FILTER_OPTIONS, skip: int = 0) -> Handler:
    """cat, head, sort, grep, ...: what goes in comes out, more or less."""

    def handle(command: Command) -> Value | None:
        options, operands = command.parsed(valued)
        paths = operands if skip and ("-e" in options or "-f" in options) else operands[skip:]
        whole = [_read(command, path) for path in paths[:20]] or [command.stdin]
        if command.name in ("cat", "head", "tail", "tac") and len(whole) == 1:
            return whole[0]
        if command.name == "cat":
            return concatenate(whole, "\n")
        recursive = options.keys() & {"-r", "-R", "--recursive"}
        if recursive and command.name.endswith("grep"):
            root = paths[0] if paths else text(".")
            command.act("search", path=root, pattern=operands[0] if operands else options.get("-e", UNKNOWN))
        labels = labels_of(whole)
        if command.name.endswith("grep") and labels & {"process", Source.ENVIRONMENT} and operands:
            kind = "compare" if "process" in labels else "search-environment"
            command.act(kind, text=operands[0], **{"with": Value(labels=labels)})
        return Value(labels=labels)

    return handle


def cut(command: Command) -> Value | None:
    """cut -d' ' -f2-4: fields of known lines."""
    options, operands = command.parsed("-d -f -c -b --delimiter --fields --characters --bytes")
    data = _read(command, operands[0]) if operands else command.stdin
    wanted = options.get("-f") or options.get("--fields")
    letters = options.get("-c") or options.get("-b") or options.get("--characters")
    listed = (wanted or letters or UNKNOWN).exact
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


def listing(command: Command) -> Value | None:
    """ls: names of what is there; a path with a pattern comes out as it went in."""
    _, operands = command.parsed("-I -w -T --ignore")
    for path in operands[:10]:
        command.act("walk", path=path)
    shown = [path for path in operands if "*" in path.text]
    return Value(
        tuple(path.text for path in shown)[:12] or (HOLE,), labels=labels_of(operands) | {"listed", "found"}, name="ls"
    )


def base64(command: Command) -> Value | None:
    options, operands = command.parsed("-w --wrap -i --input -o --output -b")
    data = (
        _read(command, options.get("-i", operands[0] if operands else UNKNOWN))
        if operands or "-i" in options
        else command.stdin
    )
    if options.keys() & {"-d", "-D", "--decode", "-r", "-di", "--d"} or command.name in ("b64decode", "base64dec"):
        decode = fold.base32_text if command.name == "base32" else fold.base64_text
        return each(data, lambda known: fold.readable(decode(known)), labels=fold.DECODED)
    return each(data, fold.ENCODERS["base64.b64encode"], labels={"encoded"})


def xxd(command: Command) -> Value | None:
    options, operands = command.parsed("-l -c -s -g -o")
    data = _read(command, operands[0]) if operands else command.stdin
    if any("r" in option for option in options if not option.startswith("--")):
        return each(data, lambda known: fold.readable(fold.hex_text(known)), labels=fold.DECODED)
    return Value(labels=data.labels)


def openssl(command: Command) -> Value | None:
    line = concatenate(command.arguments, " ").text
    options, _operands = command.parsed("-in -out -k -pass -K -iv -connect -kfile")
    data = _read(command, options["-in"]) if options.get("-in", UNKNOWN).texts else command.stdin
    output = Value(labels=labels_of((data,)))
    if re.match(r"(enc|base64|aes|des)", line) and re.search(r"(^| )-d( |$)", line):
        output = each(data, lambda known: fold.readable(fold.base64_text(known)), labels=fold.DECODED)
    elif re.match(r"(enc|aes|des|rsautl|pkeyutl|smime|cms)", line):
        command.act("encrypt", path=options.get("-in", UNKNOWN), data=data)
        output = output.labelled(("encrypted",))
    if "-connect" in options:
        command.act("connect", host=options["-connect"], tool=text("openssl"))
        command.act("send", url=options["-connect"], data=command.stdin)
        output = output.labelled((Source.REMOTE, Source.DOWNLOADED))
    if "-out" in options:
        command.act("write", path=options["-out"], data=output)
    return output


def unpack(command: Command) -> Value | None:
    """gunzip -c, zcat, bzip2 -dc: the content is hidden in the data."""
    options, operands = command.parsed("-S")
    data = _read(command, operands[0]) if operands else command.stdin
    if command.name in ("gzip", "bzip2", "xz", "zstd") and not options.keys() & {"-d", "-dc", "-cd", "--decompress"}:
        return Value(labels=labels_of((data,)))
    if operands:
        return Value(labels=labels_of((data,)))
    return each(data, lambda known: fold.readable(fold.inflated(known)), labels=fold.DECODED)


def reverse(command: Command) -> Value | None:
    data = _read(command, command.arguments[0]) if command.arguments else command.stdin
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
    table = {ord(a): after[min(i, len(after) - 1)] for i, a in enumerate(before[:2000])}
    return each(command.stdin, lambda known: known.translate(table), labels=fold.ASSEMBLED)


def _ranged(known: str) -> str:
    classes = {"[:lower:]": "a-z", "[:upper:]": "A-Z", "[:digit:]": "0-9"}
    for name, range_ in classes.items():
        known = known.replace(name, range_)
    return re.sub(r"(\w)-(\w)", lambda m: "".join(map(chr, range(ord(m[1]), ord(m[2]) + 1))), ansi(known))


def sed(command: Command) -> Value | None:
    options, operands = command.parsed("-e -f --expression --file")
    in_place = any(option.startswith(("-i", "--in-place")) for option in options)
    program = options.get("-e") or options.get("--expression") or (operands[0] if operands else UNKNOWN)
    paths = operands if "-e" in options or "--expression" in options or "-f" in options else operands[1:]
    if in_place:
        for path in paths:
            command.act("write", path=path, data=program, program=program, edit=text("yes"))
        return UNKNOWN
    data = concatenate([_read(command, path) for path in paths], "\n") if paths else command.stdin
    if (runs := _substitution(program.text, executes=True)) is not None:
        command.script(text(runs[1], labels=program.labels))
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
        command.act(kind, path=path, data=command.stdin)
    return command.stdin


# Files.


def remove(command: Command) -> Value | None:
    options, operands = command.parsed("-n --iterations -s --size --random-source")
    tree = (
        "yes"
        if options.keys() & {"-r", "-R", "--recursive"}
        or any("r" in o.lower() for o in options if not o.startswith("--"))
        else ""
    )
    if command.name in ("shred", "wipe"):
        tree = ""
    for path in operands[:100]:
        content = Value(path.texts, path.name, path.labels)
        command.act(
            "delete",
            path=_placed(command, content),
            tree=text(tree) if tree else UNKNOWN,
            tool=text(command.name),
            narrowed=_mark(path),
        )
    if not operands and command.stdin is not UNKNOWN:
        command.act("delete", path=command.stdin, tree=UNKNOWN, tool=text(command.name))
    return UNKNOWN


def truncate(command: Command) -> Value | None:
    _, operands = command.parsed("-s --size -r --reference")
    for path in operands[:20]:
        command.act("write", path=_placed(command, path), data=text(""))
    return UNKNOWN


def _placed(command: Command, path: Value) -> Value:
    """A relative path below the folder that the script changed to."""
    folder = command.shell.state.directory
    if not folder or not path.texts or path.text.startswith(("/", "~", HOLE, "-", "$")) or ":" in path.text[:3]:
        return path
    return concatenate((text(folder.rstrip("/") + "/"), path)).labelled(path.labels)


def transfer(kind: str) -> Handler:
    """cp, mv, ln, install: sources, then a target."""

    def handle(command: Command) -> Value | None:
        options, operands = command.parsed("-t --target-directory -m --mode -o --owner -g --group -S --suffix")
        target = options.get("-t") or options.get("--target-directory")
        if target is None:
            if len(operands) < 2:
                return UNKNOWN
            target, operands = operands[-1], operands[:-1]
        for path in operands[:20]:
            command.act(
                kind, source=_placed(command, path), path=_placed(command, target), mode=options.get("-m", UNKNOWN)
            )
        return UNKNOWN

    return handle


def change_mode(command: Command) -> Value | None:
    arguments = [argument for argument in command.arguments if not re.fullmatch(r"-[RvcfH]+|--\w+", argument.text)]
    tree = any(re.fullmatch(r"-(?=[^\WR]*+R)\w++|--recursive", argument.text) for argument in command.arguments)
    if len(arguments) < 2:
        return UNKNOWN
    for path in arguments[1:50]:
        command.act(
            "chmod",
            path=_placed(command, path),
            mode=arguments[0],
            narrowed=_mark(path),
            tree=text("yes") if tree else UNKNOWN,
        )
    return UNKNOWN


def change_owner(command: Command) -> Value | None:
    options, operands = command.parsed("--reference --from")
    tree = text("yes") if options.keys() & {"-R", "--recursive"} else UNKNOWN
    for path in operands[1:50]:
        command.act("chown", path=_placed(command, path), owner=operands[0], narrowed=_mark(path), tree=tree)
    return UNKNOWN


def copy_blocks(command: Command) -> Value | None:
    """dd if=... of=..."""
    named = dict(argument.text.partition("=")[::2] for argument in command.arguments if "=" in argument.text)
    labels: frozenset[str] = frozenset()
    if "if" in named:
        labels = command.act("read", path=text(named["if"])).labels
    if "of" in named:
        command.act(
            "write",
            path=text(named["of"]),
            data=Value(labels=labels),
            tool=text("dd"),
            source=text(named.get("if", "")),
        )
        return UNKNOWN
    return Value(labels=labels | labels_of((command.stdin,)))


def archive(command: Command) -> Value | None:
    """tar, zip, 7z: what is packed, and where to."""
    arguments = command.arguments
    line = concatenate(arguments, " ").text
    if command.name == "tar":
        options, operands = command.parsed(
            "-f --file -C --directory -T -X --exclude --to-command -I --use-compress-program -g -V --checkpoint"
            " --checkpoint-action"
        )
        first = arguments[0].text if arguments else ""
        if first and not first.startswith("-") and operands and re.fullmatch(r"[a-zA-Z]+", first):
            operands = operands[1:]
            if "f" in first and operands:
                options["-f"], operands = operands[0], operands[1:]
            options["-" + first] = UNKNOWN
        for name in ("--to-command", "-I", "--use-compress-program", "--checkpoint-action"):
            if name in options and options[name].texts:
                command.script(each(options[name], lambda known: known.removeprefix("exec=")))
        target = options.get("-f") or options.get("--file") or UNKNOWN
        creates = any("c" in option for option in options if not option.startswith("--")) or "--create" in options
    else:
        options, operands = command.parsed("-P -p -x -i")
        creates = not re.match(r"[xel] ", line) and command.name in ("zip", "7z", "7za", "rar")
        if command.name != "zip":
            operands = operands[1:]
        target, operands = (operands[0], operands[1:]) if operands else (UNKNOWN, [])
    if not creates:
        folder = options.get("-C") or options.get("--directory") or options.get("-d")
        if folder is not None:
            command.act("extract", path=folder)
        return Value(labels=labels_of((command.stdin,)))
    labels: frozenset[str] = frozenset({"archive"})
    for path in operands[:30]:
        labels |= command.act("read", path=_placed(command, path), tree=text("yes")).labels
    removes = "--remove-files" in options or (command.name == "zip" and any("m" in o for o in options if o[1:2] != "-"))
    for path in operands[:30] if removes else ():
        command.act("delete", path=_placed(command, path), tree=text("yes"), tool=text(command.name))
    if target.text not in ("", "-"):
        command.act("write", path=target, data=Value(labels=labels))
    return Value(labels=labels)


# The network.

CURL_VALUED = (
    "-o --output -d --data --data-binary --data-raw --data-ascii --data-urlencode -F --form --form-string"
    " -H --header -X --request -A --user-agent -u --user -x --proxy -T --upload-file -b --cookie -c"
    " --cookie-jar -e --referer -m --max-time -w --write-out -E --cert --cacert --connect-timeout --retry"
    " --retry-delay -K --config --resolve --interface --limit-rate -r --range -C --continue-at -Y -y -z"
    " --url --unix-socket --json -D --dump-header --output-dir --socks5 --ciphers --key --max-redirs"
    " --noproxy -U --proxy-user"
)
CURL_DATA = (
    "-d",
    "--data",
    "--data-binary",
    "--data-raw",
    "--data-ascii",
    "--data-urlencode",
    "-F",
    "--form",
    "-T",
    "--upload-file",
    "--json",
    "-H",
    "--header",
    "-b",
    "-A",
    "-u",
    "--user-agent",
    "-e",
    "--referer",
)


def curl(command: Command) -> Value | None:
    options, operands = command.parsed(CURL_VALUED)
    urls = [*operands, *([options["--url"]] if "--url" in options else [])]
    url = either(urls) if urls else UNKNOWN
    sent = _posted(command, CURL_DATA)
    upload = options.get("-T") or options.get("--upload-file")
    if upload is not None:
        sent = sent.labelled(command.act("read", path=upload).labels | command.stdin.labels)
    if (local := options.get("--unix-socket")) is not None:
        command.act("connect", host=local)
    if config := options.get("-K") or options.get("--config"):
        sent = sent.labelled(_read(command, config).labels)
    if sent is not UNKNOWN or url.labels:
        command.act("send", url=url, data=sent.labelled(url.labels))
    return _downloaded(
        command, url, options, "-o", "--output", remote_name=bool(options.keys() & {"-O", "--remote-name", "-J"})
    )


def _posted(command: Command, names: Sequence[str]) -> Value:
    """Everything that options put into a request, files included."""
    arguments = command.arguments
    parts: list[Value] = []
    for at, argument in enumerate(arguments):
        name, equals, inline = argument.text.partition("=")
        value: Value | None = None
        if name in names and name.startswith("--") and equals:
            value = text(inline, labels=argument.labels)
        elif argument.text in names and at + 1 < len(arguments):
            value = arguments[at + 1]
        elif len(argument.text) > 2 and argument.text[:2] in ("-d", "-F", "-T") and not argument.text.startswith("--"):
            value = text(argument.text[2:], labels=argument.labels)
        if value is None:
            continue
        file = re.search(r"(?:^|=)[@<](.+)$", value.text, re.DOTALL)
        if file is not None:
            path = text(file[1].partition(";")[0], labels=value.labels)
            value = (
                command.stdin.labelled(value.labels)
                if file[1] in ("-", "/dev/stdin")
                else value.labelled(command.act("read", path=path).labels | {"file"})
            )
        parts.append(value)
    return Value(tuple(part.text for part in parts)[:12], labels=labels_of(parts)) if parts else UNKNOWN


def _downloaded(command: Command, url: Value, options: dict[str, Value], *names: str, remote_name: bool) -> Value:
    target = next((options[name] for name in names if name in options), None)
    if target is None and remote_name:
        target = each(url, lambda known: known.split("?")[0].rstrip("/").rpartition("/")[2])
    data = Value(labels=url.labels | {Source.DOWNLOADED}, name="downloaded()")
    if target is not None and target.text not in ("-", "/dev/stdout"):
        command.act("fetch", url=url, path=_placed(command, target))
        if target.text != "/dev/null":
            command.act("write", path=_placed(command, target), data=data, download=text("yes"))
        return UNKNOWN
    command.act("fetch", url=url)
    return data


WGET_VALUED = (
    "-O --output-document -P --directory-prefix -o --output-file -a -U --user-agent -e --execute -t"
    " --tries -T --timeout --header -i --input-file --post-data --post-file --body-data --body-file"
    " --method --user --password -Q -w --wait -l --level -A -R -D -I -X -S"
)


def wget(command: Command) -> Value | None:
    options, operands = command.parsed(WGET_VALUED)
    url = either(operands) if operands else UNKNOWN
    sent = _posted(command, ("--post-data", "--body-data", "--header", "-U", "--user-agent"))
    file = options.get("--post-file") or options.get("--body-file")
    if file is not None:
        sent = sent.labelled(command.act("read", path=file).labels | {"file"})
    if sent is not UNKNOWN or url.labels:
        command.act("send", url=url, data=sent.labelled(url.labels))
    target = options.get("-O") or options.get("--output-document")
    if target is None and any(re.fullmatch(r"-\w*O-", o) for o in options):
        target = text("-")
    if target is None:
        name = each(url, lambda known: known.split("?")[0].rstrip("/").rpartition("/")[2])
        folder = options.get("-P") or options.get("--directory-prefix")
        target = concatenate((folder, name), "/") if folder is not None else name
    return _downloaded(command, url, {"-O": target}, "-O", remote_name=False)


def netcat(command: Command) -> Value | None:
    options, operands = command.parsed(
        "-e -c --exec --sh-exec -p -s -w -i -g -G -o -q -I -O -T -V -x -X -m --proxy --lua-exec"
    )
    runs = next(
        (
            options[o]
            for o in ("-e", "-c", "--exec", "--sh-exec", "--lua-exec", "-r")
            if o in options and options[o].texts
        ),
        None,
    )
    listens = any("l" in option for option in options if not option.startswith("--")) or "--listen" in options
    if command.name == "rcat":
        runs = next((word for word in command.arguments if re.search(r"(^|/)\w*sh\b", word.text)), runs)
        listens = any(word.text in ("l", "listen") for word in command.arguments)
    scans = any("z" in option for option in options if not option.startswith("--"))
    host = concatenate(operands[:2], ":") if operands else UNKNOWN
    if scans:
        command.act("probe", host=host)
        return UNKNOWN
    fields = {"host": host, "tool": text("netcat")}
    if runs is not None:
        command.act("listen-shell" if listens else "connect-shell", program=runs, **fields)
        return UNKNOWN
    command.act("listen" if listens else "connect", **fields)
    if command.stdin is not UNKNOWN:
        command.act("send", url=host, data=command.stdin)
    return Value(labels=frozenset({Source.REMOTE, Source.DOWNLOADED}) | labels_of((command.stdin,)), name="netcat()")


def socat(command: Command) -> Value | None:
    line = concatenate(command.arguments, " ").text.lower()
    host = next((a for a in command.arguments if re.match(r"-?(tcp|udp|openssl|sctp|ssl)", a.text.lower())), UNKNOWN)
    command.act("listen" if "listen" in line or "-l:" in line else "connect", host=host, tool=text("socat"))
    for argument in command.arguments:
        if re.match(r"(exec|system|shell)\b", argument.text.lower()):
            command.act("listen-shell" if "listen" in line else "connect-shell", host=host, program=argument)
    file = next((a for a in command.arguments if re.match(r"(file|open|gopen):", a.text.lower())), None)
    if file is not None and host is not UNKNOWN:
        path = each(file, lambda known: known.partition(":")[2].partition(",")[0])
        command.act("send", url=host, data=Value(labels=command.act("read", path=path).labels | {"file"}))
    return Value(labels=frozenset({Source.REMOTE, Source.DOWNLOADED}))


def telnet(command: Command) -> Value | None:
    _, operands = command.parsed("-l -e -b -n")
    host = concatenate(operands[:2], ":") if operands else UNKNOWN
    command.act("connect", host=host, tool=text("telnet"))
    if command.stdin is not UNKNOWN:
        command.act("send", url=host, data=command.stdin)
    return Value(labels=frozenset({Source.REMOTE, Source.DOWNLOADED}), name="netcat()")


def remote_copy(command: Command) -> Value | None:
    """scp, rsync, sftp: to or from another host."""
    options, operands = command.parsed(
        "-P -i -o -F -c -l -S -e --rsh -f --exclude --include --filter --password-file --port --bwlimit"
    )
    if len(operands) < 2:
        return UNKNOWN
    sources, target = operands[:-1], operands[-1]
    remote = re.compile(r"^(?!/)[^/\s]+:|^\w+://")
    if any(option.startswith("--del") for option in options) and not remote.match(target.text):
        command.act("delete", path=_placed(command, target), tree=text("yes"), tool=text(command.name))
    if (through := options.get("-e") or options.get("--rsh") or options.get("-S")) is not None and through.texts:
        command.script(through)
    if remote.match(target.text):
        labels: frozenset[str] = frozenset()
        for path in sources:
            labels |= command.act("read", path=_placed(command, path)).labels
        command.act("send", url=target, data=Value(labels=labels | {"file"}))
        return UNKNOWN
    for path in sources:
        if remote.match(path.text):
            command.act("fetch", url=path, path=target)
            command.act("write", path=_placed(command, target), data=Value(labels=frozenset({Source.DOWNLOADED})))
        else:
            command.act("copy", source=path, path=target)
    return UNKNOWN


def mkfifo(command: Command) -> Value | None:
    _, operands = command.parsed("-m --mode")
    for path in operands[:1]:
        command.act("pipe", path=path)
    return UNKNOWN


def make_node(command: Command) -> Value | None:
    _, operands = command.parsed("-m --mode")
    if len(operands) > 1 and operands[1].text == "p":
        command.act("pipe", path=operands[0])
    return UNKNOWN


def kill(command: Command) -> Value | None:
    _options, operands = command.parsed("-s --signal -n -u -t -P -g -G -U -o -F")
    if len(command.arguments) > 1 and command.arguments[-1].text == "-1":
        operands = [text("-1")]
    for target in operands[:20]:
        command.act("kill", target=target.labelled(labels_of((command.stdin,))), tool=text(command.name))
    return UNKNOWN


def find_process(command: Command) -> Value | None:
    """pgrep, pidof: numbers of processes with a certain name."""
    _, operands = command.parsed("-u -U -g -G -P -t -s -d")
    given = Value(labels=frozenset({"process"}))
    for operand in operands[:5]:
        command.act("compare", text=operand, **{"with": given})
    return given


def crontab(command: Command) -> Value | None:
    options, operands = command.parsed("-u")
    if options.keys() & {"-r", "-i"}:
        command.act("schedule", what=UNKNOWN, how=text("remove"))
    elif "-l" in options:
        return Value(name="crontab", labels=frozenset({"crontab"}))
    elif operands or command.stdin is not UNKNOWN:
        what = _read(command, operands[0]) if operands else command.stdin
        command.act("schedule", what=what, how=text("cron"))
    return UNKNOWN


def at_time(command: Command) -> Value | None:
    options, operands = command.parsed("-f -t -q")
    if options.keys() & {"-l", "-r", "-c", "-d"} and "-f" not in options:
        return UNKNOWN
    what = _read(command, options["-f"]) if "-f" in options else command.stdin
    if operands or what is not UNKNOWN:
        command.act("schedule", what=what, how=text("at"))
        if what.texts:
            command.script(what)
    return UNKNOWN


DOCKER_VALUED = (
    "-v --volume --mount -w --workdir -e --env -p --publish --name --network --net -u --user --entrypoint --pid --ipc"
    " --cap-add --cap-drop --security-opt --device -l --label -m --memory --cpus --restart -h --hostname --add-host"
    " --env-file --gpus --platform --userns --uts --cgroupns --shm-size --tmpfs --ulimit --log-driver --dns"
)


RIGHTS = re.compile(r"--privileged(?!=false)|--pid[ =]host|--cap-add[ =](ALL|SYS_)")


def container(command: Command) -> Value | None:
    """docker run: what it gives the container of the machine outside."""
    arguments = [word for word in command.arguments if word.text != "container"]
    if not arguments or arguments[0].text not in ("run", "create", "exec"):
        return None
    line = concatenate(arguments[:60], " ").text
    mounted = re.findall(r"(?<!\S)(?:-v|--volume)[ =]([^\s:]++):|(?:source|src)=([^,\s]++)", line)
    outside = [one or other for one, other in mounted]
    command.act(
        "container",
        path=Value(tuple(outside)[:12]),
        rights=text("yes") if RIGHTS.search(line) else UNKNOWN,
    )
    return None


def settings_that_run(command: Command) -> Value | None:
    """git -c core.pager=..., make --eval=...: options whose value is a command."""
    for at, word in enumerate(command.arguments):
        following = command.arguments[at + 1].text if at + 1 < len(command.arguments) else ""
        if command.name == "git" and word.text == "-c":
            name, _, code = following.partition("=")
            key = name.lower()
            alias = key.startswith("alias.") and code.startswith("!")
            if alias or re.fullmatch(r"core\.(pager|editor|sshcommand|fsmonitor)|diff\.external|pager\.\w+", key):
                command.script(text(code.removeprefix("!"), labels=command.arguments[at + 1].labels))
        elif command.name == "git" and word.text.startswith("alias.") and following.startswith("!"):
            command.script(text(following[1:], labels=command.arguments[at + 1].labels))
        elif command.name in ("make", "gmake") and word.text.startswith(("--eval", "-E")):
            code = word.text.partition("=")[2] or following
            command.script(text(re.sub(r"^[\w\s.%-]*:[^;\n]*[;\n]", "", code)))
        elif command.name == "gdb" and word.text in ("-ex", "--ex", "-eval-command"):
            command.code("perl", text(following))
            if match := re.match(r"(?:!|shell\s)(.+)", following):
                command.script(text(match[1]))
    return None


def script_runner(command: Command) -> Value | None:
    """npx -c, npm exec -c: a script as an option's value; npm install: packages."""
    options, operands = command.parsed("-c --call -p --package -w --workspace --prefix -C --registry")
    code = options.get("-c") or options.get("--call")
    if code is not None and code.texts:
        return command.script(code)
    if operands and operands[0].text in ("install", "i", "add", "isntall", "dlx", "exec"):
        _installs(command, "javascript", operands[1:], [options["--registry"]] if "--registry" in options else [])
    elif [operand.text for operand in operands[:2]] == ["pkg", "set"]:
        for operand in operands[2:]:
            if operand.text.startswith("scripts."):
                command.script(text(operand.text.partition("=")[2], labels=operand.labels))
    elif command.name == "npx":
        _installs(command, "javascript", operands[:1], [])
    return None


REGISTRIES = (
    "-i",
    "--index-url",
    "--extra-index-url",
    "-f",
    "--find-links",
    "--trusted-host",
    "--index",
    "--default-index",
)


def python_packages(command: Command) -> Value | None:
    """pip, pipx, uv: packages, and where they are to come from."""
    valued = "-r --requirement -c --constraint -t --target --prefix --root --python -p --platform -e --editable -C"
    options, operands = command.parsed(f"{valued} {' '.join(REGISTRIES)}")
    while operands and operands[0].text in ("pip", "tool"):
        operands = operands[1:]
    if operands and operands[0].text in ("install", "add", "download", "wheel", "run"):
        edited = [options[name] for name in ("-e", "--editable") if name in options]
        registries = [options[name] for name in REGISTRIES if name in options]
        _installs(command, "python", [*operands[1:], *edited], registries)
    return None


def _installs(command: Command, ecosystem: str, written: Sequence[Value], registries: Sequence[Value]) -> None:
    for one in written[:50]:
        known = one.exact or ""
        meant = mistaken_for(name_of(known, ecosystem), ecosystem)
        source = text(source_of(known, ecosystem).value) if known else UNKNOWN
        command.act("install", package=one, source=source, mistaken=text(meant) if meant else UNKNOWN)
    for registry in registries:
        command.act("install", registry=registry)


def cluster(command: Command) -> Value | None:
    """kubectl get secrets: what comes out is secret."""
    words = [word.text for word in command.arguments[:3]]
    secret = words[:1] == ["get"] and any(word.startswith("secret") for word in words[1:])
    return Value(labels=frozenset({Source.SECRET})) if secret else None


def recorder(*what: str) -> Handler:
    """Programs that take pictures of the screen, what was copied, or what is typed."""
    kind, reads = what[0], what[1:]

    def handle(command: Command) -> Value | None:
        line = concatenate(command.arguments[:30], " ").text
        if reads and not any(re.search(pattern, line) for pattern in reads):
            return None
        done = command.act("record", what=text(kind))
        for word in command.arguments:
            if re.search(r"\.(png|jpe?g|xwd|mp4|mkv|wav|txt|log)$", word.text):
                command.act("write", path=word, data=Value(labels=frozenset({"captured"})))
        return Value(labels=done.labels | {"captured"})

    return handle


def terminated(command: Command) -> Value | None:
    return UNKNOWN


COMMANDS: dict[str, Handler] = {
    **dict.fromkeys(SHELLS, shell),
    "sudo": wrapper("-u -g -h -p -C -r -t -U -D -R -T --user --group --host --prompt"),
    "doas": wrapper("-u -C"),
    "env": environment,
    **dict.fromkeys(("which", "whereis"), which),
    **dict.fromkeys(("start", "cmd"), start),
    **dict.fromkeys(("dig", "nslookup", "host", "ping", "drill"), told_to_network),
    **dict.fromkeys(
        (
            "nohup",
            "setsid",
            "command",
            "builtin",
            "unbuffer",
            "catchsegv",
            "fakeroot",
            "dbus-run-session",
            "then",
            "do",
            "else",
        ),
        wrapper(""),
    ),
    "time": wrapper("-f -o --format --output"),
    "nice": wrapper("-n --adjustment"),
    "ionice": wrapper("-c -n -p"),
    "chrt": wrapper("", 1),
    "taskset": wrapper("", 1),
    "stdbuf": wrapper("-i -o -e"),
    "timeout": wrapper("-s -k --signal --kill-after", 1),
    "chroot": wrapper("--userspec --groups", 1),
    "unshare": wrapper("-R -w -S -G --map-user --map-group"),
    "nsenter": wrapper("-t --target -S -G"),
    "strace": wrapper("-e -o -p -s -u -E -a -b -I -O -P -S -X"),
    "ltrace": wrapper("-e -o -p -s -u"),
    "proxychains": wrapper("-f"),
    "proxychains4": wrapper("-f"),
    "torsocks": wrapper(""),
    "runuser": su,
    "su": su,
    "pkexec": wrapper("-u --user"),
    "gosu": wrapper("", 1),
    "busybox": wrapper(""),
    "toybox": wrapper(""),
    "xargs": xargs,
    "parallel": xargs,
    "find": find,
    "fdfind": passes(),
    "ssh": ssh,
    "script": script_option("-c --command -T", "-c", "--command"),
    "flock": script_option("-c --command -w -E", "-c", "--command"),
    "watch": watch,
    "exec": exec_,
    **dict.fromkeys(("screen", "tmux", "systemd-run"), start_terminal),
    "eval": evaluate,
    "source": source,
    ".": source,
    "trap": trap,
    "alias": alias,
    **dict.fromkeys(("cd", "pushd", "chdir"), change_directory),
    "read": read,
    "mapfile": read,
    "readarray": read,
    "set": set_,
    "shift": shift,
    "echo": echo,
    "printf": printf,
    "print": echo,
    **dict.fromkeys(
        (
            "cat",
            "head",
            "tail",
            "tac",
            "less",
            "more",
            "bat",
            "nl",
            "sort",
            "uniq",
            "fold",
            "column",
            "strings",
            "wc",
            "od",
            "hexdump",
            "paste",
            "expand",
            "fmt",
            "pr",
            "zcat",
            "dos2unix",
            "iconv",
            "shuf",
            "tsort",
        ),
        passes(),
    ),
    **dict.fromkeys(("grep", "egrep", "fgrep", "rg", "ack", "ag", "jq", "zgrep", "yq"), passes(skip=1)),
    **dict.fromkeys(("base64", "base32", "b64decode", "gbase64"), base64),
    "xxd": xxd,
    "openssl": openssl,
    **dict.fromkeys(("gunzip", "gzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "bzcat", "xzcat"), unpack),
    "rev": reverse,
    "tr": translate,
    "sed": sed,
    "gsed": sed,
    "tee": tee,
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), awk),
    **dict.fromkeys(("rm", "unlink", "shred", "srm", "wipe", "rmdir", "del", "erase", "rimraf", "trash", "rd"), remove),
    **dict.fromkeys(("cp", "install", "gcp"), transfer("copy")),
    "truncate": truncate,
    "mv": transfer("move"),
    "ln": transfer("link"),
    "chmod": change_mode,
    **dict.fromkeys(("chown", "chgrp"), change_owner),
    **dict.fromkeys(("dd", "dcfldd"), copy_blocks),
    **dict.fromkeys(("tar", "zip", "7z", "7za", "rar", "gtar", "bsdtar"), archive),
    "curl": curl,
    **dict.fromkeys(("wget", "wget2"), wget),
    **dict.fromkeys(("aria2c", "axel", "fetch", "lwp-download", "http", "https"), wget),
    **dict.fromkeys(
        ("nc", "ncat", "netcat", "nc.traditional", "nc.openbsd", "rcat", "pwncat", "cryptcat", "powercat"), netcat
    ),
    "socat": socat,
    "telnet": telnet,
    **dict.fromkeys(("scp", "rsync", "sftp"), remote_copy),
    "mkfifo": mkfifo,
    "mknod": make_node,
    **dict.fromkeys(("kill", "pkill", "killall", "taskkill", "skill", "xkill"), kill),
    **dict.fromkeys(("pgrep", "pidof"), find_process),
    "crontab": crontab,
    **dict.fromkeys(("docker", "podman", "nerdctl"), container),
    **dict.fromkeys(("git", "make", "gmake", "gdb"), settings_that_run),
    **dict.fromkeys(("npx", "npm", "pnpm", "yarn"), script_runner),
    **dict.fromkeys(("pip", "pip3", "pipx", "uv"), python_packages),
    **dict.fromkeys(("import", "xwd"), recorder("screen", r"root|-w")),
    **dict.fromkeys(("scrot", "gnome-screenshot", "maim", "grim", "spectacle", "screencapture"), recorder("screen")),
    **dict.fromkeys(("pbpaste", "wl-paste"), recorder("clipboard")),
    **dict.fromkeys(("xclip", "xsel"), recorder("clipboard", r"(^| )-{1,2}o(ut(put)?)?( |$)")),
    "xinput": recorder("keyboard", r"\btest"),
    **dict.fromkeys(("logkeys", "keysniffer"), recorder("keyboard")),
    **dict.fromkeys(("ls", "dir", "gls"), listing),
    "cut": cut,
    **dict.fromkeys(("kubectl", "oc"), cluster),
    "coproc": wrapper(""),
    **dict.fromkeys(("at", "batch"), at_time),
}


def _interpreters() -> dict[str, Handler]:
    made: dict[str, Handler] = {}
    for language, names in (
        ("python", "python python2 python3 pypy pypy3 ipython"),
        ("javascript", "node nodejs bun deno"),
        ("perl", "perl"),
        ("ruby", "ruby jruby irb"),
        ("php", "php"),
        ("lua", "lua luajit"),
        ("tcl", "tclsh wish expect"),
        ("powershell", "powershell pwsh"),
    ):
        made.update(dict.fromkeys(names.split(), interpreter(language)))
    return made


class _Commands(dict[str, Handler]):
    """Handlers by name; interpreters with a version in their name (`python3.11`, `lua5.1`) count as well."""

    def get(self, name: str, default: Handler | None = None) -> Handler | None:  # type: ignore[override]
        found = super().get(name)
        if found is None and CMDLET.fullmatch(name):
            return cmdlet
        if found is not None or not name[-1:].isdigit():
            return found
        match = INTERPRETER.match(name)
        return interpreter(str(match.lastgroup)) if match is not None else default


COMMANDS = _Commands({**COMMANDS, **_interpreters()})
