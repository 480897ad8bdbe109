"""Finds the verb among the words of a command, and what it is about: what the program is asked for.

Programs differ in their names and hardly in their grammar: `kubectl get pods`, `az vm list`,
`snapper -c root delete 4`, `aws rds
describe-db-instances`, `heroku pg:info`. What is said here of a program is what its maker called it: only for programs
that are known is it said that they do that.
"""

from __future__ import annotations

from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from runner.model.expression import expression
from runner.risk.model.outline_data import words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class VerbKind(StrEnum):
    """What a verb does to what it is about."""

    LOOKS = "looks"
    CHECKS = "checks"
    WORKS = "works"
    """Makes something of it: another form, a page, a program."""
    CHANGES = "changes"
    REMOVES = "removes"


class CommandVerb(NamedTuple):
    """What a program is asked for."""

    verb: str
    """As in a sentence: `lists`."""
    effect: VerbKind
    thing: str = ""
    """What the words call it: `db instances`."""
    name: str = ""
    """Which one, where a word says that; HOLE where only the run decides."""


SAID: Mapping[VerbKind, Mapping[str, str]] = {
    VerbKind.LOOKS: {
        "lists": "list ls lsl lsf lsd lsjson ps pods devices workspaces",
        "shows": "get lookup describe show view inspect info status print display top log logs history events whoami"
        " stat stats tree read blame cat usage report analyze analyse statistics snapshots versions",
        "searches": "search find",
        "compares": "diff compare cmp",
        "counts": "count",
        "queries": "query select",
        "estimates": "estimate",
    },
    VerbKind.CHECKS: {
        "checks": "check lint validate verify audit doctor conform fsck vet isready",
        "tests": "test",
    },
    VerbKind.WORKS: {
        "formats": "fmt format tidy",
        "builds": "build compile bundle",
        "converts": "convert transcode encode",
        "plans": "plan preview",
        "pushes": "push publish",
        "renders": "render template generate gen markdown document",
        "exports": "export dump",
    },
    VerbKind.CHANGES: {
        "creates": "create new",
        "changes": "set edit modify patch",
        "updates": "update upgrade",
        "applies": "apply",
        "starts": "start",
        "restarts": "restart",
        "stops": "stop",
        "switches on": "enable",
        "switches off": "disable",
        "imports": "import load restore",
    },
    VerbKind.REMOVES: {"deletes": "delete destroy purge erase wipe obliterate drop truncate terminate"},
}
VERBS = {
    verb: (said, effect) for effect, ways in SAID.items() for said, known in ways.items() for verb in known.split()
}
ALSO_THINGS = words(
    "restore snapshot snapshots backup backups log logs plan report template schedule history usage test"
)
PLAIN_VERBS = words("list ls get describe show view info status delete create")
"""`velero restore describe`: what comes before one of these is what the verb is about, though it may be one as well."""
LATEST = 8
"""Operands among which the verb is looked for."""
PLAIN = expression(r"[a-z][a-z0-9]{0,24}(?:[-_][a-z0-9]{1,24}){0,6}")
PARTS = expression(r"[:_-]")
GROUPED = words("aws gcloud az doctl gh glab heroku")
"""Tools of which the first word says a part of a service, and is no verb: `gcloud run services list`."""


def asked(program: str, arguments: Sequence[str], valued: str = "") -> CommandVerb | None:
    """Return what a program is asked for; None where no word says it.

    `valued` are the options that take a value, where they are known; else what stands behind one may be its value.
    """
    plain = _operands(arguments, frozenset(valued.split()))
    for at, (word, _) in enumerate(plain[:LATEST]):
        if at == 0 and program in GROUPED and len(plain) > 1:
            continue
        if word in ALSO_THINGS and at + 1 < len(plain) and plain[at + 1][0] in PLAIN_VERBS:
            continue
        if at == 0 and "/" in word:
            return None  # a file that is started, or worked on
        verb, noun = _verb(word)
        if verb is None:
            if PLAIN.fullmatch(word) is None and at:
                return None
            continue
        said, effect = verb
        before = [one for one, of_option in plain[:at] if not of_option and PLAIN.fullmatch(one)]
        after = [one for one, of_option in plain[at + 1 :] if not of_option]
        if not after and effect is not VerbKind.LOOKS and not (before or noun):
            after = [one for one, _ in plain[at + 1 :]]  # behind an option that takes no value, more often than not
        if program == "aws":
            return CommandVerb(said, effect, _spaced(noun), _of_option(arguments))
        if noun:
            return CommandVerb(said, effect, _spaced(noun), after[0] if after else "")
        if before:
            return CommandVerb(said, effect, _spaced(" ".join(before)), after[0] if after else "")
        if after and PLAIN.fullmatch(after[0]) and (len(after) > 1 or effect is VerbKind.LOOKS):
            return CommandVerb(said, effect, _spaced(after[0]), after[1] if len(after) > 1 else "")
        return CommandVerb(said, effect, "", after[0] if after else "")
    return None


def by_name(program: str) -> tuple[str, VerbKind] | None:
    """Return what a program of one purpose does, where its name does not say that; None for any other."""
    return PROGRAMS.get(program)


PROGRAMS: Mapping[str, tuple[str, VerbKind]] = {
    name: (said, effect)
    for said, effect, names in (
        (
            *("checks", VerbKind.CHECKS),
            "ruff flake8 mypy pyright eslint biome hadolint checkov trivy tfsec actionlint kubeconform kubeval tflint"
            " yamllint shellcheck pylint markdownlint markdownlint-cli2 jsonlint xmllint stylelint sqlfluff kube-linter"
            " conftest promtool cppcheck ansible-lint codespell vale write-good"
            " check-jsonschema ajv spectral pg_isready",
        ),
        ("formats", VerbKind.WORKS, "black isort prettier gofmt rustfmt shfmt clang-format yamlfmt taplo"),
        ("tests", VerbKind.CHECKS, "pytest jest mocha vitest tox nosetests phpunit rspec bats ctest"),
        ("documents", VerbKind.WORKS, "terraform-docs helm-docs doxygen sphinx-build typedoc jsdoc"),
        ("renders", VerbKind.WORKS, "kustomize jsonnet"),
        ("draws", VerbKind.WORKS, "gnuplot plantuml d2"),
        ("counts", VerbKind.LOOKS, "cloc tokei scc"),
        ("builds", VerbKind.WORKS, "cmake ninja meson gcc g++ clang tsc esbuild webpack rollup"),
        (
            "shows what is in",
            VerbKind.LOOKS,
            "identify mediainfo ffprobe pdfinfo ogrinfo gdalinfo ncdump h5dump sqlite3_analyzer",
        ),
        ("shows the log of the system", VerbKind.LOOKS, "journalctl"),
        ("shows the state of the machine", VerbKind.LOOKS, "lscpu lsblk iostat vmstat sar mpstat"),
        ("lists jobs", VerbKind.LOOKS, "squeue sacct qstat bjobs atq lpstat lpq"),
        ("lists partitions", VerbKind.LOOKS, "sinfo"),
        ("compares", VerbKind.LOOKS, "diff3 colordiff difft dyff"),
    )
    for name in names.split()
}
CORRECTS = expression(r"--(?:fix|write|in-?place|apply|autofix)(?:[=-].*)?")
"""Options by which what checks changes what it checks."""
ACTS = expression(r"--(?:vacuum|rotate|flush|sync|setup-keys|relinquish-var|smart-relinquish-var|update-catalog).*")
"""Options by which what only shows changes something."""


def _operands(arguments: Sequence[str], valued: frozenset[str]) -> list[tuple[str, bool]]:
    """Return what is no option, and whether it stands behind one, whose value it may be."""
    found, after_option = [], False
    for before, word in pairwise(("", *arguments)):
        if word.startswith("-") and len(word) > 1:
            after_option = "=" not in word
        elif before in valued:
            after_option = False
        else:
            found.append((word, after_option))
            after_option = False
    return found


def _verb(word: str) -> tuple[tuple[str, VerbKind] | None, str]:
    """Return the verb that a word is, and what it says that the verb is about: `db-instances`."""
    if word in VERBS:
        return VERBS[word], ""
    if PLAIN.fullmatch(word.replace(":", "-", 1)) is None:
        return None, ""
    first, *rest = PARTS.split(word)
    if rest and first in VERBS:
        return VERBS[first], " ".join(rest)
    if rest and ":" in word and rest[-1] in VERBS:
        return VERBS[rest[-1]], " ".join((first, *rest[:-1]))
    return None, ""


def _spaced(noun: str) -> str:
    return noun.replace("-", " ").replace("_", " ")


OF_OBJECT = expression(
    r"--[\w-]*(?:name|names|id|ids|identifier|identifiers|arn|arns|bucket|key|url|table|cluster|alarms|targets)"
)
"""Options of `aws` that say which object is meant."""


def _of_option(arguments: Sequence[str]) -> str:
    at = next((at for at, word in enumerate(arguments[:-1]) if OF_OBJECT.fullmatch(word)), None)
    return arguments[at + 1] if at is not None else ""
