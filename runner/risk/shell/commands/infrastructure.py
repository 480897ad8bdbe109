"""Commands about clusters, clouds, infrastructure and repositories: what they delete or discard elsewhere."""

from __future__ import annotations

import re
from contextlib import nullcontext
from itertools import pairwise
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.acts import CONTAINER, Source
from runner.risk.model.bounds import excerpt
from runner.risk.model.value import HOLE, UNKNOWN, Value, text
from runner.risk.shell.commands.asked import OF_OBJECT
from runner.risk.shell.commands.copies import copying, note_copy, within_machine
from runner.risk.shell.commands.dry import is_dry
from runner.risk.shell.commands.git_files import read_by_path
from runner.risk.shell.commands.own_containers import is_own_container, note_own_container
from runner.risk.shell.commands.starters import settings_that_run
from runner.risk.shell.commands.system import cluster as cluster_secrets
from runner.risk.shell.commands.system import container as container_rights
from runner.risk.trace.files import IN_MEMORY, is_temporary
from runner.risk.trace.remote import opened_by

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.risk.model.acts import Act
    from runner.risk.shell.command import Command, Handler

SPACES = ("-n", "--namespace")
CHANGES_CLUSTER = expression(
    r"cordon|uncordon|taint|cp|apply|replace|patch|create|set|rollout|edit|annotate|label|run|exec"
)
REMOVING = expression(
    r"(delete|terminate|remove|destroy|purge|deregister|revoke|rb|rm|wipe|drop|empty|disable|archive|release|abandon"
    r"|decommission|reset)(-[\w-]+)?|del|(schedule|cancel|close)-[\w-]+"
)
"""Words of cloud tools that take something away: `delete-bucket`, `terminate-instances`, `rb`."""
READS = expression(
    r"(get|list|describe|show|status|plan|diff|logs?|ls|search|view|lookup|head|scan|query|filter|tail|wait|help|check"
    r"|validate|test|estimate|preview|simulate|count|download|select|read|info|history|events?|top|explain|watch|version"
    r"|versions|whoami|login|logout|configure|config|auth|sso|sts|init|completion|interactive|browse|open|find|cat|du"
    r"|tree|size|stat|presign|exists|hash|export|bicep|extension|compute-optimizer|ce|pricing|batch-get|generate|decode|print|fetch|inspect|audit|doctor|feedback"
    r"|cheat-sheet|account|signin|lsd|lsl|lsf|lsjson|md5sum|sha1sum|hashsum|about|ncdu|listremotes|checksum)(-[\w-]+)?"
)
"""Words of cloud tools that change nothing; what has none of these and does something changes what is there."""
DEPLOYS = expression(
    r"(create|update|put|deploy|modify|set|attach|authorize|run|start|stop|reboot|add|patch|invoke|send|publish)(-[\w-]+)?"
)
"""Words that change something, whatever stands beside them."""
OPERATION = expression(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
CHECKS = frozenset(("--check", "--syntax-check", "--list-tasks", "--list-hosts", "--version", "--help"))
SAVED = expression(r"--force-with-lease|--force-if-includes")


def cluster(command: Command) -> Value | None:
    """kubectl, oc: what is deleted or stopped in a cluster."""
    options, operands = command.parsed()
    words = _plain(operands)
    if words and not _is_dry(command):
        named = " ".join(words[1:3]) or _named(options, "-f", "--filename", "-k", "--kustomize", "-l", "--selector")
        if words[0] == "delete" and words[1:]:
            _deleted_of_cluster(command, words[1:], options)
        elif words[0] in ("delete", "drain"):
            _destroys(command, "" if named else "resources", named, "the cluster", _named(options, *SPACES))
        elif words[0] in ("scale", "autoscale") and options.get("--replicas", UNKNOWN).text == "0":
            _destroys(command, "all replicas of", named, "the cluster", _named(options, *SPACES))
        elif words[0] == "cp" and (copy := copying(command)) is not None:
            note_copy(command, copy)
            return Value(labels=frozenset({Source.DOWNLOADED}))
        elif words[0] == "exec" and _executes_within(command, operands):
            return Value(labels=frozenset({Source.DOWNLOADED}))
        elif CHANGES_CLUSTER.fullmatch(words[0]) and words[:2] not in LOOKS_AT_ROLLOUT:
            target = f"{words[0]} {named}".strip() + _which_cluster(options, "--context")
            command.act("configure", target=text(target), at=text("the cluster"))
    return cluster_secrets(command)


def _which_cluster(options: dict[str, Value], context: str) -> str:
    """Return the options that say which cluster is meant, and which part of it."""
    space, cluster = _named(options, *SPACES), _named(options, context)
    return (f" -n {space}" if space else "") + (f" {context} {cluster}" if cluster else "")


LOOKS_AT_ROLLOUT = (["rollout", "status"], ["rollout", "history"])
SHELL = expression(r"(?:^|/)(?:ba|da|z|k|a)?sh$")
ASKS_TO_RUN = frozenset(("exec", "container", "compose"))


def _executes_within(command: Command, operands: Sequence[Value]) -> bool:
    """Follow `exec CONTAINER COMMAND...` in that container; return whether a command is given."""
    rest = list(operands)
    while rest and rest[0].text in ASKS_TO_RUN:
        rest = rest[1:]
    if len(rest) < 2 or (len(rest) == 2 and SHELL.search(rest[1].text) is not None):
        return False  # a shell in which a person types
    trail, own = command.shell.trail, is_own_container(command, rest)
    with trail.on_machine(rest[0], CONTAINER), trail.around_with(IN_MEMORY) if own else nullcontext():
        command.again(rest[1:])
    return True


KIND = expression(r"[a-zA-Z.,]{2,60}")


def _deleted_of_cluster(command: Command, words: Sequence[str], options: dict[str, Value]) -> None:
    """Note what `kubectl delete KIND NAME` takes away: of all, of what a selector fits, or by its name."""
    kind, names = words[0], words[1:]
    selector = _named(options, "-l", "--selector", "--field-selector")
    plain = KIND.fullmatch(kind) is not None and kind != "all"
    if plain and not names and selector:
        what, name = f"the {kind} that fit", selector
    elif plain and not names:
        what, name = f"all {kind}", ""
    elif kind == "all" and not names:
        what, name = "all resources", ""
    else:
        what, name = (kind, " ".join(names[:2])) if plain and names else ("", " ".join(words[:3]))
    spaces = "every namespace" if {"-A", "--all-namespaces"} & options.keys() else _named(options, *SPACES)
    _destroys(command, what, name, "the cluster", spaces)


def helm(command: Command) -> Value | None:
    options, operands = command.parsed()
    words = _plain(operands)
    if words[:1] and words[0] in ("uninstall", "delete", "del", "un") and not _is_dry(command):
        _destroys(command, "the release", " ".join(words[1:3]), "the cluster", _named(options, *SPACES))
    elif words[:1] and words[0] in ("install", "upgrade", "rollback") and not _is_dry(command):
        target = " ".join(words[:3]) + _which_cluster(options, "--kube-context")
        command.act("configure", target=text(target), at=text("the cluster"))
    return None


PLANS_TO_DESTROY = frozenset({"plans-to-destroy"})
"""The label of a plan, saved in a file, to destroy what there is."""


def terraform(command: Command) -> Value | None:
    """terraform, tofu, terragrunt, pulumi, cdk: infrastructure that is destroyed."""
    options, operands = command.parsed()
    words = _plain(operands)
    verb = words[0] if words else ""
    given = {name.lstrip("-"): value for name, _, value in (word.text.partition("=") for word in command.arguments)}
    destroys = verb in ("destroy", "down") or (verb in ("apply", "run-all") and "destroy" in given)
    saves = given.get("out") or options.get("-out", UNKNOWN).text
    if verb == "plan" and "destroy" in given and saves:
        command.act("write", path=text(saves), data=Value(labels=PLANS_TO_DESTROY))
    saved = verb == "apply" and any(PLANS_TO_DESTROY & command.shell.nested.origin(one) for one in operands[1:])
    if destroys or saved or words[:2] == ["run-all", "destroy"]:
        part = given.get("target") or options.get("-target", UNKNOWN).text
        _destroys(command, "" if part else "everything", part, "the infrastructure")
    elif verb == "apply" and (again := given.get("replace") or options.get("-replace", UNKNOWN).text):
        _destroys(command, "and makes again", again, "the infrastructure")
    elif verb == "state" and words[1:2] == ["rm"]:
        _destroys(command, "", " ".join(words[2:4]), "the state of the infrastructure")
    elif verb in ("apply", "up", "deploy", "import", "taint", "refresh") or words[:2] == ["run-all", "apply"]:
        command.act("configure", target=text(" ".join(words[:3])), at=text("the infrastructure"))
    return None


def cloud(command: Command) -> Value | None:
    """aws, gcloud, az, gsutil, rclone and others: what is deleted in a cloud."""
    _, operands = command.parsed()
    words = _plain(operands)
    if _is_dry(command):
        return None
    if (copy := copying(command)) is not None:
        note_copy(command, copy)
        if opened := opened_by([word.text for word in command.arguments]):
            command.act("configure", target=copy.target, at=text(CLOUD), opens=text(opened))
        return Value(labels=frozenset({Source.DOWNLOADED}))
    if command.name == "aws" and _by_aws(command, operands):
        return None
    at = next((at for at, word in enumerate(words[:5]) if REMOVING.fullmatch(word)), None)
    if at is not None:
        what = " ".join(words[max(at - 1, 0) : at] + words[at + 1 : at + 3]) or words[at]
        named = next((word for word in words[at + 1 :] if "://" in word), what)
        below = "everything below" if "://" in named and {"--recursive", "-r"} & _options(command) else ""
        _destroys(command, below, named, f"the cloud ({command.name})")
    elif _changes(command.name, words):
        costs = any(map(RENTS.fullmatch, words[:3]))
        command.act("configure", target=text(" ".join(words[:4])), at=text("rent" if costs else CLOUD))
    return None


def _by_aws(command: Command, operands: Sequence[Value]) -> bool:
    """Note what `aws SERVICE OPERATION` takes away, and of what name; return whether it takes away something.

    The operation says what it is, and an option which: `aws ec2 terminate-instances --instance-ids i-1`.
    """
    words = _plain(operands)
    asked = words[1] if len(words) > 1 and words[0] != "s3" else ""
    if not REMOVING.fullmatch(asked) or "-" not in asked:
        return False
    arguments = command.arguments
    at = next((at for at, word in enumerate(arguments[:-1]) if OF_OBJECT.fullmatch(word.text)), None)
    named = arguments[at + 1] if at is not None else UNKNOWN
    verb, _, thing = asked.partition("-")
    what = thing.replace("-", " ") if verb in DELETING else f"({asked})"
    fields = {"name": named} if named.text.strip(HOLE) or named.labels else {}
    command.act("destroy", what=text(what), at=text(f"the cloud (aws {words[0]})"), **fields)
    return True


DELETING = ("delete", "terminate", "remove", "destroy", "purge", "drop", "batch")
RENTS = expression(r"run-instances|request-spot-(?:instances|fleet)|create-fleet|purchase-[\w-]{1,60}|register-domain")
"""Words of cloud tools by which machines or names are rented."""


def _changes(tool: str, words: Sequence[str]) -> bool:
    """Return whether a cloud tool is asked for anything but to tell something: of `aws` the second word says what."""
    # The first word of these is a part of a service, whatever it looks like, and what follows `list` is no verb.
    grouped = words[1:5] or words[:1]
    asked = words[1:2] if tool == "aws" else grouped if tool in ("gcloud", "az", "doctl") else words[:2]
    plain = next((at for at, word in enumerate(asked) if word in ONLY_TELLS), len(asked))
    named = [word for word in asked[: plain + 1] if OPERATION.fullmatch(word)]
    if not named or READS.fullmatch(words[0]):
        return False
    return any(map(DEPLOYS.fullmatch, named)) or not any(map(READS.fullmatch, named))


ONLY_TELLS = frozenset(("list", "describe", "show", "get"))
TAKES_AWAY = expression(
    r"(?:[a-z]{1,20}[:_-])?(?:delete|remove|destroy|purge|drop|reset|truncate|rm|del|forget|prune|flush|wipe|revoke|expire|uninstall)(?:[:_-][\w-]{1,30})?+|--delete"
)
"""Words of tools that keep data: `pg:reset`, `purge_queue`, `kv delete`, `--delete`."""


CLOUD = "the cloud"


def keeps_data(where: str) -> Handler:
    """Return the handler of a tool for what is kept `where`: whether it takes something away there."""

    def handle(command: Command) -> Value | None:
        words = [word.text for word in command.arguments]
        at = next((at for at, word in enumerate(words) if TAKES_AWAY.fullmatch(word)), None)
        if at is not None and not _is_dry(command):
            kept = _kept(words[at + 1 :])
            named = [one for one in words[at + 1 :] if one and not one.startswith("-")][:2]
            if kept and not (words[at] == "forget" and _alone(words[at + 1 :])):
                fields = {} if any(map(KEEPS_FEW.fullmatch, kept)) else {"keeps": text("yes")}
                left = Value(items=[text(one) for one in kept])
                command.act(
                    "destroy", what=text("what is old"), at=text(f"{where} ({command.name})"), left=left, **fields
                )
            else:
                _destroys(command, "", " ".join(named) or words[at], f"{where} ({command.name})")
        elif where == CLOUD and not _is_dry(command):
            asked = _plain(command.parsed()[1])
            if any(word == "write" or DEPLOYS.fullmatch(word) for word in asked[:2]):
                command.act("configure", target=text(" ".join(asked[:3])), at=text(CLOUD))
        return None

    return handle


KEEPS = expression(r"--keep-(last|hourly|daily|weekly|monthly|yearly|within[a-z-]{0,9})")
KEEPS_FEW = expression(
    r"(?:last|hourly|daily|weekly|monthly|yearly) [012]|within\S{0,10} .{0,9}[hm]|within\S{0,10} [0-6]d|.*[^ \w].*"
)
"""Rules that leave next to nothing, or of which that is not known."""


def _alone(words: Sequence[str]) -> bool:
    """Return whether a word stands behind no option, so that it names what is deleted whatever the rules say."""
    return any(
        word[:1] != "-" and (before[:1] != "-" or "=" in before or before == "--prune")
        for before, word in pairwise(("", *words))
    )


def _kept(words: Sequence[str]) -> list[str]:
    """Return what the options of a tool for backups keep, as `daily 7`."""
    found = []
    for at, word in enumerate(words):
        name, equals, value = word.partition("=")
        given = value if equals else next(iter(words[at + 1 :]), "")
        if name.startswith("--") and (rule := KEEPS.fullmatch(name)) is not None:
            found.append(f"{rule[1]} {given}")
    return found


def offsets(command: Command) -> Value | None:
    """kafka-consumer-groups: what consumers have read is set to another place, or forgotten."""
    words = {word.text for word in command.arguments}
    if ("--reset-offsets" in words and "--execute" in words) or words & {"--delete", "--delete-offsets"}:
        _destroys(command, "what consumers have read", "", "the message broker")
    return None


FORGE_CHANGES = expression(
    r"merge|run|cancel|set|close|reopen|lock|unlock|edit|rename|disable|enable|approve|revoke|rerun|pin|unpin|ready"
    r"|update|update-branch|deploy|import|add"
)
"""Words of the tools of forges that change what others see there, besides what only adds to it."""


def forge(command: Command) -> Value | None:
    """gh, glab: what the interface of a forge deletes, and what is merged or shown to everybody there."""
    options, operands = command.parsed()
    words = _plain(operands)
    method = (options.get("-X") or options.get("--method") or UNKNOWN).text.upper()
    if words[:1] == ["api"] and method == "DELETE":
        _destroys(command, "", " ".join(words[1:2]), f"the forge ({command.name})")
    elif words[:1] == ["api"] and method in ("PUT", "PATCH", "POST"):
        command.act("configure", target=text(" ".join(words[:2])), at=text("the cloud"))
    elif words[1:2] == ["delete"]:
        _destroys(command, "", " ".join([words[0], *words[2:3]]), f"the forge ({command.name})")
    elif words[1:2] in (["archive"], ["transfer"]):
        _destroys(command, f"({words[1]})", " ".join([words[0], *words[2:3]]), f"the forge ({command.name})")
    elif words[1:2] and FORGE_CHANGES.fullmatch(words[1]):
        command.act("configure", target=text(" ".join(words[:3])), at=text("the cloud"))
    return None


MOVES_MONEY = expression(
    r"transfer\w*|send\w*|pay\w*|withdraw\w*|approve\w*|burn|mint|stake\w*|delegate\w*|swap|bridge|refunds?|charges?"
    r"|payouts?|close|cancel|delete|del|update|create|confirm|capture|trigger|post|move"
)


def money(command: Command) -> Value | None:
    """stripe, solana, cast, bitcoin-cli and others: what moves money, or ends what is paid for."""
    words = _plain(command.parsed()[1])
    verb = next((word for word in words[:3] if MOVES_MONEY.fullmatch(word)), "")
    if verb and not _is_dry(command) and not {"list", "get", "retrieve", "balance", "search"} & {*words[:3]}:
        command.act("configure", target=text(" ".join(words[:4])), at=text("payments"))
    return None


def removes(what: str) -> Handler:
    """Return the handler of a command that does nothing but remove `what`."""

    def handle(command: Command) -> Value | None:
        _, operands = command.parsed()
        if operands and not _is_dry(command):
            _destroys(command, what, " ".join(_plain(operands)[:2]), "the disks")
        return None

    return handle


def deploys(verbs: str = "") -> Handler:
    """Return the handler of a tool of which `verbs` change what runs elsewhere; with none, any use of it does."""
    changing = verbs.split()

    def handle(command: Command) -> Value | None:
        words = _plain(command.arguments)
        checks = {word.text for word in command.arguments} & CHECKS
        taken = next((one for one in words[:3] if changing and TAKES_AWAY.fullmatch(one)), "")
        if taken and not checks and not _is_dry(command):
            _destroys(command, "", " ".join(words[1:3]), f"the cloud ({command.name})")
        elif (not changing or (words[:1] and words[0] in changing)) and words and not checks and not _is_dry(command):
            if words[0] in ("remove", "destroy", "down", "delete"):
                _destroys(command, "what is deployed", "", f"the cloud ({command.name})")
            else:
                command.act("configure", target=text(" ".join([command.name, *words[:2]])), at=text("other machines"))
        return None

    return handle


OF_EXEC = "-e --env --env-file -u --user -w --workdir --detach-keys --index"


def _after_options(command: Command) -> list[Value]:
    """Return the operands of `docker exec`, of which the options before the container are its own."""
    at = next((at for at, word in enumerate(command.arguments) if word.text == "exec"), 0)
    rest = command.arguments[at + 1 :]
    while rest and rest[0].text.startswith("-"):
        rest = rest[2:] if rest[0].text in OF_EXEC.split() else rest[1:]
    return rest


def container(command: Command) -> Value | None:
    """docker, podman: what `run` mounts, and the volumes and data that are removed."""
    _, operands = command.parsed()
    words = _plain(operands)
    options = {word.text for word in command.arguments}
    prunes = words[1:2] == ["prune"]
    if (copy := copying(command)) is not None:
        return within_machine(command, copy)
    if words[:1] == ["run"] and words[1:]:
        note_own_container(command)
    if words[:1] == ["exec"] or words[:2] in (["compose", "exec"], ["container", "exec"]):
        _executes_within(command, _after_options(command))
    if prunes and (words[0] == "volume" or "--volumes" in options):
        _destroys(command, "unused volumes with their data", "", "the container engine")
    elif words[:2] == ["volume", "rm"]:
        _destroys(command, "the volume", " ".join(words[2:4]), "the container engine")
    elif words[:2] == ["compose", "down"] and options & {"-v", "--volumes"}:
        _destroys(command, "the containers and volumes of the project", "", "the container engine")
    return container_rights(command)


def repository(command: Command) -> Value | None:
    """git: work that is not saved elsewhere and is thrown away, and settings that make it run something."""
    _, operands = command.parsed()
    words = _plain(operands)
    options = {word.text for word in command.arguments}
    verb = words[0] if words else ""
    if verb in LOCAL and _is_own(command):
        if _discarded(verb, words[1:], options):
            command.noted("own", text("yes"))
        return settings_that_run(command)
    if (what := _discarded(verb, words[1:], options)) and not (_is_dry(command) and verb != "commit"):
        command.act("discard", what=text(what))
    if verb == "config" and "--get" not in options and "--list" not in options:
        _configured(command, words[1:])
    read = read_by_path(command)
    ran = settings_that_run(command)
    return read if read.labels else ran


LOCAL = frozenset(
    ("reset", "clean", "checkout", "switch", "restore", "branch", "stash", "reflog")
    + ("filter-repo", "filter-branch", "gc", "prune", "update-ref")
)
"""Commands of git that change nothing but the repository they are called in."""


def _is_own(command: Command) -> bool:
    """Return whether a repository stands in a temporary folder that the program made, and is nobody else's."""
    options, _ = command.parsed(stop=True)
    state, trail = command.shell.state, command.shell.trail
    if not trail.keeps_surroundings:
        return False
    if options.keys() & {"--git-dir", "--work-tree"} or any(map(LEADS_ELSEWHERE.fullmatch, state.variables)):
        return False
    if any(RUNS_PYTHON.match(word.text) for word in command.arguments):
        return False
    folder = options.get("-C", state.folder)
    if folder is UNKNOWN and trail.folder is not None:
        folder = trail.folder  # where another language starts git
    # A clone that fails makes no folder: a script that does not end there is still where it was before the `cd`.
    if "-C" not in options and trail.folder is None and BELOW.search(folder.text) and not command.shell.halts:
        return False
    return is_temporary(trail.own.only(folder)) and not any(map(_may_tie, trail.acts))


BELOW = expression(rf"{HOLE}[^/{HOLE}]{{0,200}}/[^/]")
"""A folder below a temporary one."""
RUNS_PYTHON = expression(r"--[a-z-]{1,40}-callback")
"""Options of `git filter-repo` that are code."""
LEADS_ELSEWHERE = expression(r"GIT_(?!(?:AUTHOR|COMMITTER)_|PAGER$|EDITOR$|TERMINAL_PROMPT$).*|TMPDIR|TEMP|TMP")
"""Variables by which git works on another repository than that of the folder, or a temporary folder is in another."""
OF_ANOTHER = expression(r"(?i)(?:^|/)\.git(?:/|$)|(?:^|/)(?:config(?:\.worktree)?|commondir)$")
"""Files that say where a repository, or what it holds, is."""
TIED = expression(r"(?i)\bworktree\b|--separate-git-dir|--git-dir|--template|\bcore\.worktree\b|\binclude(?:if)?\.")
PUTS_IN = frozenset(("copy", "move", "link", "extract"))
PUTTING_IN = frozenset(("ln", "cp", "mv", "tar", "bsdtar", "unzip", "rsync", "cpio", "7z", "mount", "source", "."))
"""Commands that put in what was elsewhere, links and all, or take variables from a file."""


def _may_tie(act: Act) -> bool:
    """Return whether an act may tie a folder to a repository elsewhere, or git to one.

    By a link, or by what is put there from elsewhere, which may be one; by a file of git's, a command or a variable.
    """
    if act.kind == "command":
        return act.name in PUTTING_IN or (act.name == "git" and TIED.search(act.get("line").text) is not None)
    if act.kind in ("write", "append"):
        paths = act.get("path").texts
        return not paths or any(OF_ANOTHER.search(one) or one.rpartition("/")[2].startswith(HOLE) for one in paths)
    return act.kind in PUTS_IN


UNVERSIONED = "all files that are not in the repository"
PART = expression(r"[A-Za-z0-9_][\w-]{0,60}+(?:/[A-Za-z0-9_][\w.-]{0,60}+){0,9}+/?")
"""Operands that are a folder below the one where a program stands."""


def _discarded(verb: str, rest: Sequence[str], options: set[str]) -> str:
    """Return what a git command throws away; '' for nothing."""
    short = {letter for option in options if re.fullmatch(r"-[a-zA-Z]+", option) for letter in option[1:]}
    named = " ".join(rest[:2])
    forced = bool(options & {"--force", "--mirror"} or "f" in short)
    match verb:
        case "reset" if "--hard" in options:
            return "all changes that are not committed"
        case "clean" if forced:
            part = bool(rest) and all(PART.fullmatch(one) for one in rest)
            if "X" in short:
                return "" if part else "all files that git ignores"
            return f"all files in {named} that are not in the repository" if part else UNVERSIONED
        case "checkout" | "restore" if rest and rest[-1] in (".", "*", ":/") and "--staged" not in options:
            return "all changes that are not committed"
        case "checkout" | "switch" if forced or "--discard-changes" in options:
            return "all changes that are not committed"
        case "push" if (forced or any(word.startswith("+") for word in rest)) and not any(map(SAVED.match, options)):
            return f"commits at the remote ({named})" if named else "commits at the remote"
        case "push" if "--delete" in options or "d" in short or any(word.startswith(":") for word in rest):
            return f"branches at the remote ({named})"
        case "branch" if "D" in short or ("--force" in options and ("d" in short or "--delete" in options)):
            return f"a branch ({named})" if named.strip(HOLE) else "branches whose names are worked out at run time"
        case "stash" if rest[:1] and rest[0] in ("drop", "clear"):
            return "stashed changes"
        case _:
            return _discarded_history(verb, rest, options)


def _discarded_history(verb: str, rest: Sequence[str], options: set[str]) -> str:
    """Return what a git command about old commits throws away; '' for nothing."""
    match verb:
        case "filter-branch" | "filter-repo":
            return "the history of the repository"
        case "update-ref" if "-d" in options:
            return "a branch or tag"
        case "gc" if options & {"--prune=now", "--prune=all"}:
            return "commits that no branch holds"
        case "prune" if "--expire" not in options:
            return "commits that no branch holds"
        case "reflog" if rest[:1] == ["expire"]:
            return "the log by which lost commits are found"
        case _:
            return ""


SETTINGS = expression(
    r"(?i)(core\.(hookspath|sshcommand|pager|editor|fsmonitor)|credential\.(.*\.)?helper|init\.templatedir|alias\..+"
    r"|diff\.external|include(if\..*)?\.path|filter\..*|url\..*\.insteadof|http\.(.*\.)?(sslverify|proxy))"
)
"""Settings of git that make later commands of it run a program, ask somebody else or trust anybody."""


def _configured(command: Command, words: Sequence[str]) -> None:
    name = next((word for word in words if SETTINGS.fullmatch(word)), "")
    at = words.index(name) if name else 0
    if name and len(words) > at + 1 and (not name.lower().startswith("alias.") or words[at + 1].startswith("!")):
        command.act("configure", target=text(name), value=text(words[at + 1]), at=text("git"))


def _plain(words: Sequence[Value]) -> list[str]:
    return [word.text for word in words if word.text and not word.text.startswith("-")]


def _options(command: Command) -> set[str]:
    return {word.text for word in command.arguments if word.text.startswith("-")}


def _named(options: dict[str, Value], *names: str) -> str:
    return next((options[name].text for name in names if name in options and options[name].text), "")


def _is_dry(command: Command) -> bool:
    return is_dry(command.name, [word.text for word in command.arguments])


def _destroys(command: Command, kind: str, name: str, where: str, within: str = "") -> None:
    """Record that something elsewhere is deleted; `name` and `within` are words of the command itself."""
    given = {"name": name, "within": within}
    fields = {key: text(excerpt(value, 200)) for key, value in given.items() if value}
    command.act("destroy", what=text(kind), at=text(where), **fields)
