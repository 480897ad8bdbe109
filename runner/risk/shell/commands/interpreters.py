"""Shells and interpreters of other languages: code in an option, in a file or on standard input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.model.modules import is_standard
from runner.risk.model import fold
from runner.risk.model.outline_data import words
from runner.risk.model.value import UNKNOWN, Value, concatenate, each, labels_of, text
from runner.risk.shell.commands.well_known import is_well_known

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.risk.shell.command import Command, Handler


PLAIN = frozenset(
    ["", "sudo", "doas", "exec", "command", "builtin", "time", "nohup", "su", "env", "chroot", "nice", "setsid"]
)
"""Commands that people start a shell through every day."""


INTERPRETER = expression(
    r"(?:(?P<python>python|pypy|ipython|python2|python3)|(?P<javascript>node|nodejs|bun|deno)|(?P<perl>perl)|(?P<ruby>ruby|jruby|irb)"
    r"|(?P<php>php)|(?P<lua>lua|luajit|lua5)|(?P<tcl>tclsh|wish|expect)|(?P<powershell>powershell|pwsh))[\d.]*(?:\.exe)?\Z"
)
CMDLET = expression(
    r"(?:Invoke|Start|Remove|New|Set|Get|Expand|Add|Register|Stop|Copy|Out|Import|ConvertTo|Write)-[A-Z]\w+"
)


def shell(command: Command) -> Value | None:
    """sh, bash, ...: a script in an option, in a file or on standard input; else an interactive shell."""
    options, operands = command.parsed(stop=True)
    cluster = next((o for o in options if o.startswith("-") and not o.startswith("--") and "c" in o), None)
    if cluster is not None:
        return _run(command, operands[0], operands[2:], command.stdin) if operands else UNKNOWN
    from_input = any(o[0] == "-" != o[1] and "s" in o for o in options)
    if operands and not from_input and operands[0].text not in ("-", "/dev/stdin"):
        content = (operands[0].fields or {}).get("content")
        if content is not None:
            return _run(command, content, operands[1:])
        command.shell.nested.started(operands[0], command.labels, command.place, "shell")
        return UNKNOWN
    if command.stdin is not UNKNOWN:
        return _run(command, command.stdin, operands if from_input else operands[1:])
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


def _run(command: Command, code: Value, arguments: Sequence[Value] = (), stdin: Value = UNKNOWN) -> Value:
    """Run a script, and record that it is run."""
    command.act("execute", code=code, language=text("shell"))
    return command.script(code, arguments, stdin)


@dataclass(frozen=True, slots=True)
class CodeOptions:
    """How the interpreters of one language take code in an option."""

    language: str
    flags: tuple[str, ...] = ("-e", "-E")
    """Options whose value is code."""
    valued: frozenset[str] = frozenset()
    """Other options that take a value."""
    single: bool = False
    """Whether what follows the code belongs to it."""

    def flag(self, word: str) -> str | None:
        """Return the option for code that `word` is or contains."""
        return next((f for f in self.flags if word == f or (len(f) == 2 and _clustered(word, f[1]))), None)


CODE_OPTIONS = {
    options.language: options
    for options in (
        CodeOptions("python", ("-c",), frozenset({"-W", "-X", "-m"}), single=True),
        CodeOptions("php", ("-r",), single=True),
        CodeOptions("javascript", ("-e", "-p", "--eval", "--print"), frozenset({"-r", "--require"}), single=True),
        CodeOptions("perl", valued=frozenset({"-r", "-I", "-M", "-m", "-l"})),
        CodeOptions("ruby", valued=frozenset({"-r", "-I", "-M", "-m", "-l"})),
        CodeOptions("lua"),
        CodeOptions("tcl", ("-c", "-e")),
    )
}


def interpreter(language: str) -> Handler:
    """Return the handler of python, node, perl, ...: code in an option, in a file or on standard input."""
    if language == "powershell":
        return powershell
    options = CODE_OPTIONS[language]

    def handle(command: Command) -> Value | None:
        return _interpret(command, options)

    return handle


def _interpret(command: Command, options: CodeOptions) -> Value:
    arguments = command.arguments
    codes: list[Value] = []
    at = 0
    while at < len(arguments):
        word = arguments[at].text
        if (flag := options.flag(word)) is not None:
            found, at = _code_behind(arguments, at, flag)
            codes += found
            if options.single:
                break
        elif word in options.valued:
            if word == "-m" and options.language == "python" and at + 1 < len(arguments):
                return _module(command, arguments[at + 1 :])
            if options.language == "javascript" and at + 1 < len(arguments):
                command.shell.nested.started(arguments[at + 1], command.labels, command.place, "javascript")
            at += 2
        elif word.startswith("-") and word != "-":
            at += 1
        else:
            if command.name == "deno" and word in ("eval", "-") and at + 1 < len(arguments):
                codes.append(arguments[at + 1])
            elif word != "-" and not codes:
                return _program_file(command, options.language, arguments[at:])
            break
    if codes:
        if options.language in ("perl", "ruby"):
            _by_lines(command, arguments[:at], arguments[at:])
        return command.code(options.language, concatenate(codes, "\n"))
    return command.code(options.language, command.stdin) if command.stdin is not UNKNOWN else UNKNOWN


IN_PLACE = expression(r"-[a-zA-Z0]*i")
LINE_BY_LINE = expression(r"-[a-zA-Z0]{0,8}?[np]")
"""Options by which perl and ruby read the files behind the code."""


def _by_lines(command: Command, options: Sequence[Value], paths: Sequence[Value]) -> None:
    """perl -ne CODE FILES: the files are read, or rewritten."""
    given = [word.text for word in options]
    if any(map(IN_PLACE.match, given)):
        _edits(command, paths)
    elif any(map(LINE_BY_LINE.match, given)):
        for path in paths:
            command.read(path)


def _edits(command: Command, paths: Sequence[Value]) -> None:
    """perl -pi -e CODE FILES: the files are rewritten."""
    for path in paths:
        if not path.text.startswith("-"):
            found = path if path.exact is not None else path.labelled(("listed",))
            command.act("write", path=command.placed(found), edit=text("yes"))


def _code_behind(arguments: list[Value], at: int, flag: str) -> tuple[list[Value], int]:
    """Return the code that the option at `at` holds or that follows it, if any, and where to go on."""
    word = arguments[at].text
    short = len(flag) == 2 and word != flag and not word.endswith(flag[1])
    if short and (inline := word[word.index(flag[1]) + 1 :]):
        return [text(inline, labels=arguments[at].labels)], at + 1
    return arguments[at + 1 : at + 2], at + 2


PROGRAMS_RUN = words("timeit pdb cProfile profile trace doctest unittest")
"""Modules that run the program of another file."""


def _module(command: Command, arguments: list[Value]) -> Value:
    """`python -m module`: modules that are commands run as such."""
    if arguments[0].text in ("pip", "http.server", "twine"):
        command.again(arguments)
    elif arguments[0].text in PROGRAMS_RUN:
        for one in arguments[1:]:
            if one.text.endswith(".py"):
                command.shell.nested.started(one, command.labels, command.place, "python")
            elif not one.text.startswith("-") and arguments[0].text in ("timeit", "pdb"):
                command.code("python", one)
    for one in arguments[: 2 if arguments[0].text == "unittest" else 1]:
        file = text(one.text.replace(".", "/") + ".py")
        if "/" not in one.text and command.shell.nested.origin(file):
            command.shell.nested.started(file, command.labels, command.place, "python")
    command.act("module", name=arguments[0], line=concatenate(arguments, " "))
    module = arguments[0].text
    if not is_well_known(module) and not is_standard(module.partition(".")[0]):
        command.shell.nested.handed_to_program(module, arguments[1:], (), command.place)
    return UNKNOWN


def _program_file(command: Command, language: str, arguments: list[Value]) -> Value:
    """Start the program in the file that `arguments` begin with."""
    target = arguments[0]
    content = (target.fields or {}).get("content")
    if content is not None:
        return command.code(language, content)
    if command.name in ("deno", "bun") and target.text == "run" and len(arguments) > 1:
        target = arguments[1]
    command.shell.nested.started(target, command.labels, command.place, language)
    return Value(labels=labels_of((command.stdin,)))


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
            command.shell.nested.started(arguments[at + 1], command.labels, command.place, "powershell")
        if (option and "encodedcommand".startswith(option)) or option in ("ec", "enc"):
            code = each(
                arguments[at + 1], lambda known: fold.coded(fold.base64_text(known), "utf-16-le"), labels=fold.DECODED
            )
            return command.code("powershell", concatenate((line, text("\n"), code)))
    return command.code(
        "powershell", concatenate((line, command.stdin), "\n") if command.stdin is not UNKNOWN else line
    )


def cmdlet(command: Command) -> Value | None:
    """PowerShell given to a shell that splits it at its semicolons: each piece is looked at by itself."""
    return command.code("powershell", concatenate(command.words, " "))
