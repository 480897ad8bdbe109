"""Commands that start another command: wrappers, `find -exec`, `xargs`, options whose value is run."""

from __future__ import annotations

import re
from functools import reduce
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.acts import PICKED, PICKED_BY_AGE, Source
from runner.risk.model.outline_data import words
from runner.risk.model.value import HOLE, UNKNOWN, Value, alternatives, concatenate, either, text
from runner.risk.shell.command import is_narrowed
from runner.risk.shell.commands import spared
from runner.risk.shell.commands.escapes import recipe_fed
from runner.risk.shell.redirects import keep_open
from runner.risk.shell.steering import steers
from runner.risk.trace.files import FOUND_AS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.risk.shell.command import Command, Handler


DESCRIPTOR = expression(r"\d|\{\w+\}")
"""What the grammar takes for a word before a redirection."""


def wrapper(skip: int = 0) -> Handler:
    """sudo, env, nice, ...: options, perhaps some operands, then the command."""

    def handle(command: Command) -> Value | None:
        options, operands = command.parsed(stop=True)
        if command.name in ("sudo", "doas") and not operands and (options.keys() & {"-i", "-s", "--login", "--shell"}):
            command.act("shell", name=text(command.name))
        while operands and "=" in operands[0].text and operands[0].text.partition("=")[0].isidentifier():
            name, _, value = operands[0].text.partition("=")
            command.shell.state.variables[name] = text(value)
            steers(command.shell, name, text(value), command.place)
            operands = operands[1:]
        if command.name == "env" and (split := options.get("-S") or options.get("--split-string")):
            return command.script(split)
        return command.again(operands[skip:]) if len(operands) > skip else None

    return handle


def exec_(command: Command) -> Value | None:
    _, operands = command.parsed(stop=True)
    if operands and not (command.redirects and len(operands) == 1 and DESCRIPTOR.fullmatch(operands[0].text)):
        return command.again(operands)
    keep_open(command.shell, command.redirects, operands)
    return UNKNOWN


def environment(command: Command) -> Value | None:
    """`env` without a command prints all variables."""
    options, operands = command.parsed(stop=True)
    if operands or "-S" in options:
        return wrapper()(command)
    return Value(labels=frozenset({Source.ENVIRONMENT}))


def xargs(command: Command) -> Value | None:
    options, operands = command.parsed(stop=True)
    listed = options.get("-a") or options.get("--arg-file")
    fed = command.stdin if listed is None else command.read(listed)
    if not operands:
        return None
    marker = (options.get("-I") or options.get("--replace") or text("{}")).text or "{}"
    given = _fed(fed)
    if any(marker in operand.text for operand in operands) and (
        "-I" in options or "--replace" in options or "-i" in options
    ):
        words = [_put(operand, marker, given) for operand in operands]
    else:
        words = [*operands, *(given.items or [given])]
    return command.again(words, UNKNOWN)


SOURCES = expression(r":::\+?|::::\+?")
"""What the values of `parallel` follow: themselves, or the names of files with one on each line."""
PLACE = expression(r"\{[#%./\d]{0,6}\}")


def parallel(command: Command) -> Value | None:
    """parallel COMMAND ::: VALUE...: the command for each value, in place of {} or at its end, or else each value."""
    options, operands = command.parsed(stop=True)
    at = next((at for at, one in enumerate(operands) if SOURCES.fullmatch(one.text)), len(operands))
    template, named = operands[:at], [one for one in operands[at + 1 :] if not SOURCES.fullmatch(one.text)]
    if at < len(operands) and operands[at].text.startswith("::::"):
        given = _fed(command.read(either(named)))
    elif named:
        given = Value(items=named)
    else:
        listed = options.get("-a") or options.get("--arg-file")
        given = _fed(command.stdin if listed is None else command.read(listed))
    values = given.items or [given]
    if not template:
        for one in values:
            command.script(one)
        return UNKNOWN
    own = options.get("-I", UNKNOWN).text
    line = [reduce(lambda word, place: _put(word, place, given), _places(word, own), word) for word in template]
    if all(before is after for before, after in zip(template, line, strict=True)):
        line += values
    # One word is a line for a shell: parallel 'rm -r {}' ::: a b
    return command.script(concatenate(line, " ")) if " " in template[0].text else command.again(line, UNKNOWN)


def _places(word: Value, own: str) -> list[str]:
    return [own] if own else PLACE.findall(word.text)


def _fed(stdin: Value) -> Value:
    if stdin.exact is not None:
        return Value(items=[text(part, labels=stdin.labels) for part in stdin.exact.split()], labels=stdin.labels)
    return Value((HOLE,) if not stdin.texts else stdin.texts, labels=stdin.labels | {"listed"}, name=stdin.name)


def _put(operand: Value, marker: str, given: Value) -> Value:
    before, found, after = operand.text.partition(marker)
    if not found:
        return operand
    inside = either(given.items) if given.items else given
    return concatenate((text(before), inside, text(after))).labelled(given.labels)


BEFORE_ROOTS = expression(r"-[HLP]|-O\d")


def shell_after_dashes(command: Command) -> Value | None:
    """capsh -- -c CODE: what follows is given to a shell."""
    at = next((at for at, one in enumerate(command.arguments) if one.text == "--"), None)
    return None if at is None else command.again([text("bash"), *command.arguments[at + 1 :]])


def find(command: Command) -> Value | None:
    """find PATH... tests -exec COMMAND ; -delete"""
    arguments = command.arguments
    while arguments and BEFORE_ROOTS.fullmatch(arguments[0].text):
        arguments = arguments[1:]
    roots: list[Value] = []
    for argument in arguments:
        if argument.text.startswith(("-", "(", "!")):
            break
        roots.append(argument)
    roots = [command.searched(one) for one in roots or [text(".")]]
    root = either(roots)
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
    known = result.labels if _by_name_alone(arguments) else not_by_name(result.labels)
    tests = {argument.text for argument in arguments}
    picked = {label for label, of in ((PICKED, OTHER_TESTS), (PICKED_BY_AGE, AGES)) if tests & of}
    found = found.labelled(known | narrowed.labels | picked)
    at = 0
    while at < len(arguments):
        word = arguments[at].text
        at += 1
        if word == "-delete":
            spares = _left(arguments, roots, at - 1)
            path = found if names else root
            command.act("delete", path=path, tree=text("yes"), narrowed=is_narrowed(narrowed), **spares)
        elif word in ("-exec", "-execdir", "-ok", "-okdir"):
            end = next((i for i in range(at, len(arguments)) if arguments[i].text in (";", "+", "\\;")), len(arguments))
            words = [_put(argument, "{}", found) for argument in arguments[at:end]]
            words = [w.labelled(("found",)) if "found" not in w.labels and HOLE in w.text else w for w in words]
            done = command.shell.trail.acts
            begun = len(done)
            command.again(words, UNKNOWN)
            if spared.is_plain_removal(arguments[at:end]) and begun < len(done):
                spared.note(done[begun:], _left(arguments, roots, at - 1))
            at = end + 1
        elif word in ("-fprintf", "-fprint", "-fls") and at < len(arguments):
            command.act("write", path=arguments[at], data=UNKNOWN)
    return Value(found.texts, labels=found.labels | {"found"}, name="find")


def _by_name_alone(arguments: Sequence[Value]) -> bool:
    """Return whether all that a find finds is named as its one pattern for names says."""
    tests = {argument.text for argument in arguments}
    return tests.isdisjoint(OTHERWISE) and not (tests & {"-path", "-wholename", "-ipath", "-regex", "-iregex"})


OTHER_TESTS = words(
    "-path -ipath -wholename -regex -iregex -empty -size -newer -newermt -perm -user -group -nouser -nogroup -links "
    "-inum -samefile -lname -xtype -o -or"
)
"""Tests of find that are about more than names, kinds and depths."""
AGES = words("-mtime -atime -ctime -mmin -amin -cmin ! -not")
"""Tests of which a deletion that is understood says itself what they leave."""
OTHERWISE = words("! -not -o -or , ( )")
"""What joins tests of find so that the name of what is found need not fit."""


def not_by_name(labels: frozenset[str]) -> frozenset[str]:
    """Return the labels of what is found without what its name is like."""
    return frozenset(label for label in labels if not label.startswith(FOUND_AS))


def _left(arguments: Sequence[Value], roots: Sequence[Value], deletion: int) -> dict[str, Value]:
    """Return what a deletion of find leaves, as fields of its act, in the folders where it looks."""
    fields = spared.spared(arguments, len(roots), deletion)
    return {**fields, "within": either(roots)} if fields else fields


OF_FD = words(
    "-e --extension -E --exclude -t --type -d --max-depth --min-depth -S --size -o --owner --changed-within "
    "--changed-before -j --threads --base-directory"
)
"""Options of fd that take a value."""


def find_by_pattern(command: Command) -> Value | None:
    """fd PATTERN PATH... -x COMMAND, -X COMMAND"""
    arguments = command.arguments
    at = next((i for i, one in enumerate(arguments) if one.text in ("-x", "-X", "--exec", "--exec-batch")), None)
    before = arguments[:at]
    valued = [one.text in OF_FD for one in before]
    operands = [
        one for one, is_value in zip(before, [False, *valued], strict=False) if one.text[:1] != "-" and not is_value
    ]
    root = either(operands[1:]) if len(operands) > 1 else text(".")
    command.act("walk", path=root)
    found = _found(root, operands[:1]).labelled({"found"})
    if at is not None:
        words = [_put(argument, "{}", found) for argument in arguments[at + 1 :]]
        command.again(words if any("{}" in one.text for one in arguments[at:]) else [*words, found], UNKNOWN)
    return Value(found.texts, labels=found.labels, name="find")


def _found(root: Value, names: Sequence[Value]) -> Value:
    """Return the paths a find may give: every name below the root, with a hole between."""
    if not names:
        return Value(tuple(_below(known) for known in root.texts) or (HOLE,), labels=root.labels | {"found"})
    made = [f"{_below(known)}{name.text.lstrip('*/') or '*'}" for known in root.texts or (".",) for name in names]
    return alternatives(made, root.labels | {"found"})


def _below(known: str) -> str:
    return known + HOLE if known.endswith("/") else f"{known}/{HOLE}" if not known.endswith("*") else known


NARROWING = words(
    "-name -iname -path -ipath -regex -iregex -empty -mtime -atime -ctime -mmin -amin -cmin -size -newer -perm -inum "
    "-wholename -samefile -links -lname -xtype"
)


def _narrows(arguments: Sequence[Value]) -> bool:
    for at, argument in enumerate(arguments):
        if argument.text in NARROWING:
            following = arguments[at + 1].text if at + 1 < len(arguments) else ""
            if not (argument.text in ("-name", "-iname", "-path") and set(following) <= set("*./")):
                return True
    return False


def su(command: Command) -> Value | None:
    options, _operands = command.parsed()
    code = options.get("-c") or options.get("--command")
    if code is not None:
        return command.script(code)
    command.act("shell", name=text("su"))
    return UNKNOWN


def typed(command: Command) -> Value | None:
    """script -c: a terminal in which a script is typed."""
    options, _operands = command.parsed(stop=True)
    given = [options[name] for name in ("-c", "--command") if name in options and options[name].texts]
    return command.script(given[0]) if given else None


def watch(command: Command) -> Value | None:
    _, operands = command.parsed(stop=True)
    return command.script(concatenate(operands, " ")) if operands else None


def start_terminal(command: Command) -> Value | None:
    """screen -dmS name command, tmux new-session -d command, systemd-run command."""
    options, operands = command.parsed(stop=True)
    if command.name == "systemd-run" and any(key.startswith("--on-") for key in options):
        command.act("schedule", what=concatenate(operands, " "), how=text("systemd"))
    if command.name == "tmux" and operands:
        operands = [operand for operand in operands[1:] if not operand.text.startswith("-")]
        return command.script(concatenate(operands[-1:], " ")) if operands else None
    return command.again(operands) if operands else None


def start(command: Command) -> Value | None:
    """Windows' `start` and `cmd /c`: what follows the options runs."""
    words = [word for word in command.arguments if not re.fullmatch(r"/\w+(:\w+)?|\"[^\"]*\"", word.text)]
    if command.name == "cmd":
        return command.script(concatenate(words, " ")) if words else command.act("shell", name=text("cmd"))
    return command.again(words) if words else None


def settings_that_run(command: Command) -> Value | None:
    """git -c core.pager=..., make --eval=...: options whose value is a command."""
    if command.name in ("make", "gmake"):
        recipe_fed(command)
    for at, word in enumerate(command.arguments):
        following = command.arguments[at + 1].text if at + 1 < len(command.arguments) else ""
        if command.name == "git":
            _git_runs(command, at)
        elif command.name in ("make", "gmake") and word.text.startswith(("--eval", "-E")):
            code = word.text.partition("=")[2] or following
            command.script(text(re.sub(r"^[\w\s.%-]*:[^;\n]*[;\n]", "", code)))
        elif command.name == "gdb" and word.text in ("-ex", "--ex", "-eval-command"):
            command.code("perl", text(following))
            if match := re.match(r"(?:!|shell\s)(.+)", following):
                command.script(text(match[1]))
    return None


GIT_RUNS = expression(
    r"core\.(?:pager|editor|sshcommand|fsmonitor|askpass|gitproxy)|diff\.external|diff\..+\.(?:textconv|command)"
    r"|filter\..+\.(?:clean|smudge|process)|merge\..+\.driver|(?:merge|diff)tool\..+\.cmd|sequence\.editor"
    r"|gpg\.(?:.+\.)?program|pager\.\w+|uploadpack\.packobjectshook|trailer\..+\.(?:command|cmd)"
    r"|remote\..+\.(?:uploadpack|receivepack)|(?:browser|man)\..+\.cmd|credential\.(?:.+\.)?helper|alias\..+"
)
"""Settings of git, in lower case, whose value is a command."""
ONLY_WITH_MARK = ("alias.", "credential.")
GIT_OPTIONS = frozenset(
    ("--exec", "-x", "--extcmd", "--upload-pack", "-u", "--receive-pack", "--open-files-in-pager", "--to-cmd")
)
"""Options of some commands of git whose value is a command."""
WITH_OPTIONS = frozenset(("rebase", "difftool", "clone", "fetch", "pull", "push", "ls-remote", "send-email"))


def _git_runs(command: Command, at: int) -> None:
    """Follow what the argument number `at` makes git run."""
    arguments = command.arguments
    word = arguments[at]
    following = arguments[at + 1] if at + 1 < len(arguments) else UNKNOWN
    name, equals, inline = word.text.partition("=")
    verbs = {one.text for one in arguments[:at]}
    if word.text in ("-c", "--config"):
        key, _, code = following.text.partition("=")
        _git_setting(command, key, text(code, labels=following.labels), at_once=True)
    elif "." in name and not equals and "config" in verbs:
        _git_setting(command, name, following, at_once=False)
    elif _is_git_option(name, verbs):
        command.script(text(inline, labels=word.labels) if equals else following)
    elif word.text in ("run", "foreach") and verbs & {"bisect", "submodule"} and following.texts:
        rest = [one for one in arguments[at + 1 :] if one.text != "--recursive"]
        command.script(concatenate(rest, " ")) if word.text == "foreach" else command.again(rest)


def _is_git_option(name: str, verbs: set[str]) -> bool:
    """Return whether the value of an option of git is a command, after the words `verbs`."""
    if name.startswith("--") and name.endswith("-filter"):
        return "filter-branch" in verbs
    return name in GIT_OPTIONS and bool(verbs & WITH_OPTIONS) and (name != "-u" or "clone" in verbs)


def _git_setting(command: Command, key: str, value: Value, *, at_once: bool) -> None:
    key = key.lower()
    runs = GIT_RUNS.fullmatch(key) is not None
    if runs and (value.text.startswith("!") or not key.startswith(ONLY_WITH_MARK)):
        command.script(text(value.text.removeprefix("!"), labels=value.labels))
    elif at_once and re.fullmatch(r"core\.hookspath|include(if\..*)?\.path|init\.templatedir", key):
        command.act("configure", target=text(key), value=value, at=text("git"))
