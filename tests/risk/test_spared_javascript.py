"""What the sentence says of names and ages that a loop in JavaScript spares: where it holds, and nowhere else."""

from __future__ import annotations

import pytest

from runner.model.request import Language, Request, Tool
from runner.risk.assess import assess

HEAD = """const fs = require('fs');
const fsp = require('node:fs/promises');
const path = require('path');
const KEEP = new Set(['dist', 'docs']);
const DAY = 864e5;
"""
LEFT = ", except “dist” and “docs”."
OLD = "Deletes what is older than 7 days in “build”."


def javascript(code: str, head: str = HEAD) -> str:
    request = Request("id", "agent", Tool.CODE_EXECUTE, 0.0, Language.JAVASCRIPT, head + code)
    return assess(request).verdict.sentence


def loop(*lines: str, over: str = "fs.readdirSync('build')", before: str = "", path: str = "`build/${e}`") -> str:
    """Return a loop over a folder; each of `lines` stands in it."""
    inside = "\n".join(f"  {line}" for line in lines)
    return f"{before}\nfor (const e of {over}) {{\n  const p = {path};\n{inside}\n}}\n"


RM = "fs.rmSync(p, { recursive: true });"
KEPT = "if (KEEP.has(e)) continue;"
LEAVES_OUT = [
    loop(KEPT, RM),
    loop("if (!KEEP.has(e)) {", RM, "}"),
    loop("if (KEEP.has(e) || e.startsWith('.')) continue;", RM),
    loop("if (e === 'dist') continue;", "if ('docs' !== e) fs.rmSync(p);"),
    loop("switch (e) { case 'dist': case 'docs': continue; }", RM),
    loop("if (LIST.indexOf(e) >= 0) continue;", RM, before="const LIST = ['dist', 'docs'];"),
    loop("KEEP.has(e) || fs.unlinkSync(p);"),
    loop("try { if (KEEP.has(e)) continue;", RM, "} catch (error) { console.log(error.message); }"),
    loop(KEPT, RM, path="path.join(dir, e)", over="fs.readdirSync(dir).sort()", before="let dir = process.argv[2];"),
    loop(KEPT, "fs.unlinkSync(e);", over="fs.readdirSync('.')", path="1"),
    loop(
        "if (KEEP.has(e.name)) continue;",
        "fs.unlinkSync('build/' + e.name);",
        over="fs.readdirSync('build', { withFileTypes: true })",
        path="1",
    ),
    loop("if (kept(e)) continue;", RM, before="const kept = (name) => KEEP.has(name);"),
    loop(KEPT, "await fsp.rm(p);", over="await fsp.readdir('./build/')"),
    "for await (const e of await fsp.opendir('build')) { if (!KEEP.has(e.name)) await fsp.rm(`build/${e.name}`); }",
    "fs.readdirSync('build').filter((n) => !KEEP.has(n)).forEach((n) => fs.rmSync(`build/${n}`));",
    "const all = fs.readdirSync('build');\nconst old = all.filter((n) => { return !KEEP.has(n); });\n"
    "for (const n of old) fs.rmSync('build/' + n);",
    "fs.readdirSync('build').filter(n => !KEEP.has(n)).map(n => path.join('build', n)).forEach(p => fs.rmSync(p));",
    "async function main() { const all = await fsp.readdir('build');\nawait Promise.all(all.map(async (n) => {\n"
    "  if (KEEP.has(n)) return;\n  await fsp.rm(`build/${n}`);\n})); }\nmain().catch((error) => console.error(error));",
]
OLDER = [
    loop("if (Date.now() - fs.statSync(p).mtimeMs < 7 * 864e5) continue;", RM),
    loop("const s = await fsp.stat(p);", "if ((Date.now() - s.mtimeMs) / DAY <= 7) continue;", "await fsp.rm(p);"),
    loop("const s = fs.lstatSync(p);", "if (s.mtime.getTime() >= limit) continue;", RM)
    + "const limit = Date.now() - 7 * DAY;",
    loop("if (new Date() - fs.statSync(p).mtime > 7 * 24 * 60 * 60 * 1000) fs.rmSync(p, { recursive: true });"),
    loop(
        "if (!old(p)) continue;", RM, before="function old(f) { return Date.now() - fs.statSync(f).mtimeMs > 7 * DAY; }"
    ),
]
NOT_SPARED = [
    # another file, another order, another turn
    loop(RM, KEPT),
    loop("if (KEEP.has(e)) console.log(e);", RM),
    loop("if (KEEP.has(e) && e.length > 3) continue;", RM),
    loop("if (KEEP.has(e))", RM),
    loop(KEPT, "fs.rmSync('build');"),
    loop(KEPT, RM, path="path.join('build', e, '..')"),
    loop(KEPT, RM, path="`build/${e}/..`"),
    loop(KEPT, RM, path="`other/${e}`", before="fs.readdirSync('other').forEach((n) => fs.rmSync('other/' + n));"),
    loop("if (KEEP.has(p)) continue;", RM),
    loop("q = p;", KEPT, "setTimeout(() => fs.rmSync(q), 9);", before="let q;"),
    loop("skip: { if (KEEP.has(e)) break skip; }", RM),
    loop("switch (1) { case 1: if (KEEP.has(e)) break; }", RM),
    loop("switch (e) { case 'dist': case 'docs': break; }", RM),
    loop("(() => { if (KEEP.has(e)) return; })();", RM),
    loop("for (const o of [1]) { if (KEEP.has(e)) continue; }", RM),
    loop("try { if (KEEP.has(e)) continue; } finally { fs.rmSync(p); }"),
    "for (const e in fs.readdirSync('build')) { if (KEEP.has(e)) continue; fs.rmSync(`build/${e}`); }",
    "fs.readdirSync('build').filter(async (n) => !KEEP.has(n)).forEach((n) => fs.rmSync(`build/${n}`));",
    "const all = fs.readdirSync('build').filter((n) => !KEEP.has(n));\nall.push('dist');\n"
    "for (const n of all) fs.rmSync('build/' + n);",
    "let f;\nfs.readdirSync('build').map(async (e) => {\n  f = `build/${e}`;\n  if (KEEP.has(e)) return;\n  await 1;\n"
    "  fs.rmSync(f);\n});",
    # names that change, or are none
    loop(KEPT, RM, before="KEEP.clear();"),
    loop(KEPT, RM, before="Set.prototype.has = () => false;"),
    loop(KEPT, RM, before="const K = KEEP; K.delete('dist');"),
    loop("if (LIST.includes(e)) continue;", RM, before="const LIST = ['dist', ...process.argv];"),
    loop("if (LIST.includes(e)) continue;", RM, before="const LIST = ['dist']; LIST.length = 0;"),
    loop("if (LIST.includes(e)) continue;", RM, before="let LIST = ['dist']; LIST = [];"),
    loop("if (['dist'].includes(e, 1)) continue;", RM),
    loop("if ('dist docs'.includes(e)) continue;", RM),
    loop("if (new Set('dist').has(e)) continue;", RM),
    loop("if (['d\\u0456st', 'dist/', ''].includes(e)) continue;", RM),
    loop(KEPT, RM, over="fs.readdirSync('build', { encoding: 'buffer' })"),
    loop(KEPT, "fs.rmSync(`build/${e.name}`);", over="fs.readdirSync('build', { withFileTypes: true })"),
    loop(KEPT, RM, over="fs.readdirSync('build', { recursive: true })"),
    loop("if (KEEP.has(e.name)) continue;", RM),
    loop(KEPT, RM, before="fs.renameSync('build/dist', 'build/x');"),
    loop(KEPT, RM, before="require('./patch');"),
    loop(KEPT, RM, before="eval(process.argv[2]);"),
    loop(KEPT, RM, before="''['constructor']['constructor']('KEEP.clear()')();"),
    loop(KEPT, RM, before="if (KEEP) {} else /* no */ { globalThis.x = 1; }"),
    loop(KEPT, RM, before="if (!KEEP) {} else /* so */ { KEEP.clear(); }"),
    loop(KEPT, RM, before="for (let i = 0; i < 1 && KEEP.clear(); i++) {}"),
    loop(KEPT, RM, before="process.chdir('..');"),
    loop("if (kept(e)) RM();", before="const kept = (n) => KEEP.has(n); const RM = () => fs.rmSync('build');"),
    loop("if (!lost(e)) continue;", RM, before="async function lost(n) { return !KEEP.has(n); }"),
    # ages
    loop("if (Date.now() - fs.statSync(p).mtimeMs > 7 * DAY) continue;", RM),
    loop("if (Date.now() - fsp.stat(p).mtimeMs < 7 * DAY) continue;", RM),
    loop("if (Date.now() - fs.statSync(p).birthtimeMs < 7 * DAY) continue;", RM),
    loop("if (Date.now() - fs.statSync(p).size < 7 * DAY) continue;", RM),
    loop("if (Date.now() - fs.statSync('build').mtimeMs < 7 * DAY) continue;", RM),
    loop("if (fs.statSync(p).mtime + 7 * DAY > Date.now()) continue;", RM),
    loop("if (Date.now() - fs.statSync(p).mtimeMs < WEEK) continue;", RM, before="const WEEK = '7' + DAY;"),
    loop(
        "if (Date.now() - fs.statSync(p).mtimeMs < 7 * DAY) continue;", RM, before="const Date = { now: () => 9e15 };"
    ),
    loop("fs.utimesSync(p, 0, 0);", "if (Date.now() - fs.statSync(p).mtimeMs < 7 * DAY) continue;", RM),
    loop(
        "if (!old(p)) continue;",
        RM,
        before="async function old(f) { return Date.now() - fs.statSync(f).mtimeMs > 9e9; }",
    ),
]


@pytest.mark.parametrize("code", LEAVES_OUT, ids=range(len(LEAVES_OUT)))
def test_names_that_a_loop_leaves_out(code: str) -> None:
    assert javascript(code).endswith(LEFT)


@pytest.mark.parametrize("code", OLDER, ids=range(len(OLDER)))
def test_the_age_from_which_on_a_loop_deletes(code: str) -> None:
    assert javascript(code) == OLD


@pytest.mark.parametrize("code", NOT_SPARED, ids=range(len(NOT_SPARED)))
def test_nothing_is_said_to_be_spared_that_may_be_deleted(code: str) -> None:
    said = javascript(code)
    assert "eletes" in said
    assert not any(word in said for word in (", except", " older than"))


def test_typescript_and_names_imported_one_by_one() -> None:
    code = """import { readdirSync as list, rmSync } from "node:fs";
import { join } from "path";
interface Named { name: string }
const KEEP: string[] = Object.freeze(["dist", "docs"]) as string[];
const kept = (name: string): boolean => KEEP.includes(name);
for (const name of list("build") as string[]) {
  if (kept(name)) continue;
  rmSync(join("build", name), { recursive: true });
}
"""
    assert javascript(code, "") == f"Deletes what it finds in “build”{LEFT}"
    other = code.replace('join("build", name)', 'join("other", name)')
    assert ", except" not in javascript(other, "")


def test_both_at_once() -> None:
    both = loop(
        KEPT,
        "if (Date.now() - fs.statSync(p).mtimeMs < 7 * 864e5) continue;",
        RM,
        over="fs.readdirSync(dir)",
        path="path.join(dir, e)",
        before="const dir = process.env.BUILD_ROOT || '.';",
    )
    assert javascript(both) == (
        "Deletes what is older than 7 days in its working folder, or where BUILD_ROOT points, except “dist” and “docs”."
    )


def test_programs_made_to_be_costly_are_left_alone() -> None:
    nested = "(" * 90 + "1" + ")" * 90
    chained = " + ".join(f"'{n}'" for n in range(3_000))
    assert "eletes" in javascript(loop(KEPT, RM, before=f"const a = {nested};"))
    assert "eletes" in javascript(loop(KEPT, RM, before=f"const a = {chained};"))
    many = "".join(f"const a{n} = [{n}];\n" for n in range(9_000))
    assert ", except" not in javascript(loop(KEPT, RM, before=many))
