"""Programs of which an option, or a word of their own language, runs a command: man, zip, split, vim, psql, ..."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.value import UNKNOWN, Value, text

if TYPE_CHECKING:
    from runner.risk.shell.command import Command, Handler


def running(handler: Handler | None, names: str) -> Handler:
    """Return `handler` for a program that runs the values of the options `names`."""

    def handle(command: Command) -> Value | None:
        for value in values_of(command, names):
            command.script(value)
        return handler(command) if handler is not None else None

    return handle


def values_of(command: Command, options: str) -> list[Value]:
    """Return the values of `options`, in their order."""
    names, found = options.split(), []
    arguments = command.arguments
    for at, argument in enumerate(arguments):
        name, equals, inline = argument.text.partition("=")
        if argument.text in names and at + 1 < len(arguments):
            found.append(arguments[at + 1])
        elif equals and name in names and name.startswith("--"):
            found.append(text(inline, labels=argument.labels))
    return found


def lock(command: Command) -> Value | None:
    """flock FILE -c COMMAND, flock FILE COMMAND..."""
    options, operands = command.parsed(stop=True)
    code = options.get("-c") or options.get("--command")
    rest = operands[1:]
    if code is None and rest and rest[0].text in ("-c", "--command"):
        code = rest[1] if len(rest) > 1 else UNKNOWN
    if code is not None and code.texts:
        return command.script(code)
    return command.again(rest) if rest else None


def runner(verbs: str) -> Handler:
    """Return the handler of tools such as `poetry run`, `bundle exec`: after one of `verbs` follows a command."""
    wanted = frozenset(verbs.split())

    def handle(command: Command) -> Value | None:
        _, operands = command.parsed(stop=True)
        if len(operands) < 2 or operands[0].text not in wanted:
            return None
        rest = operands[1:]
        while rest and rest[0].text.startswith("-"):
            rest = rest[1:]
        return command.again(rest) if rest else None

    return handle


BANG = expression(r"\A[:\s%rw\d,]*+!+\s*+(.+)", re.DOTALL)
SYSTEM_CALL = expression(r"\b(?:system|os\.execute|os\.system)\s*+\(\s*+[\"']([^\"']++)")


def editor(command: Command) -> Value | None:
    """vim -c ':!command', +!command: a command of the editor that runs one of the shell."""
    arguments = command.arguments
    given = [word.text[1:] for word in arguments if word.text.startswith("+")]
    given += [value.text for value in values_of(command, "-c --cmd -S")]
    for known in given:
        for pattern in (BANG.match(known), SYSTEM_CALL.search(known)):
            if pattern is not None:
                command.script(text(pattern[1]))
    return None


WITHIN = {
    "lisp": expression(
        r"\((?:async-)?(?:shell-command(?:-to-string)?|compile|start-process-shell-command)\s++\"((?:[^\"\\]|\\.)++)"
    ),
    "puppet": expression(r"exec\s*+\{\s*+[\"']([^\"']++)"),
    "pre-invoke": expression(r"(?:Pre|Post)-(?:Invoke|Install-Pkgs)[\w:-]{0,60}+=(.+)", re.DOTALL),
}
"""How languages of programs run a command of the shell."""


def within(what: str, options: str) -> Handler:
    """Return the handler of a program that runs what the values of `options`, in the language `what`, say."""
    pattern = WITHIN[what]

    def handle(command: Command) -> Value | None:
        for value in values_of(command, options):
            for match in pattern.finditer(value.text):
                command.script(text(match[1].replace('\\"', '"'), labels=value.labels))
        return None

    return handle


def ansible(command: Command) -> Value | None:
    """ansible HOSTS -m shell -a COMMAND."""
    modules = [value.text for value in values_of(command, "-m --module-name")]
    if not modules or modules[0].rpartition(".")[2] in ("shell", "command", "raw"):
        for value in values_of(command, "-a --args"):
            command.script(value)
    return None


BY_CLIENT = (
    expression(r"(?m)^[ \t]*+\\![ \t]*+([^\n]++)"),
    expression(r"(?i)\bPROGRAM\s++'((?:[^']|'')++)'"),
    expression(r"(?m)^[ \t]*+\.(?:shell|system)[ \t]++([^\n]++)"),
    expression(r"(?m)^[ \t]*+system[ \t]++([^\n;]++)"),
)
"""How clients of databases run a command of the shell."""


def statement_runs(command: Command, statement: Value) -> None:
    """Follow the commands that a client of a database runs for a statement."""
    for known in statement.texts:
        for pattern in BY_CLIENT:
            for match in pattern.finditer(known):
                command.script(text(match[1].replace("''", "'"), labels=statement.labels))


ENDINGS = {
    "go": ".go",
    "c": ".c .cc .cpp .v",
    "rust": ".rs .zig",
    "java": ".java .kt .kts .scala .groovy",
    "r": ".r .nim",
    "julia": ".jl",
    "ruby": ".cr",
    "swift": ".swift",
    "elixir": ".ex .exs",
}
LANGUAGE_OF_FILE = {ending: language for language, endings in ENDINGS.items() for ending in endings.split()}


def compiler(language: str) -> Handler:
    """Return the handler of compilers and runners of `language`: what is compiled is run, as a rule."""

    def handle(command: Command) -> Value | None:
        for value in values_of(command, "-e -E --eval -c" if language != "c" else ""):
            command.code(language, value)
        words = command.arguments
        if words and words[0].text == "eval" and len(words) > 1:
            return command.code(language, words[1])
        for word in words:
            ending = word.text[word.text.rfind(".") :].lower() if "." in word.text else ""
            content = command.shell.nested.content(word) if ending in LANGUAGE_OF_FILE else UNKNOWN
            if content.exact is not None:
                command.code(LANGUAGE_OF_FILE[ending], content)
        if any(word.text == "-" for word in words) and command.stdin.exact is not None:
            command.code(language, command.stdin)
        return None

    return handle


IN_SED = expression(r"(?m:^|[;{])[ \t]*+(?:\d++|\$|/[^/\n]*+/)?+(?:,(?:\d++|\$))?+[ \t]*+e[ \t]++([^\n;}]++)")


def sed_runs(command: Command, program: Value) -> None:
    """Follow the command `e` of sed."""
    for match in IN_SED.finditer(program.text):
        command.script(text(match[1], labels=program.labels))


def recipe_fed(command: Command) -> None:
    """make -f -: a makefile on standard input, of which recipes may stand behind a semicolon."""
    if command.stdin.texts and any(word.text in ("-", "-f-", "/dev/stdin") for word in command.arguments):
        for line in command.stdin.text.split("\n"):
            recipe = line[1:] if line.startswith("\t") else line.partition(";")[2]
            if recipe.strip():
                command.script(text(recipe.strip().lstrip("@-+"), labels=command.stdin.labels))
