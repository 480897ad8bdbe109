// Runs the install scripts of one package of npm, and packs what they have made of it. Runs as code in a sandbox.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const { spawnSync } = require('node:child_process');

const given = globalThis.build;
const workspace = process.cwd();
const modules = path.join(workspace, 'node_modules');
const folder = path.join(modules, ...given.place.split('/'));
const commands = path.join(workspace, '.commands');

const fail = (what) => {
  fs.writeSync(2, `${what}\n`);
  process.exit(1);
};

const run = (command, words, options) => {
  const { status, signal, error } = spawnSync(command, words, options);
  if (error) fail(`${command} could not be started: ${error.message}`);
  return signal ? `ended by ${signal}` : status === 0 ? '' : `exit code ${status}`;
};

fs.mkdirSync(commands);
for (const [name, file] of Object.entries(given.commands)) {
  const target = path.join(modules, ...file.split('/'));
  if (!fs.existsSync(target)) continue;
  fs.chmodSync(target, 0o755);
  fs.symlinkSync(target, path.join(commands, name));
}

for (const [name, line] of given.scripts) {
  const env = {
    ...process.env,
    // Last: a package with a command named node would else run that for what its script calls node.
    PATH: `${process.env.PATH}:${commands}`,
    INIT_CWD: workspace,
    NODE: process.execPath,
    npm_execpath: '',
    npm_lifecycle_event: name,
    npm_lifecycle_script: line,
    npm_node_execpath: process.execPath,
    npm_package_name: given.name,
    npm_package_version: given.version,
    npm_config_user_agent: `npm/10 node/${process.version} ${process.platform} ${process.arch}`,
  };
  fs.writeSync(1, `> ${given.name} ${name}\n`);
  const problem = run('sh', ['-c', line], { cwd: folder, env, stdio: ['ignore', 'inherit', 'inherit'] });
  if (problem) fail(`The ${name} script of ${given.name} ended with ${problem}.`);
}

// Ordinary files alone: links would lead to what is not there where the package is installed.
fs.mkdirSync(given.out);
const skipped = given.others.flatMap((one) => ['-path', `./${one}`, '-prune', '-o']);
const list = path.join(workspace, '.list');
const out = fs.openSync(list, 'w');
const named = run('find', ['.', ...skipped, '-type', 'f', '-print0'], { cwd: folder, stdio: ['ignore', out, 'inherit'] });
fs.closeSync(out);
if (named) fail(`The files of ${given.name} could not be listed: ${named}.`);
const pack = ['--no-recursion', '--hard-dereference', '--owner=0', '--group=0', '--transform', 's,^\\.,package,'];
const where = path.join(given.out, given.tarball);
const packed = run('tar', ['-czf', where, ...pack, '--null', '-T', list], {
  cwd: folder,
  stdio: ['ignore', 'inherit', 'inherit'],
});
if (packed) fail(`The files of ${given.name} could not be packed: ${packed}.`);
for (const one of [list, commands]) fs.rmSync(one, { recursive: true, force: true });
