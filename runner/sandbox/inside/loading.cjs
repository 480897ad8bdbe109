// Loads the files of a kept sandbox for JavaScript code: known ones from the texts that were approved, those of installed
// packages only as they were installed, and others only where the request showed the person that they would be loaded unread.
'use strict';
const fs = require('node:fs');
const Module = require('node:module');
const path = require('node:path');
const { createHash } = require('node:crypto');

// Also the text of the module that does the same for `import`, in a thread of its own.
const loading = (orders, createHash, readFileSync, path) => {
  const { workspace, main, known, hashes, own } = orders;
  const packages = 'node_modules/';
  const below = (file) => (file.startsWith(`${workspace}/`) ? file.slice(workspace.length + 1) : '');
  return {
    text: (file) => (Object.hasOwn(known, below(file)) ? known[below(file)] : undefined),
    find: (wanted, from) => {
      if (!/^(?:\.\.?)?\//.test(wanted)) return '';
      const file = path.resolve(path.dirname(from), wanted);
      for (const end of ['', '.js', '.json', '/index.js']) {
        if (Object.hasOwn(known, below(file + end))) return file + end;
      }
      return '';
    },
    check: (file) => {
      const place = below(file);
      const name = hashes !== null && place.startsWith(packages) ? place.slice(packages.length) : '';
      if (Object.hasOwn(hashes ?? {}, name)) {
        if (createHash('sha256').update(readFileSync(file)).digest('hex') === hashes[name]) return;
      } else if (own || file === main || /^\/(?:usr|lib|opt)\//.test(file)) return;
      const why = name ? 'is not as it was installed' : 'was not read with this request';
      throw new Error(`${file} ${why}, so that it is not loaded`);
    },
  };
};

const hooks = `
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
let files;
export const initialize = (orders) => { files = (${loading})(orders, createHash, readFileSync, path); };
const kind = (file, text) => file.endsWith('.json') ? 'json'
  : file.endsWith('.mjs') || (!file.endsWith('.cjs') && /^\\s*(?:import\\b(?!\\s*\\()|export\\b)/m.test(text)) ? 'module' : 'commonjs';
export const resolve = async (wanted, context, next) => {
  const from = context.parentURL ?? '';
  const named = wanted.startsWith('file:') ? fileURLToPath(wanted) : wanted;
  const file = from.startsWith('file:') ? files.find(named, fileURLToPath(from)) : '';
  return file ? { url: pathToFileURL(file).href, shortCircuit: true } : next(wanted, context);
};
export const load = async (url, context, next) => {
  if (!url.startsWith('file:')) return next(url, context);
  const file = fileURLToPath(url);
  const text = files.text(file);
  if (text === undefined) {
    files.check(file);
    return next(url, context);
  }
  const format = kind(file, text);
  // Without a text Node.js takes it from require(), which has it.
  return { format, source: format === 'commonjs' ? null : text, shortCircuit: true };
};
`;

module.exports = (orders) => {
  if (!Module.register) throw new Error('Node.js from 18.19 on is needed to load files of a kept sandbox');
  const files = loading(orders, createHash, fs.readFileSync, path);
  const resolve = Module._resolveFilename;
  Module._resolveFilename = function (wanted, parent, ...more) {
    const file = typeof wanted === 'string' && parent?.filename ? files.find(wanted, parent.filename) : '';
    return file || resolve.call(this, wanted, parent, ...more);
  };
  const { parse } = JSON;
  for (const [end, load] of Object.entries(Module._extensions)) {
    Module._extensions[end] = (module, file) => {
      const text = files.text(file);
      if (text === undefined) files.check(file);
      if (text === undefined) load(module, file);
      else if (end === '.json') module.exports = parse(text);
      else module._compile(text, file);
    };
  }
  Module.register(`data:text/javascript,${encodeURIComponent(hooks)}`, { data: orders });
};
