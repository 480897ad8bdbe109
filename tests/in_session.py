"""Started by test_secrets.py, mostly in a D-Bus session of its own: asks `Secrets`, and prints the answers as JSON."""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
from typing import TYPE_CHECKING

from jeepney import DBusAddress, MatchRule, message_bus, new_method_call
from jeepney.bus_messages import DBusNameFlags
from jeepney.io.blocking import open_dbus_connection

from runner.assembly import open_engine
from runner.identity import signer
from runner.identity.secrets import Secrets
from runner.settings.loading import Settings
from runner.system.places import Places
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

SECRETS = "org.freedesktop.secrets"


@contextlib.contextmanager
def unlocked(password: str) -> Iterator[None]:
    """The GNOME keyring, opened with `password`."""
    command = ["gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets"]
    with open_dbus_connection() as bus, subprocess.Popen(command, stdin=subprocess.PIPE) as daemon:
        rule = MatchRule(type="signal", interface="org.freedesktop.DBus", member="NameOwnerChanged")
        with bus.filter(rule) as owners:
            bus.send_and_get_reply(message_bus.AddMatch(rule))
            assert daemon.stdin is not None
            daemon.stdin.write(password.encode())
            daemon.stdin.close()
            while bus.recv_until_filtered(owners, timeout=HANGS).body[0] != SECRETS:
                pass
        try:
            yield
        finally:
            daemon.terminate()


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """A keyring that takes every question and answers none."""
    with open_dbus_connection() as bus:
        bus.send_and_get_reply(message_bus.RequestName(SECRETS, DBusNameFlags.do_not_queue))
        yield


def stored_plainly() -> list[str]:
    """What the keyring holds, as any program of this person would read it."""
    search = DBusAddress("/org/freedesktop/secrets", SECRETS, "org.freedesktop.Secret.Service")
    with open_dbus_connection() as bus:
        reply = bus.send_and_get_reply(new_method_call(search, "SearchItems", "a{ss}", ({"service": "Assent"},)))
        return [str(path) for paths in reply.body for path in paths]


async def console(places: Places) -> None:
    """A console that starts, gets its key, and is closed."""
    engine = open_engine(places, {"SANDBOX_TYPE": "local"})
    await engine.start(gateway=False)
    async with asyncio.timeout(HANGS):
        while engine.parts.ledger._anchors is None and engine.parts.ledger.doubt is None:
            await asyncio.sleep(0.01)
    await engine.close("the test is over")


def main(keyring: str, patience: str, agreed: str, *steps: str) -> None:
    """`keyring` is silent, none or a password. Steps are get,NAME  set,NAME,VALUE  delete,NAME  agree  items
    console (started, sealed and closed)  verify."""
    places = Places.standard()
    places.make()
    kinds: dict[str, Callable[[], AbstractContextManager[object]]] = {"silent": silent, "none": contextlib.nullcontext}
    session = kinds.get(keyring, lambda: unlocked(keyring))
    answers: list[object] = []
    with session():
        secrets = Secrets(places, Settings(secrets_file=agreed == "agreed"), float(patience))
        for step in steps:
            match step.split(","):
                case ["get", name]:
                    answers.append(secrets.get(name))
                case ["set", name, value]:
                    answers.append(secrets.set(name, value).kind)
                case ["delete", name]:
                    answers.append(secrets.delete(name))  # type: ignore[func-returns-value]
                case ["console"]:
                    asyncio.run(console(places))
                case ["verify"]:
                    verdict = signer.check_ledger(places, signer.vouching(places))
                    answers.append([verdict.ok, verdict.unsure, verdict.first_broken])
                case ["agree"]:
                    answers.append(secrets.agree_to_file())  # type: ignore[func-returns-value]
                case ["items"]:
                    answers.append(len(stored_plainly()))
        where = secrets.where
    told = {"kind": where.kind, "explanation": where.explanation, "remedy": where.remedy, "answers": answers}
    print(json.dumps(told))


if __name__ == "__main__":
    main(*sys.argv[1:])
