"""Files that a program writes and what comes of them: what it reads, copies, fetches and starts later."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.acts import Act, Place, Source
from runner.risk.model.bounds import excerpt
from runner.risk.model.temporary import TEMPORARY
from runner.risk.model.value import HOLE, NO_LABELS, UNKNOWN, Value, is_absent, labels_of, text
from runner.risk.trace.shown import note_written

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.risk.model.acts import Trail
    from runner.risk.rules.targets import Targets

LONGEST_SCRIPT = 100_000
"""Characters of a script that is written, beyond which it is not followed."""
LONGEST_FOLDER = 120
IN_MEMORY = "in-memory"
"""The label of a database that is in no file."""
MEMORY = expression(r":memory:|file:[^?]{0,200}\?(?:[^#]{0,200}&)?mode=memory(?:[&#].{0,200})?|file::memory:.{0,200}")
"""Names by which SQLite keeps a database in memory, in no file."""
IN_A_FILE = frozenset(
    ("sqlite3.connect", "sqlite3.dbapi2.connect", "duckdb.connect", "better-sqlite3", "node:sqlite.DatabaseSync")
)
"""Functions that open a database in the file that they are given."""
FOUND_IN = "in:"
"""Begins the label of what a walk finds; its folder follows."""
FOUND_AS = "as:"
"""Begins the label of what a walk finds by its name; the pattern that the name fits follows."""
KIND_LABELS = {
    "secret": Source.SECRET,
    "key-file": Source.SECRET,
    "environment-file": "environment-file",
    "accounts": "accounts",
    "logs": "logs",
    "system": "system-file",
}


OF_PERSON = expression(
    r"~/(?!\.cache/|\.local/share/|workspace/)[^/]|\$\{?HOME\}?/(?!\.cache/)[^/]|/(?:home|Users)/[^/\s]+/(?!\.cache/)[^/]"
)
"""Paths in a home folder, which hold what is a person's own."""
OF_PEOPLE = expression(
    r"(?i)(?:^|[/_.-])(?:users?|customers?|clients?|patients?|employees?|members?|contacts?|people|personnel|payroll|"
    r"salaries|subscribers?|leads?|applicants?|students?)(?:[_-]\w{1,40}){0,4}\.(?:csv|tsv|jsonl?|xlsx?|parquet|sql|db|ndjson)(?:\.\w{2,4})?$"
)
"""Files of data that are called after the people whom they are about."""
OUTSIDE = expression(r"/(?:data|srv|mnt|media|export|nfs|scratch|shared?|var/(?:www|lib|backups?)|opt|backups?)/[^/]")
"""Paths in folders where machines keep what is many people's."""
OF_OUTSIDE = "outside:"
"""Begins the label of what is read there; the path follows."""


SETTING = expression(r"(?m)^[ \t]{0,20}(?:export )?(?P<name>\w{3,60}) ?[=:] ?[\"']?(?P<value>[^\s\"']{4,200})")
LONGEST_SETTINGS = 20_000


class WrittenFiles:
    """What one program has written where."""

    def __init__(self, trail: Trail, targets: Targets) -> None:
        self.trail = trail
        self.targets = targets
        self.scripts: dict[str, tuple[str, Place]] = {}
        """Scripts that the program writes: text and place by path."""

    def done(self, act: Act) -> frozenset[str]:
        """Follow up an act on files; return labels for what it gives."""
        follow_up = FOLLOW_UPS.get(act.kind)
        return NO_LABELS if follow_up is None else follow_up(self, act)

    def _read(self, act: Act, field: str = "path") -> frozenset[str]:
        path = act.get(field)
        labels = {Source.FILE.value} | self.origin(path)
        for known in path.texts:
            for kind in self.targets.of(known):
                if kind in KIND_LABELS:
                    labels.add(KIND_LABELS[kind])
            if OF_PERSON.match(known):
                labels.add("of-person")
            if OF_PEOPLE.search(known):
                labels.add("of-people")
            if OUTSIDE.match(known):
                labels.add(f"{OF_OUTSIDE}{excerpt(known, LONGEST_FOLDER)}")
        memory = path.exact is not None and MEMORY.fullmatch(path.exact)
        if memory or (act.name in IN_A_FILE and is_temporary(path)):
            labels.add(IN_MEMORY)
        if "found" in path.labels:
            labels.add("found")
            if any(one.startswith(FOUND_IN) and OF_PERSON.match(one[len(FOUND_IN) :]) for one in path.labels):
                labels.add("of-person")
            folders = (one[len(FOUND_IN) :] for one in path.labels if one.startswith(FOUND_IN))
            labels |= {f"{OF_OUTSIDE}{one}" for one in folders if OUTSIDE.match(one)}
        return frozenset(labels)

    def _written(self, act: Act) -> frozenset[str]:
        emptied = act.kind == "write" and act.name.endswith(("write_text", "write_bytes"))
        if emptied and act.get("data").exact == "" and "found" in act.get("path").labels:
            act.fields["empties"] = text("yes")
        # In a folder of the person's it does not matter of what the new content is made.
        data = Value(labels=frozenset({"found"})) if _is_of_person(act.get("path")) else act.get("data")
        if act.kind == "write" and _is_rewritten(act.get("path"), data):
            act.fields["rewrites"] = text("yes")
        if (known := act.get("data").exact) is not None and len(known) <= LONGEST_SETTINGS and "=" in known:
            for setting in SETTING.finditer(known):
                note_written(self.trail, setting["name"], setting["value"], act.place)
        if "rewrites" in act.fields and _is_of_person(act.get("path")):
            act.fields["whose"] = text("person")
        piece = act.kind == "append" or act.name.endswith(("write", "writelines"))
        self._wrote(act.get("path"), act.get("data"), act.place, piece)
        return NO_LABELS

    def _opened(self, act: Act) -> frozenset[str]:
        """Follow up a file that is opened to change what is in it."""
        if act.get("mode").text in CHANGES_IT and "found" in act.get("path").labels:
            act.fields["rewrites"] = text("yes")
            if _is_of_person(act.get("path")):
                act.fields["whose"] = text("person")
        return NO_LABELS

    def _copied(self, act: Act) -> frozenset[str]:
        if act.kind == "link" or "link" in act.name:
            self.trail.own.replaced(act.get("path"), act.get("source"))
            (name,) = act.get("path").texts if len(act.get("path").texts) == 1 else ("",)
            # Of a temporary folder only the name is not known, and it is one.
            if name and (HOLE not in name or name.startswith("/tmp/")) and act.get("source").texts:
                self.trail.links[name.removeprefix("./").rstrip("/")] = act.get("source")
        labels = self._read(act, "source")
        content = Value(labels=labels | labels_of((self.content(act.get("source")),)))
        self._wrote(act.get("path"), content, act.place)
        return NO_LABELS

    def _fetched(self, act: Act) -> frozenset[str]:
        act.fields["data"] = act.get("data")
        if not is_absent(act.get("path")):
            self._wrote(act.get("path"), Value(labels=frozenset({Source.DOWNLOADED})), act.place)
        return frozenset({Source.DOWNLOADED})

    def _piped(self, act: Act) -> frozenset[str]:
        fields = act.get("to").fields or {}
        # What a shell says is known by what the other end is tied to.
        if (address := fields.get("address")) is not None and "process" not in labels_of((act.get("from"),)):
            self.trail.add("send", act.name, {"url": address, "data": act.get("from")}, act.place, act.labels)
        target = fields.get("path")
        if target is not None:
            self._wrote(target, Value(labels=labels_of((act.get("from"),))), act.place)
        return NO_LABELS

    def _walked(self, act: Act) -> frozenset[str]:
        names = act.get("names").exact
        labels = {"narrowed"} if names is not None and not set(names) <= set("*./") else set[str]()
        folder = next((known for known in act.get("path").texts if known.strip(HOLE)), "")
        if folder:
            labels.add(f"{FOUND_IN}{excerpt(folder, LONGEST_FOLDER)}")
            if "narrowed" in labels and names is not None:
                labels.add(f"{FOUND_AS}{excerpt(names, LONGEST_FOLDER)}")
        return frozenset(labels)

    def _made_ready(self, act: Act) -> frozenset[str]:
        """Follow up a file that is started or made executable; return labels for what it gives."""
        if act.kind == "chmod" and isinstance(mode := act.get("mode").number, int):
            act.fields["mode"] = text(f"{mode:o}")
        act.fields["origin"] = Value(labels=self.origin(act.get("path")))
        return NO_LABELS

    def _listed(self, act: Act) -> frozenset[str]:
        return act.get("path").labels | {"listed"}

    def _wrote(self, path: Value, data: Value, place: Place, piece: bool = False) -> None:
        """Remember what was written where; `piece` adds to what an open file has got already."""
        labels = labels_of((data,))
        for key in keys(path):
            self.trail.written.setdefault(key, set()).update(labels | {"written"})
            if data.exact is not None:
                self.trail.contents[key] = data
        if len(data.text) > 12 and path.texts:
            before = self.scripts.get(path.text)
            so_far = before[0] if before is not None and piece else ""
            if len(so_far) <= LONGEST_SCRIPT:
                self.scripts[path.text] = so_far + data.text, place

    def settle(self) -> None:
        """Take back that a file is emptied where the program makes or adds to it: that begins a file of its own."""
        own = {act.get("path").exact for act in self.trail.acts if act.kind in ("append", "make")}
        for act in self.trail.acts:
            if "empties" in act.fields and act.get("path").exact in own:
                del act.fields["empties"]

    def origin(self, path: Value) -> frozenset[str]:
        """Return the labels of what the program has written to `path`."""
        found: set[str] = set()
        for key in keys(path):
            found |= self.trail.written.get(key, set())
        return frozenset(found)

    def content(self, path: Value) -> Value:
        """Return what the program has written to `path`, where that is known."""
        for key in keys(path):
            if (known := self.trail.contents.get(key)) is not None:
                return known
        return UNKNOWN


FOLLOW_UPS: dict[str, Callable[[WrittenFiles, Act], frozenset[str]]] = {
    "read": WrittenFiles._read,
    "write": WrittenFiles._written,
    "append": WrittenFiles._written,
    "open": WrittenFiles._opened,
    "copy": WrittenFiles._copied,
    "move": WrittenFiles._copied,
    "link": WrittenFiles._copied,
    "fetch": WrittenFiles._fetched,
    "pipe-to": WrittenFiles._piped,
    "walk": WrittenFiles._walked,
    "chmod": WrittenFiles._made_ready,
    "start": WrittenFiles._made_ready,
    "listing": WrittenFiles._listed,
}
"""What follows from an act, by its kind."""
"""What follows from an act, by its kind."""


def is_temporary(path: Value) -> bool:
    """Return whether a path is surely one that the program has got for itself, in the folder for temporary files."""
    known = bool(path.texts) and all("/tmp/" in one and ".." not in one.split("/") for one in path.texts)
    return known and any(label.startswith(TEMPORARY) for label in path.labels)


def keys(path: Value) -> list[str]:
    """Return what a file is remembered by: its last name where it is known, else the variable that holds its path."""
    found = []
    for known in path.texts:
        base = known.replace("\\", "/").rstrip("/").rpartition("/")[2].strip("\"'")
        if base and base != HOLE:
            found.append(base)
    variables = [label for label in path.labels if label.startswith("$")]
    if path.fields is not None and "path" in path.fields:
        found += keys(path.fields["path"])
    return [*found, *variables]


CHANGES_IT = ("r+", "rb+", "r+b")
ITS_OWN = expression(r"/(?:tmp|workspace|dev|proc|var/tmp)(?:/|$)|~/\.cache(?:/|$)")
"""Folders for what is only kept for a while, and those of a sandbox."""


def _is_of_person(path: Value) -> bool:
    """Return whether a file was found in a folder outside of the one that the program works in."""
    if "path" in (path.fields or ()):
        path = (path.fields or {})["path"]
    folders = (one[len(FOUND_IN) :] for one in path.labels if one.startswith(FOUND_IN))
    return any(one[:1] in ("~", "/") and not ITS_OWN.match(one) for one in folders)


def _is_rewritten(path: Value, data: Value) -> bool:
    """Return whether a file that was found in a folder gets something made of what was read, in its own place."""
    if "path" in (path.fields or ()):
        path = (path.fields or {})["path"]
    if "found" not in path.labels or not labels_of((data,)) & {Source.FILE, "found"}:
        return False
    if path.name.endswith(("replace()", "sub()")) or "with_" in path.name:
        return False
    folders = [label[len(FOUND_IN) :].strip("./") for label in path.labels if label.startswith(FOUND_IN)]
    return not path.texts or any(
        known.endswith(HOLE)
        and any(known.partition(HOLE)[0].strip("./") in ("", folder) for folder in folders or ("",))
        for known in path.texts
    )
