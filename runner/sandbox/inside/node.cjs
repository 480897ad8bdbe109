// Loaded before JavaScript code inside a sandbox: its context becomes properties of globalThis.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
Object.assign(globalThis, JSON.parse(fs.readFileSync(path.join(__dirname, 'context.json'), 'utf8')));
