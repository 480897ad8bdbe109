"""What a call asks a service elsewhere for: to delete something there, or to open it to others."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.outline_data import words
from runner.risk.model.value import HOLE, UNKNOWN, Value, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from runner.risk.model.acts import Act, Place, Trail

ADDRESS = expression(r"(?i)https?://(?:[^/@\s]{1,200}@)?(?P<host>[^/?#\s]{1,200})(?P<path>/[^?#\s]{1,400})?")
LOCAL = expression(r"(?i)localhost|127\.|0\.0\.0\.0|\[::1\]|10\.|192\.168\.|host\.docker\.internal|[^.:]{1,60}+(?::|$)")
"""How a host begins that is this machine, or one beside it."""
DELETES = words("delete del")
ASKED = expression(r"DELETE\s{1,9}(?P<path>/\S{1,300})")
"""How some libraries are asked: `request("DELETE /repos/a/b")`."""
PART = expression(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
MOVES_MONEY = words("withdraw withdrawal payout transfer refund")
ENDS = words("archive deactivate suspend unpublish terminate revoke purge wipe deprovision decommission")
"""Words that names of functions begin or end with which change, elsewhere, what others have."""
COMPUTES = words("numpy pandas matplotlib scipy sklearn seaborn torch tensorflow networkx PIL sympy polars lodash")
MONEY = expression(r"(?i)/(?:payouts?|transfers?|refunds?|withdraw\w{0,5})(?:/|$)")
"""Parts of addresses at which money is moved."""
DEEPEST = 6
"""Objects inside of each other that are looked through."""
MOST_LOOKED_AT = 400
EVERYBODY = expression(r"(?i)all(?:authenticated)?users:")
PUBLISHES = expression(r"(?i)\.(?:make|set)_?public\w*(?:\(\))?$")
OPENED = {
    "private": expression(r"(?i)false"),
    "visibility": expression(r"(?i)public"),
    "public": expression(r"(?i)true"),
    "is_public": expression(r"(?i)true"),
    "acl": expression(r"(?i)public.{0,40}|authenticated-read"),
    "publicaccess": expression(r"(?i)blob|container|true|enabled?"),
    "principal": expression(r"\*"),
    "publicread": expression(r"(?i)true"),
    "blockpublicacls": expression(r"(?i)false"),
    "blockpublicpolicy": expression(r"(?i)false"),
    "ignorepublicacls": expression(r"(?i)false"),
    "restrictpublicbuckets": expression(r"(?i)false"),
    "publiclyaccessible": expression(r"(?i)true"),
    "cidrip": expression(r"0\.0\.0\.0/0"),
    "cidr": expression(r"0\.0\.0\.0/0"),
    "source_ranges": expression(r"0\.0\.0\.0/0"),
    "sourceranges": expression(r"0\.0\.0\.0/0"),
    "is_superuser": expression(r"(?i)true"),
    "issuperuser": expression(r"(?i)true"),
    "access_level": expression(r"(?i)(?:.{0,100}\.)?(?:owner|maintainer)(?:_access)?|40|50"),
    "clusterrole": expression(r"cluster-admin"),
    "member": expression(r"(?i)all(?:authenticated)?users"),
    "entity": expression(r"(?i)all(?:authenticated)?users"),
    "type": expression(r"(?i)anyone"),
    "permission": expression(r"(?i)admin|owner|maintain"),
    "role": expression(r"(?i)admin|owner|roles/(?:owner|editor)|(?:organization|global)[ _-]?admin\w*"),
    "groupname": expression(r"(?i)admin\w*"),
    "policyarn": expression(r"(?i).{0,100}(?:Administrator|Power ?User|Full)Access"),
}
"""Settings, without case, and the values by which what they are of is open to others or somebody gets every right."""

ANYWHERE = words("source_ranges sourceranges is_superuser issuperuser")
"""Settings of these that open something, whichever library gets them."""
PASSWORDS = expression(r"(?i)(?:user|new|temporary|admin)?_?(?:password|passwd|unicodepwd)|unicodepwd")
"""Settings by which an account gets another password."""
CHANGES = words("modify update reset change set patch edit replace")
"""What names of functions begin with which change what is there."""
TRADES = words("buy sell")
ORDERS = words("create place submit open")
"""What names of functions begin with which order something."""


def note_asked(trail: Trail, act: Act, args: Sequence[Value], named: Mapping[str, Value], place: Place) -> None:
    """Note what an act that sends something elsewhere, or changes something there, deletes or opens."""
    urls = [*act.get("url").texts, *(known for one in args[:2] for known in one.texts)]
    address = next((found for one in urls if (found := ADDRESS.match(one)) is not None), None)
    if act.kind != "configure" and (address is None or HOLE in address["host"] or LOCAL.match(address["host"])):
        return
    if address is not None and address["path"] and _method(act.name, args, named) in DELETES:
        known = address["path"].replace(HOLE, "…").lstrip("/")
        below = args[0].text.replace(HOLE, "…") if args and "://" not in args[0].text else ""
        if below and not known.endswith(below):
            known = f"{known.rstrip('/')}/{below.lstrip('/')}"
        trail.add("destroy", act.name, {"name": text(known), "at": text(address["host"])}, place, act.labels)
    asks = act.kind == "send" and _method(act.name, args, named) not in ("get", "head")
    if asks and address is not None and MONEY.search(address["path"] or "") is not None:
        fields = {"target": text(f"{address['host']}{address['path']}".replace(HOLE, "…")), "at": text("payments")}
        trail.add("configure", act.name, fields, place, act.labels)
    opened = next(opens([*args, *named.values()], named), "")
    if act.kind == "configure" and _sets_password(act.name, [*args, *named.values()], named):
        act.fields["password"] = text("yes")
    if not opened and act.kind == "configure" and PUBLISHES.search(act.name):
        opened = "public"
    if not opened:
        return
    if act.kind == "configure":
        act.fields["opens"] = text(opened)
    elif address is not None:
        fields = {"at": text(address["host"]), "opens": text(opened)}
        trail.add("configure", act.name, fields, place, act.labels)


def connected_to(trail: Trail, function: str) -> Value:
    """Return the machine that a client of the library of `function` was last connected to."""
    library = function.partition(".")[0]
    acts = reversed(trail.acts)
    found = next((act for act in acts if act.kind == "connect" and act.name.partition(".")[0] == library), None)
    host = found.get("host") if found is not None else UNKNOWN
    return next((one for one in host.items if one.texts), UNKNOWN) if host.items else host


def opened_to(key: str, value: Value) -> str:
    """Return a setting and its value, where that opens what the setting is of; '' where not."""
    wanted = OPENED.get(key.lower())
    said = [known for one in (value, *(value.items or ())) for known in _said(one)] if wanted is not None else []
    return (
        f"{key}: {BOOLEANS.get(said[0], said[0]) if said else ''}"
        if wanted is not None and any(map(wanted.fullmatch, said))
        else ""
    )


BOOLEANS = {"True": "true", "False": "false"}
NAMES = words("--tags --labels --annotations --metadata -l")
"""Options of which the values are names for people."""


def opened_by(arguments: Sequence[str]) -> str:
    """Return the setting by which the words of a command open something; '' for none.

    As `--acl public-read`, `-F private=false` or `BlockPublicAcls=false,IgnorePublicAcls=false`.
    """
    for at, word in enumerate(arguments):
        name, equals, value = word.partition("=")
        if name.startswith("--") and not equals:
            given = {name: next(iter(arguments[at + 1 :]), "")}
        elif equals and not (at and arguments[at - 1] in NAMES):
            parts = (one.partition("=") for one in word.split(","))
            given = {name: value} | {setting: to for setting, _, to in parts}
        else:
            given = {}
        for setting, to in given.items():
            wanted = OPENED.get(setting.lstrip("-").replace("-", "").lower())
            if wanted is not None and wanted.fullmatch(to):
                return f"{setting.lstrip('-')}: {to}"
        if EVERYBODY.match(word) is not None:
            return word
    return ""


def note_request(trail: Trail, act: Act, method: str, body: Value) -> None:
    """Note what a request by a command deletes or opens elsewhere; `act` is of it, and has its address."""
    named = {"method": text(method)}
    for known in body.texts:
        try:
            said = json.loads(known) if known[:1] == "{" else None
        except ValueError:
            said = None
        if isinstance(said, dict):
            named |= {key: text(str(value)) for key, value in said.items() if isinstance(value, bool | str)}
    note_asked(trail, act, [], named, act.place)


def note_verb(
    trail: Trail, called: Value, args: Sequence[Value], named: Mapping[str, Value], library: str, place: Place
) -> None:
    """Note a call of a library of which only the name says what it does, where that cannot be taken back."""
    last = called.name.removesuffix("()").rpartition(".")[2]
    first = args[0].text if args else ""
    parts = PART.findall(last)
    if (asked := ASKED.match(first)) is not None and last == "request":
        fields = {"name": text(asked["path"].lstrip("/").replace(HOLE, "…")), "at": text(library)}
        trail.add("destroy", called.name, fields, place, called.labels)
    elif not parts or library.startswith((".", "@/")) or library in COMPUTES or first.startswith("/"):
        return
    elif opened := [one for one in opens([*args, *named.values()], named) if one.partition(":")[0].lower() in ANYWHERE]:
        fields = {"at": text("the cloud"), "opens": text(opened[0])}
        trail.add("configure", called.name, fields, place, called.labels)
    elif parts[0].lower() in MOVES_MONEY or _trades([part.lower() for part in parts], library, trail):
        trail.add("configure", called.name, {"at": text("payments")}, place, called.labels)
    elif not {parts[0].lower(), parts[-1].lower()}.isdisjoint(ENDS):
        trail.add("configure", called.name, {"at": text("the cloud")}, place, called.labels)


def _trades(parts: Sequence[str], library: str, trail: Trail) -> bool:
    """Return whether a function buys or sells: `create_market_buy_order`, or an order at who was given a key."""
    if "order" not in parts and "orders" not in parts:
        return False
    if not TRADES.isdisjoint(parts):
        return parts[0] not in ("fetch", "get", "list", "cancel", "is", "on")
    keys = (act for act in trail.acts if act.kind == "hand" and act.get("to").text == library)
    return parts[0] in ORDERS and any(not act.get("data").unknown or act.get("data").labels for act in keys)


def _sets_password(name: str, values: Sequence[Value], named: Mapping[str, Value]) -> bool:
    """Return whether a function that changes accounts elsewhere gives one another password."""
    parts = PART.findall(name.removesuffix("()").rpartition(".")[2])
    if not parts or parts[0].lower() not in CHANGES:
        return False
    keys = [*named, *(key for one in values for key in one.fields or ())]
    return any(map(PASSWORDS.fullmatch, keys))


def _method(name: str, args: Sequence[Value], named: Mapping[str, Value]) -> str:
    """Return the method of HTTP by which something is asked for, in small letters."""
    last = name.removesuffix("()").rpartition(".")[2].lower()
    given = [named.get("method"), *((one.fields or {}).get("method") for one in args)]
    if last in ("request", "stream") and args:
        given.append(args[0])
    return next((one.text.lower() for one in given if one is not None and one.texts), last)


def opens(values: Sequence[Value], named: Mapping[str, Value]) -> Iterator[str]:
    """Yield settings by which something is opened to others, or somebody is given every right."""
    level = [dict(named), *(one.fields for one in values if one.fields)]
    inside = list(values)
    for _ in range(DEEPEST):
        for fields in level:
            for key, value in fields.items():
                if opened := opened_to(key, value):
                    yield opened
        inside = [part for one in inside for part in (*(one.items or ()), *(one.fields or {}).values())]
        if not inside or len(inside) > MOST_LOOKED_AT:
            return
        level = [one.fields for one in inside if one.fields]


def _said(value: Value) -> tuple[str, ...]:
    return value.texts or ((value.name,) if value.name else ())
