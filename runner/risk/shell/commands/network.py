"""Commands that connect to other machines: curl, wget, nc, ssh, scp and name lookups."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.acts import Act, Source
from runner.risk.model.outline_data import words
from runner.risk.model.value import UNKNOWN, Value, alternatives, concatenate, each, either, labels_of, text
from runner.risk.shell.commands.dry import is_dry
from runner.risk.trace.remote import note_request
from runner.risk.trace.shown import secrets

if TYPE_CHECKING:
    from collections.abc import Collection

    from runner.risk.shell.command import Command


CURL_DATA = words(
    "-d --data --data-binary --data-raw --data-ascii --data-urlencode -F --form -T --upload-file --json -H --header -b "
    "-A -u --user-agent -e --referer --url-query --variable --expand-data --expand-url --cookie --user"
)
"""Options whose value is sent."""


ENCODED = words("--data-urlencode --url-query --variable")
OF_FILE = expression(r"(?s)(?:^|=)[@<](.+)$")
OF_ENCODED = expression(r"(?s)^[\w.-]{0,100}@(.+)$")
"""How a value names a file that is sent; those of ENCODED take a name before it."""


def curl(command: Command) -> Value | None:
    options, operands = command.parsed()
    urls = [*operands, *([options["--url"]] if "--url" in options else [])]
    if not urls and options.keys() & {"--version", "-V", "--help", "-h"}:
        return None
    url = either(urls) if urls else UNKNOWN
    sent = _posted(command, CURL_DATA)
    upload = options.get("-T") or options.get("--upload-file")
    if upload is not None:
        sent = sent.labelled(command.act("read", path=upload).labels | command.stdin.labels)
    if (local := options.get("--unix-socket")) is not None:
        command.act("connect", host=local)
    if config := options.get("-K") or options.get("--config"):
        sent = sent.labelled(command.read(config).labels)
    # With these the data are part of the address that is asked for.
    asks = bool(options.keys() & {"-G", "--get"}) and upload is None
    asks = asks and all(one == "argument" or one[:1] == "$" for one in sent.labels - {Source.DOWNLOADED})
    asks = asks and not secrets(sent.labels)
    if (sent is not UNKNOWN and not asks) or url.labels:
        command.act("send", url=url, data=sent.labelled(url.labels))
    asked = next((options[name].text for name in ("-X", "--request") if name in options), "")
    asked_of = each(url, lambda known: known if "://" in known else f"http://{known}")
    if asked.upper() in ("DELETE", "PATCH", "PUT", "POST"):
        request = Act("send", command.name, {"url": asked_of}, command.place, command.labels)
        note_request(command.shell.trail, request, asked, sent)
    for own in [one for one in urls if one.text.lower().startswith("file://")]:
        command.read(each(own, lambda known: known[7:]))
    return _downloaded(
        command, url, options, "-o", "--output", remote_name=bool(options.keys() & {"-O", "--remote-name", "-J"})
    )


def _posted(command: Command, names: Collection[str]) -> Value:
    """Return everything that options put into a request, files included."""
    arguments = command.arguments
    parts: list[Value] = []
    for at, argument in enumerate(arguments):
        name, equals, inline = argument.text.partition("=")
        value: Value | None = None
        if name in names and name.startswith("--") and equals:
            value = text(inline, labels=argument.labels)
        elif argument.text in names and at + 1 < len(arguments):
            value = arguments[at + 1]
        elif len(argument.text) > 2 and argument.text[:2] in ("-d", "-F", "-T") and not argument.text.startswith("--"):
            value = text(argument.text[2:], labels=argument.labels)
        if value is None:
            continue
        encoded = not ENCODED.isdisjoint((name, argument.text))
        file = (OF_ENCODED if encoded else OF_FILE).search(value.text)
        if file is not None:
            path = text(file[1].partition(";")[0], labels=value.labels)
            value = (
                command.stdin.labelled(value.labels)
                if file[1] in ("-", "/dev/stdin")
                else value.labelled(command.act("read", path=path).labels | {"file"})
            )
        parts.append(value)
    return alternatives((part.text for part in parts), labels_of(parts)) if parts else UNKNOWN


def _downloaded(command: Command, url: Value, options: dict[str, Value], *names: str, remote_name: bool) -> Value:
    target = next((options[name] for name in names if name in options), None)
    if target is None and remote_name:
        target = each(url, lambda known: known.split("?")[0].rstrip("/").rpartition("/")[2])
    data = Value(labels=url.labels | {Source.DOWNLOADED}, name="downloaded()")
    if target is not None and target.text not in ("-", "/dev/stdout"):
        command.act("fetch", url=url, path=command.placed(target))
        if target.text != "/dev/null":
            command.act("write", path=command.placed(target), data=data, download=text("yes"))
        return UNKNOWN
    command.act("fetch", url=url)
    return data


def wget(command: Command) -> Value | None:
    options, operands = command.parsed()
    url = either(operands) if operands else UNKNOWN
    sent = _posted(command, ("--post-data", "--body-data", "--header", "-U", "--user-agent"))
    file = options.get("--post-file") or options.get("--body-file")
    if file is not None:
        sent = sent.labelled(command.act("read", path=file).labels | {"file"})
    if sent is not UNKNOWN or url.labels:
        command.act("send", url=url, data=sent.labelled(url.labels))
    target = options.get("-O") or options.get("--output-document")
    if target is None and any(re.fullmatch(r"-\w*O-", o) for o in options):
        target = text("-")
    if target is None:
        name = each(url, lambda known: known.split("?")[0].rstrip("/").rpartition("/")[2])
        folder = options.get("-P") or options.get("--directory-prefix")
        target = concatenate((folder, name), "/") if folder is not None else name
    return _downloaded(command, url, {"-O": target}, "-O", remote_name=False)


def netcat(command: Command) -> Value | None:
    options, operands = command.parsed()
    runs = next(
        (
            options[o]
            for o in ("-e", "-c", "--exec", "--sh-exec", "--lua-exec", "-r")
            if o in options and options[o].texts
        ),
        None,
    )
    listens = any("l" in option for option in options if not option.startswith("--")) or "--listen" in options
    if command.name == "rcat":
        runs = next((word for word in command.arguments if re.search(r"(^|/)\w*sh\b", word.text)), runs)
        listens = any(word.text in ("l", "listen") for word in command.arguments)
    scans = any("z" in option for option in options if not option.startswith("--"))
    host = concatenate(operands[:2], ":") if operands else UNKNOWN
    if scans:
        command.act("probe", host=host)
        return UNKNOWN
    fields = {"host": host, "tool": text("netcat")}
    if runs is not None:
        command.act("listen-shell" if listens else "connect-shell", program=runs, **fields)
        return UNKNOWN
    command.act("listen" if listens else "connect", **fields)
    if command.stdin is not UNKNOWN:
        command.act("send", url=host, data=command.stdin)
    return Value(labels=frozenset({Source.REMOTE, Source.DOWNLOADED}) | labels_of((command.stdin,)), name="netcat()")


def socat(command: Command) -> Value | None:
    line = concatenate(command.arguments, " ").text.lower()
    host = next((a for a in command.arguments if re.match(r"-?(tcp|udp|openssl|sctp|ssl)", a.text.lower())), UNKNOWN)
    command.act("listen" if "listen" in line or "-l:" in line else "connect", host=host, tool=text("socat"))
    for argument in command.arguments:
        if re.match(r"(exec|system|shell)\b", argument.text.lower()):
            command.act("listen-shell" if "listen" in line else "connect-shell", host=host, program=argument)
    file = next((a for a in command.arguments if re.match(r"(file|open|gopen):", a.text.lower())), None)
    if file is not None and host is not UNKNOWN:
        path = each(file, lambda known: known.partition(":")[2].partition(",")[0])
        command.act("send", url=host, data=Value(labels=command.act("read", path=path).labels | {"file"}))
    return Value(labels=frozenset({Source.REMOTE, Source.DOWNLOADED}))


def telnet(command: Command) -> Value | None:
    _, operands = command.parsed()
    host = concatenate(operands[:2], ":") if operands else UNKNOWN
    command.act("connect", host=host, tool=text("telnet"))
    if command.stdin is not UNKNOWN:
        command.act("send", url=host, data=command.stdin)
    return Value(labels=frozenset({Source.REMOTE, Source.DOWNLOADED}), name="netcat()")


def remote_copy(command: Command) -> Value | None:
    """scp, rsync, sftp: to or from another host."""
    options, operands = command.parsed()
    if len(operands) < 2 or (command.name == "rsync" and is_dry("rsync", [one.text for one in command.arguments])):
        return UNKNOWN
    sources, target = operands[:-1], operands[-1]
    remote = expression(r"^(?!/)[^/\s]+:|^\w+://")
    if any(option.startswith("--del") for option in options):
        path = target if remote.match(target.text) else command.placed(target)
        command.act("delete", path=path, tree=text("yes"), tool=text(command.name), beside=sources[-1])
    for path in sources if "--remove-source-files" in options else ():
        command.act("delete", path=command.placed(path), tree=text("yes"), tool=text(command.name))
    if (through := options.get("-e") or options.get("--rsh") or options.get("-S")) is not None and through.texts:
        command.script(through)
    if remote.match(target.text):
        labels: frozenset[str] = frozenset()
        for path in sources:
            labels |= command.act("read", path=command.placed(path)).labels
        command.act("send", url=target, data=Value(labels=labels | {"file"}), path=either(sources))
        return UNKNOWN
    for path in sources:
        if remote.match(path.text):
            command.act("fetch", url=path, path=target)
            command.act("write", path=command.placed(target), data=Value(labels=frozenset({Source.DOWNLOADED})))
        else:
            command.act("copy", source=path, path=target)
    return UNKNOWN


def ssh(command: Command) -> Value | None:
    options, operands = command.parsed(stop=True)
    host = operands[0] if operands else UNKNOWN
    command.act("connect", host=host, tool=text("ssh"))
    for word in (options.get("-o") or UNKNOWN).texts:
        name, _, code = word.partition("=")
        if name.lower() in ("proxycommand", "localcommand", "knownhostscommand"):
            command.script(text(code))
    for option in ("-R", "-L", "-D"):
        if option in options:
            command.act("tunnel", host=host, how=text(option), what=options[option])
    if len(operands) > 1:
        with command.shell.trail.on_machine(host):
            command.script(concatenate(operands[1:], " "))
        command.act("send", url=host, data=command.stdin, how=text("ssh"))
    return Value(labels=frozenset({Source.DOWNLOADED}))


def look_up_name(command: Command) -> Value | None:
    """dig, nslookup, ping: a name that is looked up reaches whoever answers for it."""
    data = alternatives((word.text for word in command.arguments), labels_of(command.arguments))
    command.act("lookup", host=concatenate(command.arguments, " "))
    if data.labels:
        command.act("send", url=concatenate(command.arguments, " "), data=data)
    return Value(labels=data.labels)
