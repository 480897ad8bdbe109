"""Ways to reach a function in JavaScript, and to rewrite a whole program."""

from __future__ import annotations

import base64
import re
import shlex
from typing import TYPE_CHECKING

from tests.risk.disguises.javascript_places import call_step, module_step, owner_and_name, quoted
from tests.risk.disguises.step import Pattern, all_of, steps

if TYPE_CHECKING:
    from tests.risk.disguises.step import Maker


def computed_member(function: str, maker: Maker) -> str:
    """a['b']"""
    owner, name = owner_and_name(function)
    return f"{owner}['{name}']"


def computed_in_pieces(function: str, maker: Maker) -> str:
    """a['b' + 'c']"""
    owner, name = owner_and_name(function)
    one, two = maker.cut(name)
    return f"{owner}['{one}' + '{two}']"


def escaped_member(function: str, maker: Maker) -> str:
    r"""a.\u0062"""
    owner, name = owner_and_name(function)
    return f"{owner}.\\u{ord(name[0]):04x}{name[1:]}"


def optional_chain(function: str, maker: Maker) -> str:
    """a?.b"""
    owner, name = owner_and_name(function)
    return f"{owner}?.{name}"


def by_reflect(function: str, maker: Maker) -> str:
    """Reflect.get(a, 'b')"""
    owner, name = owner_and_name(function)
    return f"Reflect.get({owner}, '{name}')"


def bound(function: str, maker: Maker) -> str:
    """a.b.bind(a)"""
    return f"{function}.bind({owner_and_name(function)[0]})"


def bound_call(function: str, maker: Maker) -> str:
    """Function.prototype.call.bind(a.b, a)"""
    return f"Function.prototype.call.bind({function}, {owner_and_name(function)[0]})"


def by_apply(function: str, maker: Maker) -> str:
    """((...a) => a.b.apply(a, a))"""
    return f"((...a) => {function}.apply({owner_and_name(function)[0]}, a))"


def by_call(function: str, maker: Maker) -> str:
    """((...a) => a.b.call(a, ...a))"""
    return f"((...a) => {function}.call({owner_and_name(function)[0]}, ...a))"


def by_reflect_apply(function: str, maker: Maker) -> str:
    """((...a) => Reflect.apply(a.b, a, a))"""
    return f"((...a) => Reflect.apply({function}, {owner_and_name(function)[0]}, a))"


def by_function(function: str, maker: Maker) -> str:
    """(function () { return a.b.apply(a, arguments); })"""
    return f"(function () {{ return {function}.apply({owner_and_name(function)[0]}, arguments); }})"


def proxied_module(function: str, maker: Maker) -> str:
    """new Proxy({}, { get: (t, n) => a[n] }).b"""
    owner, name = owner_and_name(function)
    return f"new Proxy({{}}, {{ get: (t, n) => {owner}[n] }}).{name}"


def destructured_function(function: str, maker: Maker) -> str:
    """(({ b: f }) => f)(a)"""
    owner, name = owner_and_name(function)
    return f"(({{ {name}: f }}) => f)({owner})"


def created_from(function: str, maker: Maker) -> str:
    """Object.create(a).b"""
    owner, name = owner_and_name(function)
    return f"Object.create({owner}).{name}"


CALL_STEPS = all_of(
    (
        computed_member,
        computed_in_pieces,
        escaped_member,
        optional_chain,
        by_reflect,
        bound,
        bound_call,
        Pattern("by arrow", "((...a) => IT(...a))"),
        by_apply,
        by_call,
        by_reflect_apply,
        by_function,
        Pattern("in an array", "[IT][0]"),
        Pattern("in an object", "({ k: IT }).k"),
        Pattern("in a map", "new Map([['k', IT]]).get('k')"),
        Pattern("proxied", "new Proxy(IT, {})"),
        proxied_module,
        Pattern("applying proxy", "new Proxy(function () {}, { apply: (t, s, a) => IT(...a) })"),
        Pattern("by getter", "({ get go() { return IT; } }).go"),
        Pattern("static member", "(class { static go = IT; }).go"),
        Pattern("method", "new (class { go(...a) { return IT(...a); } })().go"),
        Pattern("default argument function", "((f = IT) => f)()"),
        destructured_function,
        Pattern("by comma", "(0, IT)"),
        Pattern("chosen", "(true ? IT : null)"),
        Pattern("either of", "(null || IT)"),
        Pattern("next of a generator", "(function* () { yield IT; })().next().value"),
        Pattern("thrown function", "(() => { try { throw IT; } catch (e) { return e; } })()"),
        Pattern("assigned to an object", "Object.assign({}, { go: IT }).go"),
        created_from,
        Pattern("defined property", "Object.defineProperty({}, 'go', { value: IT }).go"),
        Pattern("found in entries", "Object.entries({ go: IT })[0][1]"),
    ),
    call_step,
)


MODULE_STEPS = all_of(
    (
        Pattern("module require", "module.require"),
        Pattern("created require", "require('module').createRequire(process.cwd() + '/x.js')"),
        Pattern("aliased require", "NAME", before="const NAME = require;"),
        Pattern("wrapped require", "NAME", before="const NAME = n => require(n);"),
        Pattern("comma require", "(0, require)"),
    ),
    module_step,
)


def in_a_static_block(code: str, maker: Maker) -> str:
    """(class { static { ... } })"""
    return f"(class {{ static {{\n{code}\n}} }});" if "await" not in code and "arguments" not in code else code


def unusual_space(code: str, maker: Maker) -> str:
    """No-break spaces and comments between words."""
    return re.sub(r"^(const|let|var) (\w+) = ", "\\1\u00a0\\2/**/=/**/", code, flags=re.MULTILINE)


def encoded(code: str, maker: Maker) -> str:
    """eval(Buffer.from('...', 'base64').toString())"""
    return f"eval(Buffer.from('{base64.b64encode(code.encode()).decode()}', 'base64').toString());"


def in_a_context(code: str, maker: Maker) -> str:
    """require('vm').runInThisContext('(function (require) { ... })')(require)"""
    whole = quoted(f"(function (require, module) {{\n{code}\n}})")
    return f"require('vm').runInThisContext({whole})(require, module);"


def in_another_process(code: str, maker: Maker) -> str:
    """require('child_process').execFileSync(process.execPath, ['-e', '...'])"""
    listed = f"['-e', {quoted(code)}], {{ stdio: 'inherit' }}"
    return f"require('child_process').execFileSync(process.execPath, {listed});"


def in_a_shell(code: str, maker: Maker) -> str:
    """require('child_process').execSync("node -e '...'")"""
    command = quoted(f"node -e {shlex.quote(code)}")
    return f"require('child_process').execSync({command}, {{ stdio: 'inherit' }});"


def in_python(code: str, maker: Maker) -> str:
    """python3 -c '...', which starts node again"""
    script = quoted(f"import subprocess\nsubprocess.run(['node', '-e', {code!r}])")
    return f"require('child_process').spawnSync('python3', ['-c', {script}], {{ stdio: 'inherit' }});"


PROGRAM_STEPS = (
    *steps(
        Pattern("in a function", "(function () {\nIT\n})();"),
        Pattern("in an arrow", "(() => {\nIT\n})();"),
        Pattern("in an async function", "(async () => {\nawait null;\nIT\n})();"),
        Pattern("in a promise", "Promise.resolve().then(() => {\nIT\n});"),
        Pattern("in a new promise", "new Promise((done) => {\nIT\ndone();\n});"),
        Pattern("in a timer", "setTimeout(() => {\nIT\n}, 1);"),
        Pattern("in a next tick", "process.nextTick(() => {\nIT\n});"),
        Pattern("in a microtask", "queueMicrotask(() => {\nIT\n});"),
        Pattern(
            "in an event", "const NAME = new (require('events'))();\nNAME.once('go', () => {\nIT\n});\nNAME.emit('go');"
        ),
        Pattern("in a constructor", "new (class { constructor() {\nIT\n} })();"),
        in_a_static_block,
        Pattern("in a getter", "({ get a() {\nIT\n} }).a;"),
        Pattern("in a setter", "({ set a(v) {\nIT\n} }).a = 1;"),
        Pattern("in a generator", "(function* () {\nIT\n})().next();"),
        Pattern("in a for each", "[0].forEach(() => {\nIT\n});"),
        Pattern("in a reduce", "[0, 0].reduce(() => {\nIT\n});"),
        Pattern("in a sort", "[1, 0].sort(() => {\nIT\nreturn 0;\n});"),
        Pattern("in a replacement", "'a'.replace('a', () => {\nIT\nreturn '';\n});"),
        Pattern("in a catch", "try { throw 1; } catch (_) {\nIT\n}"),
        Pattern("in a finally", "try { } finally {\nIT\n}"),
        Pattern("in a branch", "if (process.pid) {\nIT\n}"),
        Pattern("in a switch", "switch (1) { case 1: {\nIT\n} }"),
        Pattern("in a loop", "for (let NAME = 0; NAME < 1; NAME++) {\nIT\n}"),
        Pattern("in a label", "NAME: {\nIT\nbreak NAME;\n}"),
        Pattern("in a conversion", "+{ valueOf() {\nIT\nreturn 0;\n} };"),
        Pattern("in a thenable", "Promise.resolve({ then(done) {\nIT\ndone();\n} });"),
        Pattern("in an iterator", "[...{ *[Symbol.iterator]() {\nIT\n} }];"),
        unusual_space,
    ),
    *steps(
        Pattern("evaluated", "eval(IT);", write=quoted),
        Pattern("made into a function", "new Function('require', 'module', IT)(require, module);", write=quoted),
        Pattern("by constructor", "(() => {}).constructor('require', 'module', IT)(require, module);", write=quoted),
        encoded,
        in_a_context,
        in_another_process,
        in_a_shell,
        in_python,
        hides=True,
    ),
)
