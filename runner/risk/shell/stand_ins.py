"""Programs of a script's own in a temporary folder that it puts first into PATH, in the place of real ones.

    lab=$(mktemp -d)
    cat > "$lab/bin/zfs" <<'EOF'
    echo "zfs $*" >> "$CALLS"
    EOF
    chmod +x "$lab/bin/zfs"
    export PATH="$lab/bin:$PATH"

After these lines `zfs` is that file, where nothing in the script can take it away again, and it only says what it was
called with. All of this is asked of the text of the script: what is not plain is no stand-in.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from runner.model.expression import expression
from runner.risk.model.held import until_forgotten
from runner.risk.model.outline_data import words
from runner.risk.shell.replaced import GOES_AROUND, ONLY_SAY, commands_of
from runner.risk.shell.syntax import parse, source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

SETS = expression(
    r"(?:export )?PATH=\"?(?P<prefix>\$\{?(?P<name>[A-Za-z_]\w{0,40})\}?(?P<below>(?:/[\w-]{1,40}){0,4}))"
    r":\$\{?PATH\}?\"?"
)
SETTERS = expression(r"(?<![\w])PATH\b")
WRITES = expression(r"cat >\s?\"?(?P<path>\$[\w{}/.-]{1,120})\"? <<-?\s?['\"](?P<end>\w{1,20})['\"]\n")
"""The first line of a command that writes a file which stands in the script as it is."""
MAY_RUN = expression(r"chmod (?:\+x|a\+x|u\+x|0?7[0-7]5|0?700)(?P<paths>(?: \"?\$[\w{}/.*-]{1,120}\"?){1,12})")
OF_EXIT = expression(r"trap (?:'[^']{0,300}'|\"[^\"]{0,300}\"|[a-z_]{1,40}) EXIT")
ALSO_SAYS = ONLY_SAY | words("exit seq sleep date")
LEAVES_ALONE = (ALSO_SAYS - {"tee", "."}) | words(
    "mkdir mktemp export readonly set diff cmp grep egrep fgrep wc head tail cut tr jq sha256sum md5sum basename "
    "dirname ls stat read wait ["
)
"""Commands that change nothing in a folder except in the files that their options name, and start nothing."""
PLAIN_NAME = expression(r"-[a-moq-uw-z]{1,3}|[A-Za-z_]\w{0,40}")
"""A word of `read` that names a variable, or an option of it; `-n` of others makes one name stand for another."""
INDIRECT = expression(
    r"\$\{!|\$\{\w{1,60}(?:[%#/^,@]|:(?![-+=?]))|\bprintf\s{1,9}(?:-\S{1,9}\s{1,9})*-v|\bHOME=|\bIFS="
)
"""Ways to a name or a path that does not stand in the script."""
SHELLS = expression(r"#!\s?/(?:usr/)?bin/(?:env )?(?:ba|da)?sh\n")
INSTALLS = words("cat chmod mkdir mktemp export trap")
"""Commands by which a program is put in place; a function of such a name would do something else."""
FREE = expression(r"\d|/dev/null|[\w-][\w.-]{0,100}")
"""Targets of a redirection that are no file of the folder: a descriptor, and a file where the script stands."""
RANDOM_OTHERWISE = expression(r"(?<![$\{])\b(?:RANDOM|BASHPID)\b|\$\{(?:RANDOM|BASHPID|\$)[^}]")
OF_ITSELF = expression(r"\$\{?(?:0|_\b|BASH)|/tmp\b")


class StandIn(NamedTuple):
    """A program of the script's own: its text, and the line after which it is in force."""

    body: str
    line: int


def stand_ins(root: Node) -> dict[str, StandIn]:
    """Return the programs in the place of which there surely are files of the script, by name."""
    whole = source(root)
    if "mktemp -d" not in whole or "PATH=" not in whole or GOES_AROUND.search(whole.replace("\\n", "")) is not None:
        return {}
    if INDIRECT.search(whole) is not None or not INSTALLS.isdisjoint(_functions_of(root)):
        return {}
    nodes = root.named_children
    sets = [(node, found) for node in nodes if (found := SETS.fullmatch(source(node).strip())) is not None]
    if len(sets) != 1 or len(SETTERS.findall(whole)) != len(SETTERS.findall(source(sets[0][0]))):
        return {}
    setting, found = sets[0]
    name, prefix = found["name"], _plain(found["prefix"])
    if not _is_made_once(nodes, whole, name):
        return {}
    made = re.compile(rf"mkdir (?:-p )?\"?{re.escape(found['prefix'])}\"?")
    if found["below"] and not any(made.fullmatch(source(node).strip()) for node in nodes):
        return {}
    written = dict(_written(nodes, prefix))
    may_run = {path: node for node in nodes for path in _made_ready(node)}
    known: dict[str, StandIn] = {}
    own = _functions_of(root) | written.keys()
    for program, (node, body) in written.items():
        ready = may_run.get(f"{prefix}/{program}") or may_run.get(f"{prefix}/*")
        if ready is None or not (node.end_byte <= ready.start_byte) or not _only_says(body):
            continue
        part = {node.start_byte, ready.start_byte, setting.start_byte}
        parts = part | {one.start_byte for one, _ in written.values()}
        if _stays(nodes, parts, name, found["below"], own, whole):
            known[program] = StandIn(body, max(one.end_point[0] for one in (node, ready, setting)) + 1)
    return known


def _plain(path: str) -> str:
    return path.replace("{", "").replace("}", "")


def _is_made_once(nodes: list[Node], whole: str, name: str) -> bool:
    """Return whether a variable is set once, to a temporary folder that is made there."""
    made = re.compile(rf"{name}=\"?\$\(mktemp -d(?: -t)?(?: [\w./-]{{0,60}}X{{3,20}})?\)\"?")
    if sum(made.fullmatch(source(node).strip()) is not None for node in nodes) != 1:
        return False
    return len(re.findall(rf"(?<![$\w{{]){name}\b|\{{{name}[^}}]", whole)) == 1


def _written(nodes: list[Node], prefix: str) -> Iterator[tuple[str, tuple[Node, str]]]:
    """Yield the files in a folder that are written as they stand, each once."""
    seen: set[str] = set()
    for node in nodes:
        written = source(node).strip()
        found = WRITES.match(written) if node.type == "redirected_statement" else None
        if found is None:
            continue
        body, _, end = written[found.end() :].rpartition("\n")
        folder, _, name = _plain(found["path"]).rpartition("/")
        if end.strip() != found["end"]:
            continue
        if folder == prefix and re.fullmatch(r"[a-z][\w.-]{0,40}", name) and name not in seen:
            yield name, (node, body)
        seen.add(name)


def _made_ready(node: Node) -> list[str]:
    found = MAY_RUN.fullmatch(source(node).strip()) if node.type == "command" else None
    return [_plain(one.strip('"')) for one in found["paths"].split()] if found is not None else []


def _only_says(body: str) -> bool:
    """Return whether a script prints, and starts nothing else."""
    root = parse(body)
    if body.startswith("#!") and SHELLS.match(body) is None:
        return False
    if OF_ITSELF.search(body) is not None:
        return False
    if root.has_error or GOES_AROUND.search(body) is not None or "$(" in body or "`" in body or "<(" in body:
        return False
    return all(source(name) in ALSO_SAYS for name in commands_of(root))


def _stays(nodes: list[Node], part: set[int], name: str, below: str, own: frozenset[str], whole: str) -> bool:
    """Return whether no statement but those of the `part` may take a file below the folder away, or change it."""
    first = below.strip("/").partition("/")[0]
    for at, node in enumerate(nodes):
        written = source(node).strip()
        if node.start_byte in part or _made_ready(node) or OF_EXIT.fullmatch(written) is not None:
            continue
        if _is_plain_end(nodes[at:], name):
            return True
        if any(source(one) not in LEAVES_ALONE and source(one) not in own for one in commands_of(node)):
            return False
        if not _names_are_plain(node) or not _writes_elsewhere(node, name, whole):
            return False
        for mention in re.finditer(rf"\$\{{?{name}\b\}}?(?P<rest>/[\w.-]+)?(?P<more>[/$*?\[{{]?)", written):
            rest, is_folder = mention["rest"] or "", written.startswith(("mkdir ", f"{name}="))
            if is_folder:
                continue
            if not rest or mention["more"] or not first or rest == f"/{first}" or ".." in rest:
                return False
    return True


def _is_plain_end(nodes: list[Node], name: str) -> bool:
    """Return whether what is left of a script removes the folder and says something."""
    removes = re.fullmatch(rf"rm -r?f?r? \"?\$\{{?{name}\}}?\"?", source(nodes[0]).strip())
    return removes is not None and all(source(one) in ALSO_SAYS for node in nodes[1:] for one in commands_of(node))


def keeps_random(whole: str) -> bool:
    """Return whether a script takes its random numbers whole, `$RANDOM`, and does not set where they come from."""
    return not RANDOM_OTHERWISE.search(whole)


def _functions_of(root: Node) -> frozenset[str]:
    """Return the names of the functions that a script defines, wherever that is."""
    names = (one.child_by_field_name("name") for one in _parts_of(root, "function_definition"))
    return frozenset(source(name) for name in names if name is not None)


def _parts_of(root: Node, *kinds: str) -> Iterator[Node]:
    """Yield the nodes of some kinds at a node and below."""
    left = [root]
    while left:
        one = left.pop()
        if one.type in kinds:
            yield one
        left += one.named_children


def _names_are_plain(node: Node) -> bool:
    """Return whether each variable that is set there has its name in the script."""
    for one in _parts_of(node, "declaration_command"):
        for part in one.named_children:
            if part.type not in ("variable_assignment", "variable_name") and PLAIN_NAME.fullmatch(source(part)) is None:
                return False
    for one in _parts_of(node, "command"):
        name, *rest = one.named_children
        words_of = [part for part in rest if not part.type.endswith("redirect")]
        if source(name) == "read" and not all(PLAIN_NAME.fullmatch(source(part)) for part in words_of):
            return False
    return True


def _writes_elsewhere(node: Node, name: str, whole: str) -> bool:
    """Return whether what is redirected there goes to a file of which the script says which it is."""
    for one in _parts_of(node, "file_redirect"):
        target = source(one.named_children[-1]).strip('"')
        of_folder = re.fullmatch(rf"\$\{{?{name}\}}?/[\w./-]{{1,80}}", target)
        through = re.fullmatch(r"\$\{?(\w{1,40})\}?", target)
        if FREE.fullmatch(target) is not None or of_folder is not None:
            continue
        if through is None or not _stands_below(through[1], name, whole):
            return False
    return True


@lru_cache(maxsize=50)
def _stands_below(through: str, name: str, whole: str) -> bool:
    """Return whether a variable is set once, to a path below the folder; asked for each redirection of one script."""
    if len(re.findall(rf"(?<![$\w{{]){through}=", whole)) != 1:
        return False
    return re.search(rf"(?m:^)(?:export )?{through}=\"?\$\{{?{name}\}}?/[\w./-]{{1,80}}\"?(?m:$)", whole) is not None


until_forgotten(_stands_below.cache_clear)
