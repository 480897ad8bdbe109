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
from typing import TYPE_CHECKING, NamedTuple

from runner.model.expression import expression
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
TAKES_AWAY = words(
    "rm mv ln unlink find cp install rsync tar dd truncate tee shred sed chmod chown rmdir source eval cd pushd popd "
    "hash sudo doas env mount unzip git perl python python3 node ruby wget curl exec"
)
"""Commands that may change what stands in a folder, or what a name stands for."""
OF_EXIT = expression(r"trap .{0,300} EXIT")
ALSO_SAYS = ONLY_SAY | words("exit seq sleep date")


class StandIn(NamedTuple):
    """A program of the script's own: its text, and the line after which it is in force."""

    body: str
    line: int


def stand_ins(root: Node) -> dict[str, StandIn]:
    """Return the programs in the place of which there surely are files of the script, by name."""
    whole = source(root)
    if "mktemp -d" not in whole or "PATH=" not in whole or GOES_AROUND.search(whole.replace("\\n", "")) is not None:
        return {}
    nodes = root.named_children
    sets = [(node, found) for node in nodes if (found := SETS.fullmatch(source(node).strip())) is not None]
    if len(sets) != 1 or len(SETTERS.findall(whole)) != len(SETTERS.findall(source(sets[0][0]))):
        return {}
    setting, found = sets[0]
    name, prefix = found["name"], _plain(found["prefix"])
    if not _is_made_once(nodes, whole, name):
        return {}
    written = dict(_written(nodes, prefix))
    may_run = {path: node for node in nodes for path in _made_ready(node)}
    known: dict[str, StandIn] = {}
    for program, (node, body) in written.items():
        ready = may_run.get(f"{prefix}/{program}") or may_run.get(f"{prefix}/*")
        if ready is None or not (node.end_byte <= ready.start_byte) or not _only_says(body):
            continue
        part = {node.start_byte, ready.start_byte, setting.start_byte}
        if _stays(nodes, part | {one.start_byte for one, _ in written.values()}, name, found["below"]):
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
    if root.has_error or GOES_AROUND.search(body) is not None or "$(" in body or "`" in body or "<(" in body:
        return False
    return all(source(name) in ALSO_SAYS for name in commands_of(root))


def _stays(nodes: list[Node], part: set[int], name: str, below: str) -> bool:
    """Return whether no statement but those of the `part` may take a file below the folder away, or change it."""
    first = below.strip("/").partition("/")[0]
    for at, node in enumerate(nodes):
        written = source(node).strip()
        if node.start_byte in part or _made_ready(node) or OF_EXIT.fullmatch(written) is not None:
            continue
        if _is_plain_end(nodes[at:], name):
            return True
        if any(source(one) in TAKES_AWAY or "/" in source(one) or "$" in source(one) for one in commands_of(node)):
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
