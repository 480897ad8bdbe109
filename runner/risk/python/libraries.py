"""Libraries of Python that command another tool: GitPython, the client of Docker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.risk.model.value import UNKNOWN, Value, alternatives, text

if TYPE_CHECKING:
    from runner.risk.model.acts import Place
    from runner.risk.python.arguments import Args, Named
    from runner.risk.trace.machine import Machine, Special

GIT = ("reset", "clean", "checkout", "push", "restore", "stash", "branch", "config", "rebase", "filter_branch", "rm")


def git_command(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """`Repo().git.reset("--hard")`: a command of git, whose method is its first word."""
    options = [text(f"--{name.replace('_', '-')}") for name, value in named.items() if value.name == "True"]
    if named.get("working_tree", UNKNOWN).name == "True":
        options.append(text("--hard"))
    verb = text(called.name.rpartition(".")[2].replace("_", "-"))
    fields = {"command": Value(items=[text("git"), verb, *args, *options])}
    act = machine.trail.add("run", called.name, fields, place, called.labels)
    return Value(labels=machine.nested.done(act))


def docker_run(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """`containers.run(image, command, volumes={path: ...})`: what it gives the container of the machine outside."""
    volumes = named.get("volumes", UNKNOWN)
    outside = [*(volumes.fields or ()), *(one.text.partition(":")[0] for one in volumes.items or ())]
    fields = {
        "path": alternatives(outside),
        "rights": text("yes") if named.get("privileged", UNKNOWN).name == "True" else UNKNOWN,
    }
    machine.trail.add("container", called.name, fields, place, called.labels)
    return UNKNOWN


SPECIAL_LIBRARIES: dict[str, Special] = {
    **{f"git.{repository}.git.{verb}": git_command for repository in ("Repo", "Repo.init") for verb in GIT},
    **{
        f"git.{repository}.{part}": git_command
        for repository in ("Repo", "Repo.init")
        for part in ("head.reset", "remotes.origin.push", "remote.push", "remotes.push")
    },
    **{
        f"docker.{client}.containers.{verb}": docker_run
        for client in ("from_env", "DockerClient", "client.DockerClient", "DockerClient.from_env")
        for verb in ("run", "create")
    },
}
