"""Files and commands that clients of services take to another machine or bring from there: boto3, paramiko, pysftp."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.risk.model.acts import Source
from runner.risk.model.value import HOLE, UNKNOWN, Value, concatenate, labels_of, text
from runner.risk.python.files import opened
from runner.risk.trace.remote import connected_to

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.risk.model.acts import Place
    from runner.risk.python.arguments import Args, Named
    from runner.risk.trace.machine import Machine, Special


def _given(args: Args, named: Named, at: int, *names: str) -> Value:
    return args[at] if at < len(args) else next((named[name] for name in names if name in named), UNKNOWN)


def _object(bucket: Value, key: Value) -> Value:
    """Return the address of an object in a bucket."""
    known = (bucket if bucket.texts else text(HOLE), key if key.texts else text(HOLE))
    return concatenate((text("s3://"), known[0], text("/"), known[1]))


def _send(machine: Machine, called: Value, url: Value, data: Value, path: Value, place: Place) -> Value:
    labels = called.labels | machine.stand_in(called.name)
    fields = {"url": url, "data": data}
    if path is not UNKNOWN:
        read = machine.trail.add("read", called.name, {"path": path}, place, labels)
        fields = {"url": url, "data": data.labelled(machine.nested.done(read) | {Source.FILE}), "path": path}
    act = machine.trail.add("send", called.name, fields, place, labels)
    machine.nested.done(act)
    return Value(name=f"{called.name}()")


def _fetch(machine: Machine, called: Value, url: Value, path: Value, place: Place) -> Value:
    labels = called.labels | machine.stand_in(called.name)
    act = machine.trail.add("fetch", called.name, {"url": url, "path": path}, place, labels)
    given = machine.nested.done(act)
    if path is not UNKNOWN:
        data = Value(labels=given)
        fields = {"path": path, "data": data, "download": text("yes")}
        machine.nested.done(machine.trail.add("write", called.name, fields, place, labels))
    return Value(name=f"{called.name}()", labels=given)


def _path(value: Value) -> Value:
    """Return the path of a file that is given by its name, or open."""
    return (value.fields or {}).get("path", value) if value.fields else value


def upload(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """`upload_file(file, bucket, key)` of a client of S3."""
    file = _path(_given(args, named, 0, "Filename", "Fileobj"))
    target = _object(_given(args, named, 1, "Bucket"), _given(args, named, 2, "Key"))
    known = file.texts or file.labels
    return _send(machine, called, target, Value(labels=file.labels), file if known else UNKNOWN, place)


def put(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """`put_object(Bucket=..., Key=..., Body=...)`."""
    body = named.get("Body", UNKNOWN)
    if (opened := (body.fields or {}).get("path")) is not None:
        return _send(
            machine, called, _object(named.get("Bucket", UNKNOWN), named.get("Key", UNKNOWN)), body, opened, place
        )
    return _send(
        machine, called, _object(named.get("Bucket", UNKNOWN), named.get("Key", UNKNOWN)), body, UNKNOWN, place
    )


def download(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """`download_file(bucket, key, file)` of a client of S3."""
    source = _object(_given(args, named, 0, "Bucket"), _given(args, named, 1, "Key"))
    return _fetch(machine, called, source, _path(_given(args, named, 2, "Filename", "Fileobj")), place)


def get(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """`get_object(Bucket=..., Key=...)`."""
    return _fetch(machine, called, _object(named.get("Bucket", UNKNOWN), named.get("Key", UNKNOWN)), UNKNOWN, place)


def take_there(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """`sftp.put(here, there)`."""
    host = connected_to(machine.trail, called.name)
    return _send(machine, called, host, UNKNOWN, _given(args, named, 0, "localpath"), place)


def bring_here(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """`sftp.get(there, here)`."""
    host = connected_to(machine.trail, called.name)
    return _fetch(machine, called, host, _given(args, named, 1, "localpath"), place)


def open_there(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """`sftp.open(there, mode)`: a file of the other machine, which what is given must not be taken for one of here."""
    with machine.trail.on_machine(connected_to(machine.trail, called.name)):
        file = opened(machine, called, [_given(args, named, 0, "filename"), *args[1:]], named, place)
    return Value(name=f"{called.name}()", labels=labels_of((file,) if file is not None else ()) | {Source.REMOTE})


def write_there(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """`file.write(data)` of such a file."""
    return _send(machine, called, connected_to(machine.trail, called.name), _given(args, named, 0), UNKNOWN, place)


def command_there(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """`client.exec_command(...)`: what it does, it does on the other machine."""
    command = _given(args, named, 0, "command")
    host = connected_to(machine.trail, called.name)
    fields = {"command": command, "shell": Value(name="True")}
    with machine.trail.on_machine(host):
        act = machine.trail.add("run", called.name, fields, place, called.labels)
        given = machine.nested.done(act)
    output = Value(name=f"{called.name}()", labels=given | labels_of((command,)) | {Source.REMOTE})
    return Value(items=[output, output, output], labels=output.labels)


def _of(owners: Sequence[str], methods: dict[str, Special]) -> dict[str, Special]:
    return {f"{owner}.{method}": function for owner in owners for method, function in methods.items()}


S3 = ("boto3.client", "boto3.Session.client", "boto3.session.Session.client", "boto3.resource.meta.client")
SFTP = ("paramiko.SSHClient.open_sftp", "paramiko.SFTPClient.from_transport", "pysftp.Connection")
TRANSFERS: dict[str, Special] = {
    **_of(
        S3,
        {
            "upload_file": upload,
            "upload_fileobj": upload,
            "put_object": put,
            "download_file": download,
            "download_fileobj": download,
            "get_object": get,
        },
    ),
    **_of(SFTP, {"put": take_there, "get": bring_here, "open": open_there, "file": open_there}),
    **_of(SFTP, {"open.write": write_there, "file.write": write_there}),
    "paramiko.SSHClient.exec_command": command_there,
}
"""Calls in a Python program that take something to another machine, by their names."""
