"""What a call asks a service elsewhere for: to delete something there, or to open it to others."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.acts import VALUE_OF
from runner.risk.model.bounds import bounded
from runner.risk.model.outline_data import words
from runner.risk.model.value import HOLE, UNKNOWN, Value, text, texts_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from re import Pattern

    from runner.risk.model.acts import Act, Place, Trail

ADDRESS = expression(r"(?i)https?://(?:[^/@\s]{1,200}@)?(?P<host>[^/?#\s]{1,200})(?P<path>/[^?#\s]{1,400})?")
LOCAL = expression(r"(?i)localhost|127\.|0\.0\.0\.0|\[::1\]|10\.|192\.168\.|host\.docker\.internal|[^.:]{1,60}+(?::|$)")
"""How a host begins that is this machine, or one beside it."""
BELOW_GIVEN = expression(rf"(?:https?://)?{HOLE}(?P<path>/[^?#\s]{{1,400}})")
"""An address below one that only the environment knows."""
MUTATION = expression(
    r"(?s)\bmutation\b[^{]{0,400}\{\s{0,40}(?:\w{1,60}\s{0,9}:\s{0,9})?(?P<name>(?:delete|remove|destroy|purge|archive|wipe)[A-Z_]\w{0,60}"
    r"|[a-z]\w{0,40}(?:Delete|Remove|Destroy|Purge|Archive|Wipe)(?:[A-Z_]\w{0,40})?)\b"
)
"""A mutation of GraphQL whose name says that it deletes something."""
DELETING = words("delete destroy purge wipe truncate erase drop remove obliterate")
LOOKING = words("get list describe head count exists has show find search read fetch lookup retrieve")
"""Words that names of functions begin with which change nothing, if they do what they are called."""
DELETES = words("delete del")
ASKED = expression(r"DELETE\s{1,9}(?P<path>/\S{1,300})")
"""How some libraries are asked: `request("DELETE /repos/a/b")`."""
PART = expression(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
MOVES_MONEY = words("withdraw withdrawal payout transfer refund")
ENDS = words(
    "unfollow leave forget ban kick archive deactivate suspend unpublish terminate revoke purge wipe deprovision "
    "decommission"
)
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
    **dict.fromkeys(
        words(
            "visibility requested_visibility privacystatus privacy_status privacy audience general_access link_access"
        ),
        expression(r"(?i)public|everyone|anyone|world"),
    ),
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
    **dict.fromkeys(
        words("is_superuser issuperuser superuser is_staff is_admin isadmin admin"), expression(r"(?i)true|1|t")
    ),
    "access_level": expression(r"(?i)(?:.{0,100}\.)?(?:owner|maintainer)(?:_access)?|40|50"),
    "clusterrole": expression(r"cluster-admin"),
    "member": expression(r"(?i)all(?:authenticated)?users"),
    "members": expression(r"(?i)all(?:authenticated)?users"),
    **dict.fromkeys(words("addresses cidr_blocks cidrblocks cidripv4"), expression(r"0\.0\.0\.0/0|::/0")),
    **dict.fromkeys(words("cidripv6 cidr_ipv6"), expression(r"::/0")),
    **dict.fromkeys(words("entity entity_id entityid"), expression(r"(?i)all(?:authenticated)?users")),
    "type": expression(r"(?i)anyone"),
    "permission": expression(r"(?i)admin|owner|maintain"),
    "role": expression(r"(?i)admin|owner|roles/(?:owner|editor)|(?:organization|global)[ _-]?admin\w*"),
    "groupname": expression(r"(?i)admin\w*"),
    "name": expression(r"cluster-admin"),
    ".read": expression(r"(?i)true"),
    ".write": expression(r"(?i)true"),
    "perm_type": expression(r"anyone"),
    "read_only": expression(r"(?i)false"),
    "policyarn": expression(r"(?i).{0,100}(?:Administrator|Power ?User|Full)Access"),
}
"""Settings, without case, and the values by which what they are of is open to others or somebody gets every right."""

RIGHTS = words(
    "is_superuser issuperuser superuser is_staff is_admin isadmin admin access_level role permission groupname "
    "policyarn clusterrole"
)
"""Settings of these by which somebody gets every right."""
ENDED = {
    **dict.fromkeys(
        words("archived blocked trashed disabled suspended deactivated banned revoked"), expression(r"(?i)true")
    ),
    **dict.fromkeys(words("active enabled accountenabled"), expression(r"(?i)false")),
    **dict.fromkeys(words("replicas desiredcount desiredcapacity maxsize min_size desired_count"), expression(r"0")),
    "state": expression(r"(?i)closed|disabled|suspended|stopped"),
    "status": expression(r"(?i)closed|disabled|suspended|inactive|deactivated|archived"),
}
"""Settings, in small letters, and the values by which what they are of is at an end for others."""
UNPROTECTED = {
    "deletionprotection": expression(r"(?i)false"),
    "deletionprotectionenabled": expression(r"(?i)false"),
    "backupretentionperiod": expression(r"0"),
    "enablelogfilevalidation": expression(r"(?i)false"),
    "mfadelete": expression(r"(?i)disabled"),
    "versioningconfiguration": expression(r"(?i)suspended"),
    **dict.fromkeys(
        words("multi_factor two_factor_enabled mfaenabled mfa_enabled two_factor_requirement"), expression(r"(?i)false")
    ),
}
"""Settings, in small letters, and the values by which what they are of is no longer protected or kept."""
EXPIRES = words(
    "expiration noncurrentversionexpiration expireafterseconds retentionindays expireafter retention.ms "
    "messageretentionperiod"
)
"""Settings, in small letters, by which a service deletes by itself what it keeps once it is old."""
LATER = expression(r"(?i)delete|purge|expire")
AGE = expression(r"(?i)(?:min_?)?age|after|older_?than")
"""What a phase of a lifecycle is called in which something is deleted, and how old that is then."""
FORWARDING = expression(r"(?i)(?:redirect|forward)(?:ing)?_?(?:to|address|as_?attachment_?to)|auto_?forward\w{0,20}")
"""Settings by which what comes for somebody goes to somebody else."""
OF_AGE = words("days date noncurrentdays")
GUARDS = expression(
    r"(?i)(?:stop|disable|suspend)_?(?:logging|alarm_?actions|guard\w{0,10}|security_?hub|key_?rotation|mfa\w{0,10})"
)
"""Methods by which a service no longer records or guards what it has."""
ENDING = expression(
    r"(?i)/(?:deactivate|suspend|archive|terminate|revoke|purge|wipe|reset_factors|disable|unpublish)/?$"
)
"""Parts of addresses at which something of others is ended."""
PROTECTS = expression(
    r"(?i)protect|mfa|two_?factor|2fa|(?<![a-z])otp|audit|logging|backup|encrypt|versioning|firewall|(?<![a-z])waf|guard|alarm|"
    r"tamper|ssl_?required|require_?(?:ssl|auth|approval|review|sign)|enforce|quarantine|spam|dmarc"
)
"""What is in the name of a method or a setting by which something is protected, kept or recorded."""
OFF = expression(r"(?i)false|off|none|disabled?|suspended|no|0")
SWITCHES = words("enabled enable status state active mode required isenabled is_enabled on")
OPENS_BY = expression(
    r"(?i)access_?policy|acl$|visibility$|public|permissions?$|role$|roles$|privileges?$|grant|rights?$"
)
"""Methods by which somebody is let in, and of what they are given what lets everybody in, or gives every right."""
TO_ALL = expression(
    r"(?i)container|blob|public(?:-?read(?:-?write)?)?|anyone|everyone|all_?users|admin(?:istrator)?s?|owner|superuser|root|full_?access"
)
RAISES = expression(r"(?:make|promote|grant|elevate|add)\w{0,20}(?:[Aa]dmin(?:istrator)?|[Oo]wner|[Ss]uper_?[Uu]ser)")
"""Methods by which somebody gets every right."""
FORWARDS = expression(r"(?i)(?:auto_?)?forward(?:ing)?|redirect|delegates?")
OPEN_RULES = expression(r"(?i)allow\s{1,9}(?:read|write|read,\s{0,9}write)[^;]{0,40}:\s{0,9}if\s{1,9}true")
"""Rules of Firebase by which everybody may read or write."""
ALLOWS_ALL = expression(
    r'(?s)(?=.{0,4000}"Effect":\s*"Allow")(?=.{0,4000}"Action":\s*(?:\[\s*)?"\*(?::\*)?")(?=.{0,4000}"Resource":\s*(?:\[\s*)?"\*")'
)
"""A policy of AWS as a text that allows everything."""
UNLOCKS = expression(r"(?i)/(?:unlock\w*|(?:alarm_)?disarm\w*|open_(?:door|gate|cover|garage))/?$")
"""Parts of addresses at which a lock is opened, or an alarm switched off."""
MAILS = expression(
    r"(?i)/(?:messages?|e?mails?|conversations?|notifications?|sms|chat\.postmessage|send\w{0,20})(?:\.json)?/?$"
)
"""Parts of addresses at which messages to people are sent."""
GROUPS = expression(r"(?i)(?:cn=)?(?:(?:domain|enterprise|schema) admins|administrators|superusers)(?:,.{0,200})?")
"""Groups of which the members have every right."""
ANYWHERE = words("source_ranges sourceranges is_superuser issuperuser entity_id")
"""Settings of these that open something, whichever library gets them."""
PASSWORDS = expression(r"(?i)(?:user|new|temporary|admin)?_?(?:password|passwd|unicodepwd)|unicodepwd")
"""Settings by which an account gets another password."""
ALTERING = words("modify update reset change set patch edit replace")
"""What names of functions begin with which change what is there."""
TRADES = words("buy sell")
ORDERS = words("create place submit open")
"""What names of functions begin with which order something."""


def note_asked(trail: Trail, act: Act, args: Sequence[Value], named: Mapping[str, Value], place: Place) -> None:
    """Note what an act that sends something elsewhere, or changes something there, deletes, ends or opens."""
    urls = [*act.get("url").texts, *(known for one in args[:2] for known in one.texts)]
    address = _address(act, urls)
    if act.kind == "send" and (forwarded := _forwarded(args, named)):
        fields = {"at": text("service"), "opens": text(forwarded), "with": Value(items=list(args))}
        trail.add("configure", act.name, fields, place, act.labels)
    if act.kind == "send" and not any(map(ADDRESS.match, urls)) and (public := next(opens(args, named), "")):
        trail.add("configure", act.name, {"at": text("the cloud"), "opens": text(public)}, place, act.labels)
    if act.get("how").text == "message" and "to" not in act.fields:
        to = next((value for key, value in named.items() if key.lower() in RECIPIENTS), None)
        act.fields |= {"to": to} if to is not None else {}
    if act.kind == "configure":
        note_settings(act, [*args, *_put_into(trail, args)], named)
    elif address is not None:
        _note_request(trail, act, address, args, named, place)


def _address(act: Act, urls: Sequence[str]) -> Mapping[str, str] | None:
    """Return the host and the path that something is asked at; None for this machine, and where neither is known."""
    found = next((match for one in urls if (match := ADDRESS.match(one)) is not None), None)
    if found is None or HOLE in found["host"]:
        return _of_environment(act, urls)
    return None if LOCAL.match(found["host"]) else {"host": found["host"], "path": found["path"] or ""}


def _note_request(
    trail: Trail,
    act: Act,
    address: Mapping[str, str],
    args: Sequence[Value],
    named: Mapping[str, Value],
    place: Place,
) -> None:
    """Note what a request deletes, ends, pays or opens."""
    host, path, values = address["host"], address["path"], [*args, *named.values()]
    whole = text(f"{host}{path}".replace(HOLE, "…"))
    repeated = "repeated" in act.labels
    method = _method(act.name, args, named)

    def note(kind: str, **fields: str | Value) -> None:
        made = {name: text(one) if isinstance(one, str) else one for name, one in fields.items()}
        trail.add(kind, act.name, made, place, act.labels)

    if asked := next(_mutations(values), ""):
        note("destroy", name=asked, at=host)
    if path and method in DELETES:
        note("destroy", name=path.replace(HOLE, "…").lstrip("/"), at=host)
    if act.kind == "send" and method not in ("get", "head"):
        if MONEY.search(path) is not None:
            note("configure", target=whole, at="payments")
        if UNLOCKS.search(path) is not None:
            note("configure", target=whole, at="the cloud", unguards=path.rpartition("/")[2])
        if repeated and method == "post" and MAILS.search(path) is not None:
            act.fields["how"] = text("message")
        if ENDING.search(path) is not None:
            note("configure", target=whole, at="the cloud", ends="yes")
        if ended := next(settings_in(values, named, ENDED), ""):
            note("configure", target=host, at="the cloud", ends=ended)
    if opened := next(opens(values, named), ""):
        note("configure", at=host, opens=opened)


def _put_into(trail: Trail, given: Sequence[Value]) -> Iterator[Value]:
    """Yield what was put into objects of a service before they are handed over: `policy.rules.append(...)`."""
    names = tuple(f"{one.name}." for one in given if one.name.endswith("()") and one.fields is None)
    for name, calls in trail.given.items() if names else ():
        if name.startswith(names) and name.endswith(PUTS):
            yield from (value for call in calls for value in call)


PUTS = (".append", ".add", ".extend", ".update", ".insert", ".setdefault")


def note_settings(act: Act, args: Sequence[Value], named: Mapping[str, Value]) -> None:
    """Note the settings that a method of a service gets by which something is opened, at an end or unguarded."""
    values = [*args, *named.values()]
    opened = next(opens(values, named), "")
    if not opened and (group := next(filter(GROUPS.fullmatch, texts_of(Value(items=list(args)))), "")):
        opened = f"role: {group}"
    if not opened and PUBLISHES.search(act.name):
        opened = "public"
    last = act.name.removesuffix("()").rpartition(".")[2].removesuffix("Command")
    opened = opened or _opened_by_name(last, values)
    if opened:
        act.fields["opens"] = text(opened)
    if _sets_password(act.name, values, named):
        act.fields["password"] = text("yes")
    if ended := next(settings_in(values, named, ENDED), ""):
        act.fields["ends"] = text(ended)
    if age := next(_expiring(values, named), ""):
        act.fields["expires"] = text(age)
    left = next(settings_in(values, named, UNPROTECTED), "") or _unprotected(act.name, values, named)
    if left or GUARDS.fullmatch(last):
        act.fields["unguards"] = text(left or last)


def _of_environment(act: Act, urls: Sequence[str]) -> Mapping[str, str] | None:
    """Return the parts of an address that whoever starts the program gives the beginning of; None for any other."""
    given = next((label for label in sorted(act.get("url").labels) if label.startswith(VALUE_OF)), "")
    found = next((match for one in urls if (match := BELOW_GIVEN.match(one)) is not None), None)
    if not given or found is None:
        return None
    return {"host": f"the address in {given[len(VALUE_OF) :]}", "path": found["path"]}


def _mutations(values: Sequence[Value]) -> Iterator[str]:
    """Yield the mutations of GraphQL among what a call is given that delete something."""
    for known in texts_of(Value(items=list(values)), 4):
        if (found := MUTATION.search(known)) is not None:
            yield found["name"]


def connected_to(trail: Trail, function: str) -> Value:
    """Return the machine that a client of the library of `function` was last connected to."""
    library = function.partition(".")[0]
    acts = reversed(trail.acts)
    found = next((act for act in acts if act.kind == "connect" and act.name.partition(".")[0] == library), None)
    host = found.get("host") if found is not None else UNKNOWN
    return next((one for one in host.items if one.texts), UNKNOWN) if host.items else host


def opened_to(key: str, value: Value, of: Mapping[str, Pattern[str]] = OPENED) -> str:
    """Return a setting and its value, where that is one of those that count; '' where not."""
    wanted = of.get(key.lower())
    said = [known for one in (value, *(value.items or ())) for known in _said(one)] if wanted is not None else []
    return (
        f"{key}: {BOOLEANS.get(said[0], said[0]) if said else ''}"
        if wanted is not None and any(map(wanted.fullmatch, said))
        else ""
    )


def gives_rights(opened: str) -> bool:
    """Return whether a setting, as `opened_to` says it, gives somebody every right."""
    return opened.partition(":")[0].lower().replace("-", "") in RIGHTS


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
    trail: Trail,
    called: Value,
    args: Sequence[Value],
    named: Mapping[str, Value],
    library: str,
    place: Place,
    written: str = "",
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
    elif _deletes([part.lower() for part in parts]) and not last[:1].isupper() and _has_key(trail, library):
        fields = {"what": args[0] if args else UNKNOWN, "on": called.owner or UNKNOWN}
        if written:
            fields["as"] = text(written)
        trail.add("destroy", called.name, fields, place, called.labels)
    elif _note_by_key(trail, called, args, named, library, place):
        return
    elif parts[0].lower() in MOVES_MONEY and _is_patched(trail, library):
        trail.add("configure", called.name, {"at": text("the cloud")}, place, called.labels)
    elif parts[0].lower() in MOVES_MONEY or _trades([part.lower() for part in parts], library, trail):
        trail.add("configure", called.name, {"at": text("payments")}, place, called.labels)
    elif not last[:1].isupper() and not {parts[0].lower(), parts[-1].lower()}.isdisjoint(ENDS):
        ended = {"at": text("the cloud"), "ends": text(last)}
        trail.add("configure", called.name, ended, place, called.labels)


def _note_by_key(
    trail: Trail, called: Value, args: Sequence[Value], named: Mapping[str, Value], library: str, place: Place
) -> bool:
    """Note what is asked of a library that was given a key, by the roles of arguments or by a text; return whether."""
    last = called.name.removesuffix("()").rpartition(".")[2]
    if not _has_key(trail, library):
        return False
    kind, fields = "configure", {"at": text("devices")}
    if (to := _recipients(named)) is not None:
        kind = "send"
        fields = {"how": text("message"), "to": to, "data": Value(items=list(named.values()))}
    elif left := _unguards(last, args):
        fields["unguards"] = text(left)
    elif asked := _dispatched(last, args):
        kind = "destroy"
        fields = {"what": text(asked), "on": called.owner or UNKNOWN, "by-name": text(asked)}
    else:
        return False
    trail.add(kind, called.name, fields, place, called.labels)
    return True


def _is_patched(trail: Trail, library: str) -> bool:
    """Return whether a test replaces something in a package, of which only a name says what it does."""
    targets = (act.get("target").text for act in trail.acts if act.kind == "database" and act.name.endswith(".patch"))
    return any(target.startswith(f"{library}.") for target in targets)


def _trades(parts: Sequence[str], library: str, trail: Trail) -> bool:
    """Return whether a function buys or sells: `create_market_buy_order`, or an order at who was given a key."""
    if "order" not in parts and "orders" not in parts:
        return False
    if not TRADES.isdisjoint(parts):
        return parts[0] not in ("fetch", "get", "list", "cancel", "is", "on")
    return parts[0] in ORDERS and _has_key(trail, library)


def _deletes(parts: Sequence[str]) -> bool:
    """Return whether the verb of a name says that something is deleted: `delete`, `batch_delete`, `bulkRemoveUsers`."""
    verb = next((part for part in bounded(set(), list(parts), MOST_BEFORE, "words") if part not in HOW), "")
    return verb in DELETING


RECIPIENTS = words("recipients recipient to to_ to_addresses to_emails phone phone_number msisdn chat_id user_ids")
BODIES = words("body text message content subject html template template_id msg")


def _recipients(named: Mapping[str, Value]) -> Value | None:
    """Return whom a call sends a message to, which has a body and a recipient; None for any other."""
    to = next((value for key, value in named.items() if key.lower() in RECIPIENTS), None)
    return to if any(key.lower() in BODIES for key in named) else None


MOST_BEFORE = 4
HOW = words("batch bulk mass many multi async begin do hard soft force forced permanently really safe safely recursive")
"""Words that stand before a verb and say how."""
DISPATCHES = words("call trigger invoke execute run request send command perform dispatch rpc api do service action")
"""Words in the names of functions whose text argument names what to do."""
OPENS_LOCKS = words("disarm unlock unarm")
ENDS_GUARD = words("disable stop deactivate suspend bypass mute turn switch off pause")
GUARDED = words(
    "alarm lock guard guardduty firewall protection mfa 2fa otp monitoring monitor logging audit backup backups alert "
    "alerts antivirus waf smoke detector safety interlock watchdog quarantine"
)
"""What guards something, or tells what happened."""


def _asked_for(last: str, args: Sequence[Value]) -> list[str]:
    """Return what a function is asked to do: its name, or the texts that tell it."""
    parts = {part.lower() for part in PART.findall(last)}
    if DISPATCHES.isdisjoint(parts):
        return [last]
    texts = [one.exact or "" for one in bounded(set(), list(args), MOST_BEFORE, "arguments")]
    return [one for one in texts if NAME.fullmatch(one)]


NAME = expression(r"[A-Za-z][\w.:/-]{2,60}")


def _unguards(last: str, args: Sequence[Value]) -> str:
    """Return what says that a call opens a lock or switches off what guards something; '' where nothing does."""
    if last[:1].isupper():
        return ""
    for asked in _asked_for(last, args):
        parts = [part.lower() for part in PART.findall(asked)]
        if not OPENS_LOCKS.isdisjoint(parts) or (
            parts and parts[0] in ENDS_GUARD and not GUARDED.isdisjoint(parts[1:]) and "on" not in parts
        ):
            return asked
    return ""


def _dispatched(last: str, args: Sequence[Value]) -> str:
    """Return what a call asks for that deletes something; '' for anything else."""
    asked = [one for one in _asked_for(last, args) if one != last]
    return next((one for one in asked if _deletes([part.lower() for part in PART.findall(one)])), "")


def _has_key(trail: Trail, library: str) -> bool:
    """Return whether a library was handed a secret, as clients of services are."""
    keys = (act for act in trail.acts if act.kind == "hand" and act.get("to").text == library)
    return any(not act.get("data").unknown or act.get("data").labels for act in keys)


def _sets_password(name: str, values: Sequence[Value], named: Mapping[str, Value]) -> bool:
    """Return whether a function that changes accounts elsewhere gives one another password."""
    parts = PART.findall(name.removesuffix("()").rpartition(".")[2])
    if ALTERING.isdisjoint(part.lower() for part in parts[:2]):
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
    return settings_in(values, named, OPENED)


def settings_in(
    values: Sequence[Value], named: Mapping[str, Value], wanted: Mapping[str, Pattern[str]]
) -> Iterator[str]:
    """Yield the settings among what a call is given, however deep, that have one of their wanted values."""
    for fields in _levels(values, named):
        for key, value in fields.items():
            if found := opened_to(key, value, wanted):
                yield found


def _opened_by_name(last: str, values: Sequence[Value]) -> str:
    """Return what a method gives whom, by its name and a text that it gets; '' where that opens nothing."""
    given = [
        known for one in values for known in (*one.texts, *(text for part in one.items or () for text in part.texts))
    ]
    if RAISES.fullmatch(last):
        return f"role: {last}"
    if OPENS_BY.search(last) and (whom := next(filter(TO_ALL.fullmatch, given), "")):
        return f"{last}: {whom}"
    whole = [*given, *texts_of(Value(items=list(values)), 6)] if len(values) < 9 else given
    if (rule := next((found for one in whole if (found := OPEN_RULES.search(one))), None)) is not None:
        return rule[0]
    if any(map(ALLOWS_ALL.match, whole)):
        return "Action: *"
    if forwarded := _forwarded(values, {}):
        return forwarded
    if FORWARDS.search(last) and (
        to := next((one for one in texts_of(Value(items=list(values)), 6) if "@" in one), "")
    ):
        return f"{last}: {to}"
    return ""


def _forwarded(values: Sequence[Value], named: Mapping[str, Value]) -> str:
    """Return the setting by which messages are forwarded to an address: `redirectTo: a@b.example`; '' for none."""
    for fields in _levels(values, named):
        for key, value in fields.items():
            if FORWARDING.fullmatch(key) and (to := next((one for one in texts_of(value, 4) if "@" in one), "")):
                return f"{key}: {to}"
    return ""


def _unprotected(name: str, values: Sequence[Value], named: Mapping[str, Value]) -> str:
    """Return a setting by which something is off that protects, keeps or records; '' for none."""
    whole = PROTECTS.search(".".join(name.replace("()", "").split(".")[-2:])) is not None
    for path, value in _paths(values, named):
        key = path.rpartition(".")[2]
        if not (PROTECTS.search(path) if key.lower() not in SWITCHES else whole or PROTECTS.search(path)):
            continue
        if any(map(OFF.fullmatch, _said(value))):
            return f"{key}: {BOOLEANS.get(_said(value)[0], _said(value)[0])}"
    return ""


def _paths(values: Sequence[Value], named: Mapping[str, Value]) -> Iterator[tuple[str, Value]]:
    """Yield each single value that a call is given by a name, with the names around it: `a.b`."""
    waiting = [("", one, 0) for one in values] + [(key, one, 0) for key, one in named.items()]
    left = MOST_LOOKED_AT
    while waiting and left:
        left -= 1
        path, value, depth = waiting.pop(0)
        if depth < DEEPEST:
            waiting += [(path, one, depth + 1) for one in value.items or ()]
            waiting += [(f"{path}.{key}".lstrip("."), one, depth + 1) for key, one in (value.fields or {}).items()]
        if path and not value.fields and value.items is None:
            yield path, value


def _expiring(values: Sequence[Value], named: Mapping[str, Value]) -> Iterator[str]:
    """Yield settings by which a service deletes by itself what is old: `Expiration: 90 days`."""
    for fields in _levels(values, named):
        for key, value in fields.items():
            ages = [one for name, one in (value.fields or {}).items() if AGE.fullmatch(name) and _said(one)]
            if ages and LATER.fullmatch(key):
                yield f"{key} after {_said(ages[0])[0]}"
            if key == "name" and value.text.lower() in EXPIRES and "value" in fields:
                yield f"{value.text}: {next(iter(_said(fields['value'])), '')}"
            if key.lower() not in EXPIRES:
                continue
            ages = [one for name, one in (value.fields or {}).items() if name.lower() in OF_AGE]
            age = (ages or [value])[0]
            if ages or value.fields is None:
                known = age.text or (f"{age.number:g}" if age.number is not None else "")
                yield f"{key}: {known}{' days' if ages and known.isdigit() else ''}" if known else key


def _levels(values: Sequence[Value], named: Mapping[str, Value]) -> Iterator[Mapping[str, Value]]:
    """Yield what a call is given with names, however deep."""
    level = [one for one in (named, *(value.fields for value in values)) if one]
    if not level and all(one.items is None for one in values):
        return
    inside = list(values)
    for _ in range(DEEPEST):
        yield from level
        inside = [part for one in inside for part in (*(one.items or ()), *(one.fields or {}).values())]
        if not inside or len(inside) > MOST_LOOKED_AT:
            return
        level = [one.fields for one in inside if one.fields]


def _said(value: Value) -> tuple[str, ...]:
    return value.texts or ((value.name,) if value.name else (str(value.number),) if value.number is not None else ())
