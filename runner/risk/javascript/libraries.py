"""Libraries of JavaScript that command another tool: simple-git, dockerode, shelljs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.javascript.methods import first
from runner.risk.model.acts import Source
from runner.risk.model.held import found_in
from runner.risk.model.value import UNKNOWN, Value, alternatives, labels_of, text
from runner.risk.trace.machine import CHANGES_OBJECTS
from runner.risk.trace.shown import secrets

if TYPE_CHECKING:
    from runner.risk.javascript.methods import Args
    from runner.risk.model.acts import Place
    from runner.risk.trace.machine import Machine, Special

Named = dict[str, Value]
GIT = ("reset", "clean", "checkout", "push", "branch", "stash", "rebase", "raw", "addConfig", "deleteLocalBranch", "rm")


def git_command(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """`simpleGit().reset(["--hard"])`: a command of git, whose method is its first word."""
    verb = called.name.rpartition(".")[2]
    words = [one for arg in args for one in (arg.items if arg.items is not None else [arg])]
    first = {"raw": [], "addConfig": [text("config")], "deleteLocalBranch": [text("branch"), text("-D")]}
    given = [text("git"), *first.get(verb, [text(verb)]), *words]
    act = machine.trail.add("run", called.name, {"command": Value(items=given)}, place, called.labels)
    return Value(labels=machine.nested.done(act))


def docker_create(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """`docker.createContainer({HostConfig: {Binds}})`: what it gives the container of the machine outside."""
    given = (first(args).fields or {}).get("HostConfig", UNKNOWN).fields or {}
    outside = [one.text.partition(":")[0] for one in given.get("Binds", UNKNOWN).items or []]
    fields = {
        "path": alternatives(outside),
        "rights": text("yes") if given.get("Privileged", UNKNOWN).name == "True" else UNKNOWN,
    }
    machine.trail.add("container", called.name, fields, place, called.labels)
    return None


def connected(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """`socket.connect(port, host)`: from then on what is sent goes there."""
    owner, address = called.owner, first(args)
    if address.fields is not None:
        address = address.fields.get("host", UNKNOWN)
    elif len(args) > 1 and args[1].function is None:
        address = args[1]
    act = machine.trail.add("connect", called.name, {"host": address}, place, called.labels)
    machine.nested.done(act)
    if owner is not None:
        if owner.fields is None:
            owner.fields = {}
        owner.fields["address"] = address
    made = Value(name=called.name.rpartition(".")[0], labels=frozenset({Source.REMOTE}), fields={"address": address})
    machine.callbacks(called, args, named, made, place)
    return made


SHELL = ("rm", "mv", "cp", "sed", "chmod", "ln", "set")


def shell_command(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """`shell.rm("-rf", "a")` of shelljs: a command of a shell with its words."""
    words = [one for arg in args for one in (arg.items if arg.items is not None else [arg])]
    given = [text(called.name.rpartition(".")[2]), *words]
    act = machine.trail.add("run", called.name, {"command": Value(items=given)}, place, called.labels)
    return Value(labels=machine.nested.done(act))


def in_sandbox(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """`sg.send({mailSettings: {sandboxMode: {enable: true}}})`: SendGrid only checks all the mails of the call."""
    code = machine.walker.written  # type: ignore[attr-defined]
    if len(args) != 1 or args[0].others or found_in(code, CHANGES_MAILS) or secrets(labels_of(args)):
        return None
    mails = args[0].items if args[0].items is not None else [args[0]]
    handed = [id(one.fields) for calls in machine.trail.given.values() for call in calls for one in call if one.fields]
    if not mails or not all(map(_has_sandbox, mails)) or any(id(one.fields) in handed for one in mails):
        return None
    machine.trail.add("checked", called.name, {}, place, called.labels)
    return Value(name=f"{called.name}()")


CHANGES_MAILS = expression(
    rf"{CHANGES_OBJECTS}|mail_?[sS]ettings\b(?!['\"]?\s{{0,9}}:)|sandbox_?[mM]ode\b(?!['\"]?\s{{0,9}}:)"
    r"|\[\s{0,9}['\"`](?:mail|sandbox)"
)
"""Ways in which what a mail says of itself may be something else later."""


def _has_sandbox(mail: Value) -> bool:
    if mail.fields is None or "?" in mail.fields or mail.others:
        return False
    given = [mail.fields[key] for key in ("mailSettings", "mail_settings") if key in mail.fields]
    modes = [(one.fields or {}).get(key) for one in given for key in ("sandboxMode", "sandbox_mode")]
    known = [(one.fields or {}).get("enable", UNKNOWN) for one in modes if one is not None]
    return len(given) == len(known) == 1 and known[0].name in ("True", "true") and not known[0].others


SPECIAL_LIBRARIES: dict[str, Special] = {
    **{f"simple-git{made}.{verb}": git_command for made in ("", ".simpleGit", ".default", ".gitP") for verb in GIT},
    **dict.fromkeys(("@sendgrid/mail.send", "@sendgrid/mail.sendMultiple"), in_sandbox),
    "dockerode.createContainer": docker_create,
    **{f"shelljs.{name}": shell_command for name in SHELL},
    **dict.fromkeys(("net.Socket.connect", "dgram.createSocket.connect"), connected),
}
