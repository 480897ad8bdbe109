"""Ways to reach a function in JavaScript, and to rewrite a whole program."""

from __future__ import annotations

import base64
import re
import shlex
from typing import TYPE_CHECKING

from tests.risk.disguises.javascript_places import call_step, module_step, owner_and_name, quoted
from tests.risk.disguises.step import all_of, steps

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


def by_arrow(function: str, maker: Maker) -> str:
    """((...a) => a.b(...a))"""
    return f"((...a) => {function}(...a))"


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


def in_an_array(function: str, maker: Maker) -> str:
    """[a.b][0]"""
    return f"[{function}][0]"


def in_an_object(function: str, maker: Maker) -> str:
    """({ k: a.b }).k"""
    return f"({{ k: {function} }}).k"


def in_a_map(function: str, maker: Maker) -> str:
    """new Map([['k', a.b]]).get('k')"""
    return f"new Map([['k', {function}]]).get('k')"


def proxied(function: str, maker: Maker) -> str:
    """new Proxy(a.b, {})"""
    return f"new Proxy({function}, {{}})"


def proxied_module(function: str, maker: Maker) -> str:
    """new Proxy({}, { get: (t, n) => a[n] }).b"""
    owner, name = owner_and_name(function)
    return f"new Proxy({{}}, {{ get: (t, n) => {owner}[n] }}).{name}"


def applying_proxy(function: str, maker: Maker) -> str:
    """new Proxy(function () {}, { apply: (t, s, a) => a.b(...a) })"""
    return f"new Proxy(function () {{}}, {{ apply: (t, s, a) => {function}(...a) }})"


def by_getter(function: str, maker: Maker) -> str:
    """({ get go() { return a.b; } }).go"""
    return f"({{ get go() {{ return {function}; }} }}).go"


def static_member(function: str, maker: Maker) -> str:
    """(class { static go = a.b; }).go"""
    return f"(class {{ static go = {function}; }}).go"


def method(function: str, maker: Maker) -> str:
    """new (class { go(...a) { return a.b(...a); } })().go"""
    return f"new (class {{ go(...a) {{ return {function}(...a); }} }})().go"


def default_argument_function(function: str, maker: Maker) -> str:
    """((f = a.b) => f)()"""
    return f"((f = {function}) => f)()"


def destructured_function(function: str, maker: Maker) -> str:
    """(({ b: f }) => f)(a)"""
    owner, name = owner_and_name(function)
    return f"(({{ {name}: f }}) => f)({owner})"


def by_comma(function: str, maker: Maker) -> str:
    """(0, a.b)"""
    return f"(0, {function})"


def chosen(function: str, maker: Maker) -> str:
    """(true ? a.b : null)"""
    return f"(true ? {function} : null)"


def either_of(function: str, maker: Maker) -> str:
    """(null || a.b)"""
    return f"(null || {function})"


def next_of_a_generator(function: str, maker: Maker) -> str:
    """(function* () { yield a.b; })().next().value"""
    return f"(function* () {{ yield {function}; }})().next().value"


def thrown_function(function: str, maker: Maker) -> str:
    """(() => { try { throw a.b; } catch (e) { return e; } })()"""
    return f"(() => {{ try {{ throw {function}; }} catch (e) {{ return e; }} }})()"


def assigned_to_an_object(function: str, maker: Maker) -> str:
    """Object.assign({}, { go: a.b }).go"""
    return f"Object.assign({{}}, {{ go: {function} }}).go"


def created_from(function: str, maker: Maker) -> str:
    """Object.create(a).b"""
    owner, name = owner_and_name(function)
    return f"Object.create({owner}).{name}"


def defined_property(function: str, maker: Maker) -> str:
    """Object.defineProperty({}, 'go', { value: a.b }).go"""
    return f"Object.defineProperty({{}}, 'go', {{ value: {function} }}).go"


def found_in_entries(function: str, maker: Maker) -> str:
    """Object.entries({ go: a.b })[0][1]"""
    return f"Object.entries({{ go: {function} }})[0][1]"


CALL_STEPS = all_of(
    (
        computed_member,
        computed_in_pieces,
        escaped_member,
        optional_chain,
        by_reflect,
        bound,
        bound_call,
        by_arrow,
        by_apply,
        by_call,
        by_reflect_apply,
        by_function,
        in_an_array,
        in_an_object,
        in_a_map,
        proxied,
        proxied_module,
        applying_proxy,
        by_getter,
        static_member,
        method,
        default_argument_function,
        destructured_function,
        by_comma,
        chosen,
        either_of,
        next_of_a_generator,
        thrown_function,
        assigned_to_an_object,
        created_from,
        defined_property,
        found_in_entries,
    ),
    call_step,
)


def module_require(function: str, maker: Maker) -> str:
    """module.require('a')"""
    return "module.require"


def created_require(function: str, maker: Maker) -> str:
    """require('module').createRequire('/')('a')"""
    return "require('module').createRequire(process.cwd() + '/x.js')"


def aliased_require(function: str, maker: Maker) -> str:
    """const r = require; r('a')"""
    name = maker.name()
    maker.before(f"const {name} = require;")
    return name


def wrapped_require(function: str, maker: Maker) -> str:
    """const r = n => require(n); r('a')"""
    name = maker.name()
    maker.before(f"const {name} = n => require(n);")
    return name


def comma_require(function: str, maker: Maker) -> str:
    """(0, require)('a')"""
    return "(0, require)"


MODULE_STEPS = all_of((module_require, created_require, aliased_require, wrapped_require, comma_require), module_step)


def in_a_function(code: str, maker: Maker) -> str:
    """(function () { ... })()"""
    return f"(function () {{\n{code}\n}})();"


def in_an_arrow(code: str, maker: Maker) -> str:
    """(() => { ... })()"""
    return f"(() => {{\n{code}\n}})();"


def in_an_async_function(code: str, maker: Maker) -> str:
    """(async () => { await null; ... })()"""
    return f"(async () => {{\nawait null;\n{code}\n}})();"


def in_a_promise(code: str, maker: Maker) -> str:
    """Promise.resolve().then(() => { ... })"""
    return f"Promise.resolve().then(() => {{\n{code}\n}});"


def in_a_new_promise(code: str, maker: Maker) -> str:
    """new Promise(done => { ... done(); })"""
    return f"new Promise((done) => {{\n{code}\ndone();\n}});"


def in_a_timer(code: str, maker: Maker) -> str:
    """setTimeout(() => { ... }, 1)"""
    return f"setTimeout(() => {{\n{code}\n}}, 1);"


def in_a_next_tick(code: str, maker: Maker) -> str:
    """process.nextTick(() => { ... })"""
    return f"process.nextTick(() => {{\n{code}\n}});"


def in_a_microtask(code: str, maker: Maker) -> str:
    """queueMicrotask(() => { ... })"""
    return f"queueMicrotask(() => {{\n{code}\n}});"


def in_an_event(code: str, maker: Maker) -> str:
    """events.once('go', () => { ... }); events.emit('go')"""
    name = maker.name()
    return f"const {name} = new (require('events'))();\n{name}.once('go', () => {{\n{code}\n}});\n{name}.emit('go');"


def in_a_constructor(code: str, maker: Maker) -> str:
    """new (class { constructor() { ... } })()"""
    return f"new (class {{ constructor() {{\n{code}\n}} }})();"


def in_a_static_block(code: str, maker: Maker) -> str:
    """(class { static { ... } })"""
    return f"(class {{ static {{\n{code}\n}} }});" if "await" not in code and "arguments" not in code else code


def in_a_getter(code: str, maker: Maker) -> str:
    """({ get a() { ... } }).a"""
    return f"({{ get a() {{\n{code}\n}} }}).a;"


def in_a_setter(code: str, maker: Maker) -> str:
    """({ set a(v) { ... } }).a = 1"""
    return f"({{ set a(v) {{\n{code}\n}} }}).a = 1;"


def in_a_generator(code: str, maker: Maker) -> str:
    """(function* () { ... })().next()"""
    return f"(function* () {{\n{code}\n}})().next();"


def in_a_for_each(code: str, maker: Maker) -> str:
    """[0].forEach(() => { ... })"""
    return f"[0].forEach(() => {{\n{code}\n}});"


def in_a_reduce(code: str, maker: Maker) -> str:
    """[0, 0].reduce(() => { ... })"""
    return f"[0, 0].reduce(() => {{\n{code}\n}});"


def in_a_sort(code: str, maker: Maker) -> str:
    """[1, 0].sort(() => { ... return 0; })"""
    return f"[1, 0].sort(() => {{\n{code}\nreturn 0;\n}});"


def in_a_replacement(code: str, maker: Maker) -> str:
    """'a'.replace('a', () => { ... })"""
    return f"'a'.replace('a', () => {{\n{code}\nreturn '';\n}});"


def in_a_catch(code: str, maker: Maker) -> str:
    """try { throw 1; } catch { ... }"""
    return f"try {{ throw 1; }} catch (_) {{\n{code}\n}}"


def in_a_finally(code: str, maker: Maker) -> str:
    """try { } finally { ... }"""
    return f"try {{ }} finally {{\n{code}\n}}"


def in_a_branch(code: str, maker: Maker) -> str:
    """if (process.pid) { ... }"""
    return f"if (process.pid) {{\n{code}\n}}"


def in_a_switch(code: str, maker: Maker) -> str:
    """switch (1) { case 1: { ... } }"""
    return f"switch (1) {{ case 1: {{\n{code}\n}} }}"


def in_a_loop(code: str, maker: Maker) -> str:
    """for (let i = 0; i < 1; i++) { ... }"""
    name = maker.name()
    return f"for (let {name} = 0; {name} < 1; {name}++) {{\n{code}\n}}"


def in_a_label(code: str, maker: Maker) -> str:
    """a: { ... break a; }"""
    name = maker.name()
    return f"{name}: {{\n{code}\nbreak {name};\n}}"


def in_a_conversion(code: str, maker: Maker) -> str:
    """+{ valueOf() { ... return 0; } }"""
    return f"+{{ valueOf() {{\n{code}\nreturn 0;\n}} }};"


def in_a_thenable(code: str, maker: Maker) -> str:
    """Promise.resolve({ then(done) { ... } })"""
    return f"Promise.resolve({{ then(done) {{\n{code}\ndone();\n}} }});"


def in_an_iterator(code: str, maker: Maker) -> str:
    """[...{ *[Symbol.iterator]() { ... } }]"""
    return f"[...{{ *[Symbol.iterator]() {{\n{code}\n}} }}];"


def unusual_space(code: str, maker: Maker) -> str:
    """No-break spaces and comments between words."""
    return re.sub(r"^(const|let|var) (\w+) = ", "\\1\u00a0\\2/**/=/**/", code, flags=re.MULTILINE)


def evaluated(code: str, maker: Maker) -> str:
    """eval('...')"""
    return f"eval({quoted(code)});"


def made_into_a_function(code: str, maker: Maker) -> str:
    """new Function('require', '...')(require)"""
    return f"new Function('require', 'module', {quoted(code)})(require, module);"


def by_constructor(code: str, maker: Maker) -> str:
    """(() => {}).constructor('require', '...')(require)"""
    return f"(() => {{}}).constructor('require', 'module', {quoted(code)})(require, module);"


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
        in_a_function,
        in_an_arrow,
        in_an_async_function,
        in_a_promise,
        in_a_new_promise,
        in_a_timer,
        in_a_next_tick,
        in_a_microtask,
        in_an_event,
        in_a_constructor,
        in_a_static_block,
        in_a_getter,
        in_a_setter,
        in_a_generator,
        in_a_for_each,
        in_a_reduce,
        in_a_sort,
        in_a_replacement,
        in_a_catch,
        in_a_finally,
        in_a_branch,
        in_a_switch,
        in_a_loop,
        in_a_label,
        in_a_conversion,
        in_a_thenable,
        in_an_iterator,
        unusual_space,
    ),
    *steps(
        evaluated,
        made_into_a_function,
        by_constructor,
        encoded,
        in_a_context,
        in_another_process,
        in_a_shell,
        in_python,
        hides=True,
    ),
)
