"""What a plain JavaScript program may take of the language and its library, and what each of it does."""

from __future__ import annotations

from runner.risk.outline_data import words

MODULES = {
    "fs": "fs",
    "fs/promises": "fs.promises",
    "path": "path",
    "os": "os",
    "process": "process",
}
"""Modules that a plain program may load, by what they are called without `node:`."""
GLOBALS = words("console process Math JSON Number String Boolean Date Promise Object parseInt parseFloat isNaN")
"""Names that are there without being loaded, where the program does not declare them itself."""
EMPTY = words("undefined NaN Infinity __dirname __filename")
NAMES_OF = words("fs.readdirSync fs.promises.readdir")
ENTRIES_OF = words("fs.opendirSync fs.promises.opendir")
STATS = words("fs.statSync fs.lstatSync fs.promises.stat fs.promises.lstat")
DELETES = words(
    "fs.rmSync fs.rmdirSync fs.unlinkSync fs.rm fs.rmdir fs.unlink fs.promises.rm fs.promises.rmdir fs.promises.unlink"
)
JOINS = words("path.join path.resolve")
HARMLESS = words(
    "fs.existsSync fs.accessSync fs.mkdirSync fs.promises.access fs.promises.mkdir path.extname path.dirname "
    "path.isAbsolute path.relative path.normalize os.homedir os.tmpdir process.exit process.cwd console.log "
    "console.error console.warn console.info console.table Math.floor Math.round Math.ceil Math.max Math.min Math.abs "
    "JSON.stringify Number String Boolean parseInt parseFloat isNaN Promise.all Promise.allSettled Promise.resolve "
    "Object.keys Object.freeze path.basename fs.readFileSync fs.promises.readFile"
)
"""Functions that change nothing, and of whose result nothing is said."""
NAMED_AGAIN = frozenset(MODULES.values()) | NAMES_OF | ENTRIES_OF | STATS | DELETES | JOINS | HARMLESS
"""What a program may give another name."""
VALUES = words("path.sep process.argv process.env process.platform process.exitCode")
METHODS = words(
    "then catch finally has includes indexOf forEach map filter some every find sort toSorted reverse slice join "
    "split concat push startsWith endsWith match test trim toLowerCase toUpperCase toString toFixed padStart padEnd "
    "replace replaceAll isDirectory isFile isSymbolicLink getTime valueOf toISOString keys values entries at"
)
PROPERTIES = words("name length size message code stack")
CHANGED = words("mtimeMs ctimeMs")
CHANGED_DATES = words("mtime ctime")
ORDERS = words("sort toSorted reverse slice")
"""Methods that give the same things in another order, or fewer of them."""
LITERALS = words("true false null undefined regex string number")
ASSIGNMENTS = words("assignment_expression augmented_assignment_expression update_expression")
TYPES_ALONE = words("interface_declaration type_alias_declaration comment empty_statement hash_bang_line")
WITH_TYPES = words("as_expression satisfies_expression non_null_expression parenthesized_expression")
