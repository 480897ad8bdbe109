// Loaded before JavaScript code inside a sandbox: its context becomes properties of globalThis.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
Object.assign(globalThis, JSON.parse(fs.readFileSync(path.join(__dirname, 'context.json'), 'utf8')));
const bundle = path.join(__dirname, 'bundle.json');
if (fs.existsSync(bundle)) {
  const spec = JSON.parse(fs.readFileSync(bundle, 'utf8'));
  require('./unpack.cjs')(spec.bundle, spec.workspace, spec.source);
  fs.closeSync(spec.source);
}
const loading = path.join(__dirname, 'loading.json');
if (fs.existsSync(loading)) {
  const orders = JSON.parse(fs.readFileSync(loading, 'utf8'));
  require('./loading.cjs')({ ...orders, main: process.argv[1] });
}
