"""Follows acts across languages: files read back, commands that run other code, code inside code."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.acts import DEEPEST_NESTING
from runner.risk.model.bounds import bounded, excerpt, is_beyond
from runner.risk.model.broken import first_broken
from runner.risk.model.value import HOLE, NO_LABELS, UNKNOWN, Value, concatenate, either, labels_of, readable, text
from runner.risk.python.syntax import Repair, Unparsed, broken_at, parse, recoded
from runner.risk.recipes.images import IN_AN_IMAGE
from runner.risk.rules.packages import mistaken_for, name_of
from runner.risk.trace.files import LONGEST_SCRIPT, WrittenFiles, keys
from runner.risk.trace.remote import connected_to
from runner.risk.trace.search_path import note_programs
from runner.risk.trace.shown import secrets
from runner.risk.trace.unknown import note_handed_to, note_handed_to_program

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from runner.model.request import Language
    from runner.risk.model.acts import Act, Place, Trail
    from runner.risk.rules.knowledge import Knowledge
    from runner.risk.rules.rule import Search
    from runner.risk.trace.world import FollowedProgram, ShellCaller

LONGEST_EVIDENCE = 200
IMAGE = frozenset({IN_AN_IMAGE})
MOST_FOUND = 400
"""Places in code of a language without a grammar that are looked at."""
LONGEST_STARTED = 100_000
"""Characters of a file that is started, beyond which it is not followed."""
FIRST_LINES = {"python": "python", "node": "javascript", "perl": "perl", "ruby": "ruby", "php": "php", "sh": "shell"}
"""Languages by a word of the first line, `#!...`."""

ESCAPED = expression(r"(?:\\x[2-7][0-9a-fA-F]|\\u00[2-7][0-9a-fA-F]|\\u\{[2-7][0-9a-fA-F]\}){8,}")
"""Printable characters in a row, each written as its number: nobody does that to be read."""
OF_PROJECT = expression(
    r"(?:\S*python[\d.]*+ -m )?(?:pytest|tox|nox|ruff|mypy|flake8|black|coverage|unittest|eslint|tsc|jest|vitest|"
    r"cargo (?:test|build|check|clippy|bench)|go (?:test|build|vet)|n?px? (?:test|run (?:test|build|lint)[\w:-]*+)|"
    r"git (?:log|status|diff|describe|rev-parse|shortlog|tag|branch))\b[^;&|`$<>\n]*+"
)
"""Commands that tell how a project does, and nothing of the machine."""
ASKS_GIT = expression(r"git (?:rev-parse|describe|rev-list|log)(?: [\w./=%:-]++)*+\Z")
"""A command that only says which revision this is."""
SCRIPTS = {
    ".py": "python",
    ".pyw": "python",
    ".sh": "shell",
    ".bash": "shell",
    ".js": "javascript",
    ".ps1": "powershell",
    ".bat": "powershell",
    ".cmd": "powershell",
    ".vbs": "powershell",
}


KEEPS_TO_ITSELF = frozenset(
    ("npx", "npm", "pnpm", "yarn", "bunx", "node", "docker", "terraform", "kubectl", "helm", "git")
)
"""Programs that do not print what they are given for that reason alone."""
JOINED = expression(r"[|;&`\n<>]|\$\(")
"""What joins a command of the shell to another one."""


class Nested:
    """What happens between languages. One for each assessment."""

    def __init__(self, knowledge: Knowledge, trail: Trail) -> None:
        self.knowledge = knowledge
        self.trail = trail
        self.files = WrittenFiles(trail, knowledge.targets)
        self.escapes = False
        """Whether the code has literals whose letters are written as numbers."""
        self.given: Mapping[str, Value] = {}
        """Variables that are handed to the program."""
        self.variables: dict[str, Value] = {}
        """What programs that are started find in their environment beside what they inherit."""
        self.lines: list[Value] = []
        """What the program in another language that is being followed has printed."""
        self.mentions: Search | None = None
        """What to look for in texts, when it is anywhere in the code."""

    def printed(self, value: Value) -> None:
        """Note a line that the program prints."""
        self.lines.append(value)

    def mentioned(self, known: str, place: Place) -> None:
        """Note a text of the program that is enough by itself."""
        if self.mentions is not None and self.mentions(known):
            self.trail.add("mention", "", {"text": text(known)}, place)

    def written_out(self, source: str, place: Place) -> None:
        """Note a literal whose letters are written as numbers; `source` is how it stands in the code."""
        if ESCAPED.search(source):
            self.trail.add("escaped", "", {"text": text(excerpt(source, LONGEST_EVIDENCE))}, place)

    # Programs.

    def python(self, code: str) -> Value:
        """Go through a Python program. Raises Unparsed."""
        if encoding := recoded(code):
            self.trail.add("recoded", encoding, {}, (1, 0, 1, 0))
        tree, repaired = parse(code)
        if repaired:
            self._repaired("python", repaired is Repair.LEFT_OUT, broken_at(code) if self.trail.depth == 0 else None)
        # Each language is imported when the first program in it is read: most calls are all in one.
        from runner.risk.python.program import run, walker_of

        walker = walker_of(self.knowledge.python, self.trail, self)
        walker.lines = code.split("\n") if self.escapes else []
        if self.trail.depth == 0:
            walker.machine.scope.names.update(self.given)
        return run(walker, tree)

    def shell(self, code: str, stdin: Value = UNKNOWN, holes: frozenset[str] = NO_LABELS) -> Value:
        """Go through a shell script; `holes` are the labels of what is not known in it."""
        from runner.risk.shell.script import Shell

        program = Shell(self.trail, self, holes=holes)
        program.shell.state.variables.update(self.given if self.trail.depth == 0 else self.variables)
        result = program.run(code, stdin)
        if self.trail.depth == 0 and program.broken:
            self._repaired("shell", program.cut_off, program.broken_at)
        if program.stops_at is not None:
            self.trail.add("stops", "shell", {}, program.stops_at)
        return result

    def javascript(self, code: str) -> Value:
        from runner.risk.javascript.program import is_cut_off, run, walker_of
        from runner.risk.javascript.syntax import parse as tree_of

        walker = walker_of(self.knowledge.javascript, self.trail, self)
        if self.trail.depth == 0:
            walker.machine.scope.names.update(self.given)
        root = tree_of(code)
        result = run(walker, root, code)
        if self.trail.depth == 0 and root.has_error:
            self._repaired("javascript", is_cut_off(root), first_broken(root))
        return result

    def by_calls(self, language: Language, code: str) -> None:
        """Go through a program in a language that has no part of the classifier to itself."""
        from runner.risk.by_calls.reading import reading_of
        from runner.risk.by_calls.walker import walk

        walk(self, self.trail, reading_of(language), code)

    def handed(
        self, name: str, values: Sequence[Value], labels: frozenset[str], place: Place, *, python: bool = False
    ) -> None:
        """Note what a call of `name`, which is not known, is given: places of the person's, and secrets."""
        vocabulary = self.knowledge.python if python else self.knowledge.javascript
        known = vocabulary.has_library(name)
        note_handed_to(self.trail, self.files.targets, name, values, labels, place, python=python, known=known)

    def handed_to_program(self, name: str, values: Sequence[Value], code: Sequence[Value], place: Place) -> None:
        """Note what a program of which nothing is known is given; '' is one that only the run decides about.

        `code` are the texts among it that may be code to it.
        """
        note_handed_to_program(self.trail, self.files.targets, name, values, code, place)

    def _repaired(self, language: str, left_out: bool, at: Place | None) -> None:
        """Note a program that is not valid; `left_out` says whether parts of it were not read at all."""
        place = at or (1, 0, 1, 0)
        self.trail.add("repaired", language, {}, place)
        if left_out and self.trail.depth == 0:
            self.trail.add("left-out", language, {}, place)

    # Acts.

    def done(self, act: Act) -> frozenset[str]:
        """Follow up an act just done; return labels for what it gives."""
        match act.kind:
            case "run":
                given = act.get("environment").fields or {}
                if (path := given.get("PATH")) is not None:
                    note_programs(self.trail, path, act.place)
                kept, self.variables = self.variables, {**self.variables, **given}
                try:
                    if act.get("remote").text == "yes":
                        with self.trail.on_machine(connected_to(self.trail, act.name)):
                            return self._run(act)
                    return self._run(act)
                finally:
                    self.variables = kept
            case "execute":
                return self._execute(act)
            case "package-setup":
                _set_up(act)
                return NO_LABELS
            case "query" | "database" | "destroy" | "bound":
                # Few programs have to do with any.
                from runner.risk.trace.stores import done

                return done(self.trail, act)
            case _:
                return self.files.done(act)

    def origin(self, path: Value) -> frozenset[str]:
        """Return the labels of what the program has written to `path`."""
        return self.files.origin(path)

    def content(self, path: Value) -> Value:
        """Return what the program has written to `path`, where that is known."""
        return self.files.content(path)

    def finish(self) -> None:
        """Look at the scripts that the program has written down: nobody writes one for nothing."""
        self.files.settle()
        if any("drops" in act.fields for act in self.trail.acts):
            from runner.risk.trace.stores import note_remade

            note_remade(self.trail.acts)
        while self.files.scripts:
            path, (code, place) = self.files.scripts.popitem()
            self._script(path, code, place)

    def _script(self, path: str, code: str, place: Place) -> None:
        from runner.risk.recipes.run_files import run_file

        language = next((known for end, known in SCRIPTS.items() if path.lower().endswith(end)), "")
        if (run := run_file(path, code)) is not None:
            language, code = run.language.value, run.code
        language = language or _by_first_line(code)
        if not language or self.trail.depth >= DEEPEST_NESTING:
            return
        if is_beyond(self.trail, code, LONGEST_SCRIPT, "characters of a script that it writes"):
            return
        around, self.trail.around = self.trail.around, IMAGE if run is not None and run.image else self.trail.around
        with self.trail.inside(place, excerpt(code, LONGEST_EVIDENCE), "written"):
            if language == "shell":
                self.shell(code)
            else:
                self._other(language, code)
        self.trail.around = around

    def started(self, path: Value, labels: frozenset[str], place: Place, language: str = "") -> None:
        """Follow a program file that is started, by its name or by the interpreter of `language`."""
        act = self.trail.add("start", path.text, {"path": path}, place, labels)
        self.done(act)
        code = self.content(path).exact
        language = language or _language_of(path.text, code or "")
        if code is None or not language or self.trail.depth >= DEEPEST_NESTING:
            return
        if is_beyond(self.trail, code, LONGEST_STARTED, "characters of a file that it starts"):
            return
        act.fields["followed"] = text("yes")
        with self.trail.inside(place, excerpt(code, LONGEST_EVIDENCE), language):
            if language == "shell":
                self.shell(code)
            else:
                self._other(language, code)

    # Starting processes from other languages.

    def _run(self, act: Act) -> frozenset[str]:
        command, place = act.get("command"), act.place
        origin = self.origin(command) | (self.origin(command.items[0]) if command.items else NO_LABELS)
        for item in (command.items or ())[1:]:
            origin |= self.origin(item)
        act.fields["origin"] = Value(labels=origin)
        act.fields["program"] = command.items[0] if command.items else command
        line = " ".join(one.text for one in command.items) if command.items else command.text
        if ASKS_GIT.match(line):
            act.fields["looks"] = text("yes")
        if self.trail.is_too_deep(act.name, place):
            return NO_LABELS
        self._written_code(command, place)
        handed = labels_of((command,))
        # What a program is given it does not print for that; of those that do it is known.
        labels = (handed - secrets(handed)) | {"results" if OF_PROJECT.fullmatch(line) else "output"}
        with self.trail.inside(place, self._shown(command), "shell"), self.trail.standing(act.get("cwd")):
            if command.items is not None and not command.texts:
                words = [*command.items, *(act.get("arguments").items or [])]
                if act.get("shell").name == "True" and len(words) == 1:
                    return self.shell(words[0].text, holes=labels_of(words)).labels | labels
                return self._shell_words(words, place) | labels if words else labels
            if act.get("arguments").items is not None:
                given = act.get("arguments").items or []
                words = [command, *(given[1:] if act.get("raw").text == "yes" else given)]
                if act.get("shell").name == "True":
                    return self.shell(concatenate(words, " ").text, holes=labels_of(words)).labels | labels
                return self._shell_words(words, place) | labels
            found = labels
            for known in command.texts:
                if known.strip(HOLE + " "):
                    printed = self.shell(known, holes=command.labels).labels
                    alone = known.partition(" ")[0] in KEEPS_TO_ITSELF and not JOINED.search(known)
                    found = found | (printed - secrets(command.labels) if alone else printed)
            return found

    def _shell_words(self, words: list[Value], place: Place) -> frozenset[str]:
        """Follow a command that is given word by word; return the labels of what it prints."""
        from runner.risk.shell.script import Shell

        program = Shell(self.trail, self)
        program.shell.state.variables.update(self.variables)
        labels = program.simple_values(words, UNKNOWN, place).labels
        name = (words[0].exact or "").rpartition("/")[2]
        return labels - secrets(labels_of(words)) if name in KEEPS_TO_ITSELF else labels

    def _written_code(self, command: Value, place: Place) -> None:
        """Text that the program put into a nameless file, if the command is about that file."""
        for key in {key for part in (command, *(command.items or ())) for key in keys(part) if key.startswith("$")}:
            content = self.trail.contents.pop(key, None)
            if content is not None and content.exact is not None:
                with self.trail.inside(place, excerpt(content.exact, LONGEST_EVIDENCE), "written"):
                    self._quietly_python(content.exact)

    def _shown(self, value: Value) -> str:
        whole = concatenate(value.items, " ") if value.items is not None else value
        return excerpt(whole.text.replace(HOLE, "…"), LONGEST_EVIDENCE)

    # Code in other languages.

    def _execute(self, act: Act) -> frozenset[str]:
        code, language = act.get("code"), act.get("language").text
        act.fields["origin"] = Value(labels=self.origin(code))
        if not code.texts or language in ("", "shell") or act.name in ("exec", "eval", "execfile", "Function"):
            return NO_LABELS
        if self.trail.is_too_deep(act.name, act.place):
            return NO_LABELS
        outside, self.lines = self.lines, []
        try:
            for known in code.texts:
                with self.trail.inside(act.place, excerpt(known, LONGEST_EVIDENCE).replace(HOLE, "…"), language):
                    self._other(language, known)
            if self.lines:
                act.fields["printed"] = concatenate(self.lines, "\n")
        finally:
            self.lines = outside
        return code.labels

    def _other(self, language: str, code: str) -> None:
        match language:
            case "python":
                self._quietly_python(readable(code))
            case "javascript":
                self.javascript(code)
            case _:
                self._foreign(language, code)

    def _quietly_python(self, code: str) -> None:
        try:
            self.python(code)
        except Unparsed:
            self.trail.add("unparsed", "python", {}, (1, 0, 1, 0))

    def _foreign(self, language: str, code: str) -> None:
        """Languages without a grammar here: their few ways to a process or a connection, by pattern."""
        place = (1, 0, 1, 0)
        for pattern in self.knowledge.foreign:
            if language not in pattern.languages:
                continue
            found = list(islice(pattern.pattern.finditer(code), MOST_FOUND + 1))
            for match in bounded(self.trail, found, MOST_FOUND, f"places in code of {language}"):
                fields = {key: text(value) for key, value in match.groupdict().items() if value is not None}
                fields.update((key, text(value)) for key, value in pattern.fields)
                act = self.trail.add(pattern.act, f"{language}: {excerpt(match.group(), 60)}", fields, place)
                self.done(act)

    def shell_text(
        self, command: ShellCaller, code: Value, arguments: Sequence[Value] = (), stdin: Value = UNKNOWN
    ) -> Value:
        """Follow a script inside a script (`bash -c`, `eval`, a pipe into `sh`); return what it prints."""
        if self.trail.is_too_deep(command.name, command.place):
            return UNKNOWN
        outputs = []
        for known in code.texts:
            if not known.strip(HOLE + " \n"):
                continue
            with self.trail.inside(command.place, excerpt(known, LONGEST_EVIDENCE).replace(HOLE, "…"), "shell"):
                outputs.append(command.shell.inner(readable(known), arguments, stdin))
        return either(outputs).labelled(code.labels) if outputs else Value(labels=code.labels)

    def executed(self, program: FollowedProgram, act: Act, code: Value) -> Value:
        """`exec` and `eval`: code that runs where it stands, in the program that holds it."""
        act.fields["origin"] = Value(labels=self.origin(code))
        if self.trail.is_too_deep(act.name, act.place):
            return Value(labels=code.labels)
        results: list[Value] = []
        for known in code.texts:
            if not known.strip(HOLE + " \n"):
                continue
            self.trail.evaluated += 1
            try:
                with self.trail.inside(
                    act.place, excerpt(known, LONGEST_EVIDENCE).replace(HOLE, "…"), program.language
                ):
                    results.append(program.inner(readable(known)))
            except Unparsed:
                act.fields["unparsed"] = text("yes")
            finally:
                self.trail.evaluated -= 1
        return either(results).labelled(code.labels) if results else Value(labels=code.labels)


def _language_of(path: str, code: str) -> str:
    """Return the language of a file that is started by its name; '' where it is not known."""
    ending = re.search(r"\.\w+\Z", path.lower())
    if ending is not None and ending[0] in (*SCRIPTS, ".exe", ".pl", ".rb", ".php"):
        return SCRIPTS.get(ending[0], "")
    return _by_first_line(code) or "shell"


def _by_first_line(code: str) -> str:
    """Return the language of the interpreter that the first line of a script names; '' for none that is known."""
    first = code.partition("\n")[0] if code.startswith("#!") else ""
    return next((language for word, language in FIRST_LINES.items() if word in first), "")


def _set_up(act: Act) -> None:
    """Note where a package, or what it requires, only looks like a known one."""
    written = [act.get("package"), *(act.get("requires").items or ())]
    meant = (mistaken_for(name_of(one.text, "python"), "python") for one in written if one.texts)
    if alike := next(filter(None, meant), ""):
        act.fields["mistaken"] = text(alike)
