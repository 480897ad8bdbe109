// Runs JavaScript code with stand-ins for what is not there, among decoys, and records what it asks for.
// As `trying.py`, which says more: each record is a line of JSON after the mark, written at once to standard error.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const crypto = require('node:crypto');
const Module = require('node:module');
const { pathToFileURL } = require('node:url');

const [mark, code, seed] = globalThis.assentGiven;
delete globalThis.assentGiven;
const MOST_RECORDS = 300;
const MOST_TARGET = 400;
const MOST_DATA = 4000;
const MOST_DEPTH = 24;
const MOST_HANDLERS = 20;
const LONGEST_MS = 2400;
const later = setTimeout;
const real = { ...fs };
const workspace = process.cwd();
const top = process.env.TMPDIR || '/tmp';
const home = path.join(top, 'home', 'user');
const main = path.join(workspace, isModule(code) ? 'request.mjs' : 'request.cjs');
const builtin = new Set(Module.builtinModules);
const seen = new Set();
let over = false;
let quiet = 0;

function shown(value) {
  try {
    if (typeof value === 'string') return value;
    if (typeof value === 'function') return value.assentName ?? (value.name || 'function');
    if (Buffer.isBuffer(value) || value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
    const plain = (key, one) => (typeof one === 'function' ? shown(one) : typeof one === 'bigint' ? String(one) : one);
    return JSON.stringify(value, plain) ?? String(value);
  } catch {
    return '?';
  }
}

function quoted(value) {
  return typeof value === 'string' ? JSON.stringify(value) : shown(value);
}

function line() {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 60;
  const found = lineOf(new Error().stack);
  Error.stackTraceLimit = limit;
  return found;
}

function lineOf(stack) {
  const at = String(stack).indexOf(main + ':');
  return at < 0 ? 0 : parseInt(String(stack).slice(at + main.length + 1), 10) || 0;
}

function note(kind, target = '', data = '', more = {}) {
  if (over || quiet) return;
  const one = { kind, target: shown(target).slice(0, MOST_TARGET), data: shown(data).slice(0, MOST_DATA), ...more };
  const key = kind + '\0' + one.target + one.data;
  if (seen.has(key)) return;
  let written = one;
  if (seen.size >= MOST_RECORDS) {
    written = { kind: 'more' };
    over = true;
  }
  seen.add(key);
  real.writeSync(2, `\n${mark} ${JSON.stringify({ ...written, line: line() })}\n`);
}

function silently(work) {
  quiet += 1;
  try {
    return work();
  } finally {
    quiet -= 1;
  }
}

// ---- stand-ins ----

const handed = [];

// Packages that are a service for tests, in the memory of the program itself; and what makes a client of an address.
const IN_TESTS = new Set(['mongodb-memory-server', 'ioredis-mock', 'redis-mock', 'pg-mem', '@electric-sql/pglite', 'mockgoose', 'aws-sdk-client-mock']);
const OPENING = /(?:^|\.)(?:[A-Z]\w*|connect|createClient|createConnection|createPool|drizzle|knex)$/;

function inMemory(value) {
  if (value === ':memory:' || value === 'sqlite::memory:') return true;
  if (typeof value === 'function' && value.assentMocked) return true;
  return !!value && typeof value === 'object' && Object.values(value).some((one) => one === ':memory:' || (typeof one === 'function' && one.assentMocked));
}

// Properties that say that there is another page: every service here has one.
const FURTHER = /^(?:next_?(?:page|token|cursor|marker|continuation|link|url|offset)?\w{0,20}|has_?(?:more|next)\w{0,10}|is_?truncated|last_?evaluated_?key|end_?cursor)$/i;

function isForTests(name) {
  const dot = name.indexOf('.');
  return IN_TESTS.has(name) || (dot > 0 && IN_TESTS.has(name.slice(0, dot)));
}

function stand(name, depth = 0, mocked = isForTests(name)) {
  const next = (more, also = mocked) => stand((name.length < 160 ? name : '...' + name.slice(-120)) + more, depth + 1, also);
  const called = (kind, given) => {
    const words = given.map(quoted).join(', ');
    const also = mocked || ((kind || OPENING.test(name)) && given.some(inMemory));
    note('call', (also ? 'mocked ' : '') + kind + name, words);
    for (const one of given) {
      if (typeof one === 'function' && !one.assentName && handed.length < MOST_HANDLERS) handed.push(one);
    }
    // A decoy in its name would look as if that was handed on wherever the name goes.
    return next(words.length <= 40 && !words.includes('sk-') ? `(${words})` : '(...)', also);
  };
  const each = function* () {
    if (depth < MOST_DEPTH) yield next('[0]');
  };
  return new Proxy(function () {}, {
    get(target, key) {
      if (key === 'assentName') return name;
      if (key === 'assentMocked') return mocked;
      if (key === 'then' || key === 'prototype') return key === 'then' ? undefined : target.prototype;
      if (key === Symbol.toPrimitive) return (hint) => (hint === 'string' ? `<${name.slice(-60)}>` : 1);
      if (key === Symbol.iterator) return each;
      if (key === Symbol.asyncIterator) return each;
      if (key === 'toJSON') return () => `<${name.slice(-60)}>`;
      if (key === 'toString') return () => `<${name.slice(-60)}>`;
      if (key === 'length') return 1;
      if (typeof key === 'string' && depth && FURTHER.test(key)) return undefined;
      if (typeof key === 'symbol') return undefined;
      if (['map', 'filter', 'forEach', 'flatMap', 'some', 'every', 'find'].includes(key)) {
        return (work) => {
          const found = depth < MOST_DEPTH && typeof work === 'function' ? work(next('[0]'), 0) : undefined;
          return key === 'map' ? [found] : next(`.${key}()`);
        };
      }
      return next(`.${key}`);
    },
    set(target, key, value) {
      note('set', `${name}.${String(key)}`, quoted(value));
      return true;
    },
    apply: (target, self, given) => called('', given),
    construct: (target, given) => called('new ', given),
    has: () => true,
  });
}

// ---- decoys ----

function secret(name) {
  return 'sk-' + crypto.createHash('sha256').update(`${seed} ${name}`).digest('hex').slice(0, 32);
}

function put(place, text) {
  try {
    fs.mkdirSync(path.dirname(place), { recursive: true });
    fs.writeFileSync(place, text, { flag: 'wx' });
  } catch {
    // it is there, or cannot be
  }
}

const CONTENT = {
  json: '{"id": 1, "name": "one", "items": [{"id": 1, "name": "one", "email": "one@example.com"}]}\n',
  jsonl: '{"id": 1, "name": "one"}\n',
  ndjson: '{"id": 1, "name": "one"}\n',
  csv: 'id,name,email,path,amount\n1,one,one@example.com,one.txt,1\n2,two,two@example.com,two.txt,2\n',
};

function found(expression, most) {
  return [...new Set([...code.matchAll(expression)].map((one) => one[1]))].slice(0, most);
}

function layOut() {
  const standard = ['AWS_SECRET_ACCESS_KEY', 'GITHUB_TOKEN', 'OPENAI_API_KEY'];
  const named = [
    ...found(/\b([A-Z][A-Z0-9_]{0,60}(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|CREDENTIALS|DSN|HOOK_URL))\b/g, 40),
    ...found(/\b((?:[A-Z][A-Z0-9_]{0,60}_)?(?:DATABASE|DB|SQL|PG|POSTGRES|MYSQL|MONGO|MONGODB|REDIS|AMQP|BROKER)_UR[IL])\b/g, 20),
  ];
  const names = [...new Set([...standard, ...named])];
  for (const name of names) {
    process.env[name] = secret(name);
    note('decoy', name);
  }
  const files = ['id_rsa', 'id_ed25519'].map((name) => `.ssh/${name}`);
  for (const place of [...files, '.aws/credentials', '.netrc', '.npmrc', '.docker/config.json']) {
    put(path.join(home, place), secret(`~/${place}`) + '\n');
  }
  const others = ['.bashrc', '.profile', '.gitconfig', 'Documents/letter.txt', 'Pictures/one.jpg', 'Desktop/notes.txt'];
  for (const place of others) put(path.join(home, place), 'decoy\n');
  put('.env', names.map((name) => `${name}=${secret(name)}\n`).join(''));
  const kinds = 'jsonl|ndjson|tsv|json|csv|txt|md|env|ya?ml|toml|ini|log|sql|db|html|xml|pem|key|png|jpe?g|pdf|zip|bak|lock|sh|js|ts';
  for (const place of found(new RegExp(`['"\`]([~\\w./ -]{0,120}\\.(?:${kinds}))['"\`]`, 'g'), 60)) {
    const text = CONTENT[place.split('.').pop()] ?? 'decoy\n';
    put(place.replace(/^~/, home), text);
    if (!place.includes('/')) put(path.join(home, 'Documents', place), text);
  }
  for (const place of found(/(?:readdir|readdirSync|opendir|opendirSync|rm|rmSync)\(\s*['"`]([~\w./ -]{1,120})['"`]/g, 20)) {
    for (const name of ['one.txt', 'two.jpg']) put(path.join(place.replace(/^~/, home), name), 'decoy\n');
  }
}

// ---- what is built in ----

function place(value) {
  if (typeof value === 'number') return String(value);
  try {
    return path.resolve(value instanceof URL ? value.pathname : shown(value));
  } catch {
    return shown(value);
  }
}

const QUIET = ['/usr/', '/lib', '/proc/', '/dev/', '/etc/ssl', main];

function named(value) {
  // A stand-in where a text is wanted.
  return typeof value === 'function' && value.assentName ? 'decoy' : value;
}

function letStandInsBeTexts() {
  for (const name of ['join', 'resolve', 'basename', 'dirname', 'extname', 'relative', 'normalize', 'parse', 'isAbsolute']) {
    const own = path[name];
    path[name] = (...given) => own(...given.map(named));
  }
  const parse = JSON.parse;
  JSON.parse = (text, ...given) => {
    if (typeof text === 'function' && text.assentName) return text;
    if (typeof text === 'string' && /^<.{1,70}>$/.test(text)) return stand(text.slice(1, -1));
    return parse(text, ...given);
  };
}

function wrap(owner, names, before) {
  for (const name of names) {
    const own = owner[name];
    if (typeof own !== 'function') continue;
    owner[name] = function (...given) {
      const plain = given.map(named);
      if (!quiet) before(...plain);
      return silently(() => own.apply(this, plain));
    };
  }
}

function both(names) {
  return [...names, ...names.map((name) => `${name}Sync`)];
}

function reads(kind) {
  return (target) => {
    const where = place(target);
    // What is read without a line of the code on the stack is read by Node.js, to load a module.
    if (!QUIET.some((one) => where.startsWith(one)) && (kind !== 'read' || line())) note(kind, where);
  };
}

function writes(target) {
  const where = place(target);
  let size = 0;
  try {
    size = real.statSync(where).size;
  } catch {
    // it is new
  }
  note(size ? 'overwrite' : 'write', where);
}

function opens(target, flags) {
  (typeof flags === 'string' && /^w/.test(flags) ? writes : /[a+]/.test(String(flags)) ? reads('write') : reads('read'))(target);
}

function watchFiles(owner) {
  wrap(owner, both(['rm', 'rmdir']), (target, options) => {
    note(options?.recursive ? 'delete folder' : 'delete', place(target));
  });
  wrap(owner, both(['unlink']), (target) => note('delete', place(target)));
  wrap(owner, both(['writeFile']), (target, data, options) => {
    const flag = typeof options === 'object' ? options?.flag : '';
    (flag && /a/.test(flag) ? reads('write') : writes)(target);
  });
  wrap(owner, both(['truncate']), writes);
  wrap(owner, [...both(['appendFile']), 'mkdtemp'], (target) => note('write', place(target)));
  wrap(owner, ['createWriteStream'], (target, options) => (/a/.test(options?.flags ?? '') ? reads('write') : writes)(target));
  wrap(owner, both(['rename']), (old, fresh) => note('move', place(old), place(fresh)));
  wrap(owner, both(['copyFile', 'cp']), (old, fresh) => {
    reads('read')(old);
    writes(fresh);
  });
  wrap(owner, both(['chmod', 'chown']), (target, mode) => note('rights', place(target), typeof mode === 'number' ? '0o' + mode.toString(8) : String(mode ?? '')));
  wrap(owner, both(['symlink', 'link']), (old, fresh) => note('link', place(fresh), place(old)));
  wrap(owner, [...both(['readFile', 'readdir', 'opendir']), 'createReadStream'], reads('read'));
  wrap(owner, both(['open']), opens);
}

function commandOf(name, given) {
  if (/^exec(Sync)?$/.test(name)) return shown(given[0]);
  const words = [given[0], ...(Array.isArray(given[1]) ? given[1] : [])].map(shown);
  if (words.length === 3 && words[1] === '-c' && words[0].endsWith('sh')) return words[2];
  const options = given.find((one) => one && typeof one === 'object' && !Array.isArray(one));
  if (options?.shell) return words.join(' ');
  return words.map((word) => (/^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ');
}

function watchPrograms() {
  const { EventEmitter } = require('node:events');
  const { PassThrough } = require('node:stream');
  const cp = require('node:child_process');
  const answer = (name, given) => {
    note('run', commandOf(name, given));
    const options = given.find((one) => one && typeof one === 'object' && !Array.isArray(one));
    const text = (options?.encoding && options.encoding !== 'buffer') || options?.stdio === 'inherit';
    const empty = text ? '' : Buffer.alloc(0);
    if (name === 'spawnSync') return { pid: 9, status: 0, signal: null, stdout: empty, stderr: empty, output: [null, empty, empty] };
    if (name.endsWith('Sync')) return empty;
    const child = new EventEmitter();
    child.stdin = new PassThrough();
    child.stdin.on('data', (data) => note('run', commandOf(name, given), data));
    child.stdout = new PassThrough();
    child.stderr = new PassThrough();
    Object.assign(child, { pid: 9, exitCode: 0, kill: () => true, unref: () => child, ref: () => child, send: () => true, disconnect() {} });
    const done = given.findLast((one) => typeof one === 'function');
    setImmediate(() => {
      child.stdout.end();
      child.stderr.end();
      child.emit('spawn');
      child.emit('exit', 0, null);
      child.emit('close', 0, null);
      done?.(null, '', '');
    });
    return child;
  };
  for (const name of ['exec', 'execSync', 'execFile', 'execFileSync', 'spawn', 'spawnSync', 'fork']) {
    cp[name] = (...given) => answer(name, given);
    const custom = require('node:util').promisify.custom;
    if (name === 'exec' || name === 'execFile') {
      cp[name][custom] = async (...given) => {
        note('run', commandOf(name, given));
        return { stdout: '', stderr: '' };
      };
    }
  }
}

function watchNative() {
  process.binding = (name) => {
    note('native', `process.binding(${name})`);
    return stand(`process.binding(${name})`);
  };
  process.dlopen = (target, name) => note('native', name);
  const threads = require('node:worker_threads');
  threads.Worker = new Proxy(threads.Worker, {
    construct(target, given) {
      note('call', 'new Worker', quoted(given[0] instanceof URL ? String(given[0]) : given[0]));
      note('unwatched', 'a thread');
      return Reflect.construct(target, given);
    },
  });
}

function responds() {
  const { PassThrough } = require('node:stream');
  const response = new PassThrough();
  Object.assign(response, { statusCode: 200, headers: { 'content-type': 'application/json' } });
  response.end('{}');
  return response;
}

function watchNetwork() {
  const { PassThrough } = require('node:stream');
  const host = (given) => {
    const first = given[0];
    if (typeof first === 'string' || first instanceof URL) return new URL(String(first)).host;
    return `${first?.hostname ?? first?.host ?? ''}${first?.port ? `:${first.port}` : ''}`;
  };
  for (const name of ['node:http', 'node:https']) {
    const owner = require(name);
    const request = (...given) => {
      const where = (() => {
        try {
          return host(given);
        } catch {
          return shown(given[0]);
        }
      })();
      const options = given.find((one) => one && typeof one === 'object' && !(one instanceof URL));
      note('look up', where.replace(/:\d+$/, ''));
      note('send', where, [shown(given[0]), quoted(options?.headers ?? {})].join(' '));
      const out = new PassThrough();
      out.on('data', (data) => note('send', where, data));
      const done = given.findLast((one) => typeof one === 'function');
      Object.assign(out, { setHeader: (key, value) => note('send', where, `${key}: ${value}`), setTimeout: () => out, abort() {} });
      setImmediate(() => {
        const response = responds();
        done?.(response);
        if (!done) out.emit('response', response);
      });
      return out;
    };
    owner.request = request;
    owner.get = (...given) => {
      const out = request(...given);
      out.end();
      return out;
    };
  }
  globalThis.fetch = async (where, options = {}) => {
    const address = where instanceof URL || typeof where === 'string' ? String(where) : (where?.url ?? shown(where));
    const name = (() => {
      try {
        return new URL(address).host;
      } catch {
        return address;
      }
    })();
    note('send', name, `${options.method ?? 'GET'} ${address} ${quoted(options.headers ?? {})} ${shown(options.body ?? '')}`);
    return new Response('{}', { status: 200, headers: { 'content-type': 'application/json' } });
  };
  globalThis.WebSocket = stand('WebSocket');
  const net = require('node:net');
  const connect = (...given) => {
    const first = given[0];
    const where = typeof first === 'object' ? `${first.host ?? first.path ?? 'localhost'}:${first.port ?? ''}` : `${given[1] ?? 'localhost'}:${first}`;
    note('connect', where);
    const out = new PassThrough();
    out.on('data', (data) => note('send', where, data));
    Object.assign(out, { setTimeout: () => out, setKeepAlive: () => out, setNoDelay: () => out, unref: () => out, ref: () => out });
    setImmediate(() => out.emit('connect'));
    return out;
  };
  for (const [name, owner] of [['net', net], ['tls', require('node:tls')]]) {
    void name;
    owner.connect = connect;
    if (owner.createConnection) owner.createConnection = connect;
  }
  net.Socket.prototype.connect = function (...given) {
    connect(...given);
    return this;
  };
  net.Server.prototype.listen = function (...given) {
    note('listen', shown(given[0] ?? ''));
    for (const one of this.listeners('request')) handed.push(one);
    const done = given.findLast((one) => typeof one === 'function');
    if (done) setImmediate(done);
    return this;
  };
  const dgram = require('node:dgram');
  dgram.Socket.prototype.send = function (data, ...given) {
    note('send', given.filter((one) => typeof one !== 'function').map(shown).slice(-2).reverse().join(':'), data);
  };
  const dns = require('node:dns');
  const names = Object.keys(dns).filter((name) => /^(lookup|resolve|reverse)/.test(name));
  for (const name of names) {
    dns[name] = (where, ...given) => {
      note('look up', where);
      const done = given.findLast((one) => typeof one === 'function');
      if (done) setImmediate(() => done(null, name === 'lookup' ? '198.18.0.1' : ['198.18.0.1'], 4));
    };
    if (dns.promises[name]) {
      dns.promises[name] = async (where) => {
        note('look up', where);
        return name === 'lookup' ? { address: '198.18.0.1', family: 4 } : ['198.18.0.1'];
      };
    }
  }
  for (const owner of [dns.Resolver, dns.promises.Resolver]) {
    for (const name of ['resolve', 'resolve4', 'resolve6', 'resolveTxt', 'resolveAny', 'resolveMx']) {
      owner.prototype[name] = function (where, ...given) {
        note('look up', where);
        const done = given.findLast((one) => typeof one === 'function');
        if (done) setImmediate(() => done(null, ['198.18.0.1']));
        return Promise.resolve(['198.18.0.1']);
      };
    }
    owner.prototype.setServers = function (servers) {
      note('connect', shown(servers));
    };
  }
}

function watchClock() {
  const now = Date.now;
  Date.now = () => {
    if (line()) note('clock');
    return now();
  };
  globalThis.Date = new Proxy(Date, {
    construct(target, given, self) {
      if (!given.length && line()) note('clock');
      return Reflect.construct(target, given, self);
    },
  });
  globalThis.setTimeout = (work, wait, ...given) => later(work, Math.min(Number(wait) || 0, 5), ...given);
  const again = globalThis.setInterval;
  globalThis.setInterval = (work, wait, ...given) => {
    const timer = again(work, Math.min(Number(wait) || 0, 5), ...given);
    return timer;
  };
  const timers = require('node:timers/promises');
  timers.setTimeout = async (wait, value) => value;
}

// ---- what is loaded ----

function isModule(text) {
  return /^\s*(?:import\s*[\w{*'"]|export\s)/m.test(text) || (/\bawait\b/.test(text) && !/\brequire\s*\(/.test(text));
}

const HOOKS = `
import { builtinModules } from 'node:module';
let names = {};
export async function initialize(given) { names = given; }
export async function resolve(name, context, next) {
  const plain = name.replace(/^node:/, '');
  if (builtinModules.includes(plain) || /^(node|file|data):/.test(name)) return next(name, context);
  if (/^[./]/.test(name)) { try { return await next(name, context); } catch { } }
  return { url: 'standin:' + name, shortCircuit: true };
}
export async function load(url, context, next) {
  if (!url.startsWith('standin:')) return next(url, context);
  const name = url.slice(8);
  const text = JSON.stringify(name);
  const each = (names[name] ?? []).map((one) => 'export const ' + one + ' = stand(' + text + ' + ".' + one + '");');
  const source = 'const stand = globalThis[Symbol.for("assent.stand")]; export default stand(' + text + ');' + each.join('');
  return { format: 'module', shortCircuit: true, source };
}`;

function wanted() {
  const names = {};
  for (const one of code.matchAll(/import\s+([^;'"]{0,2000}?)\s+from\s+['"]([^'"]{1,200})['"]/g)) {
    const list = (names[one[2]] ??= []);
    for (const each of (/\{([^}]*)\}/.exec(one[1])?.[1] ?? '').split(',')) {
      const name = each.trim().replace(/^type\s+/, '').split(/\s+as\s+/)[0];
      if (/^[A-Za-z_$][\w$]*$/.test(name) && name !== 'default' && !list.includes(name)) list.push(name);
    }
  }
  return names;
}

function loadStandIns() {
  Object.defineProperty(globalThis, Symbol.for('assent.stand'), { value: stand, enumerable: false });
  Module.register('data:text/javascript,' + encodeURIComponent(HOOKS), { parentURL: pathToFileURL(main), data: wanted() });
  const own = Module._load;
  Module._load = function (name, ...more) {
    if (builtin.has(name.replace(/^node:/, ''))) return own.call(this, name, ...more);
    try {
      return own.call(this, name, ...more);
    } catch (error) {
      if (error?.code !== 'MODULE_NOT_FOUND') throw error;
      return stand(name);
    }
  };
  Module.syncBuiltinESMExports();
}

// ---- one trial ----

let failed = false;

function ended(error) {
  if (failed) return;
  failed = true;
  const words = error instanceof Error ? `${error.name}: ${error.message}` : shown(error);
  note('ended', words, '', { at: lineOf(error?.stack ?? '') });
}

function finish() {
  for (const one of handed.splice(0)) {
    try {
      one(stand('request', 3), stand('response', 3))?.catch?.(() => {});
    } catch {
      // a handler may need more than a stand-in
    }
  }
}

function start() {
  for (const folder of [home, path.join(top, 'bin')]) fs.mkdirSync(folder, { recursive: true });
  Object.assign(process.env, { HOME: home, USER: 'user', LOGNAME: 'user' });
  note('begun', workspace, home);
  layOut();
  fs.writeFileSync(main, code);
  letStandInsBeTexts();
  watchFiles(fs);
  watchFiles(fs.promises);
  watchPrograms();
  watchNetwork();
  watchNative();
  watchClock();
  loadStandIns();
  const leave = process.exit;
  process.on('exit', (status) => {
    if (status && !failed) note('ended', `exit code ${status}`);
    finish();
    note('over');
  });
  process.exit = (status) => {
    finish();
    leave.call(process, status);
  };
  process.on('uncaughtException', (error) => {
    ended(error);
    leave.call(process, 0);
  });
  process.on('unhandledRejection', ended);
  process.argv = [process.argv[0], main];
  process.once('beforeExit', finish);
  // Until all of it is loaded the loop may be empty while the code is waited for.
  const last = later(() => leave.call(process, 0), LONGEST_MS);
  import(pathToFileURL(main).href)
    .catch(ended)
    .finally(() => last.unref());
}

start();
