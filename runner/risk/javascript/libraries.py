"""Libraries of JavaScript that command another tool: simple-git, dockerode, shelljs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.risk.javascript.methods import first
from runner.risk.model.acts import Source
from runner.risk.model.value import UNKNOWN, Value, alternatives, text

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


SPECIAL_LIBRARIES: dict[str, Special] = {
    **{f"simple-git{made}.{verb}": git_command for made in ("", ".simpleGit", ".default", ".gitP") for verb in GIT},
    "dockerode.createContainer": docker_create,
    **{f"shelljs.{name}": shell_command for name in SHELL},
    **dict.fromkeys(("net.Socket.connect", "dgram.createSocket.connect"), connected),
}
