// Unpacks packages in a sandbox before JavaScript code starts; executes nothing of them.
// What goes where was decided outside; here each archive is held against its hash, and nothing is written over.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const zlib = require('node:zlib');
const { createHash } = require('node:crypto');

const exactly = (source, size) => {
  const data = Buffer.alloc(size);
  for (let have = 0; have < size; ) {
    const more = fs.readSync(source, data, have, size - have, null);
    if (!more) throw new Error('the packages did not arrive');
    have += more;
  }
  return data;
};

const write = (folder, place, data, executable) => {
  const parts = place.split('/');
  if (parts.some((part) => part === '' || part === '.' || part === '..')) {
    throw new Error(`a file would be outside the folder of the packages: ${place.slice(0, 100)}`);
  }
  const file = path.join(folder, ...parts);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = fs.constants;
  const fd = fs.openSync(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, executable ? 0o755 : 0o644);
  fs.writeFileSync(fd, data);
  fs.closeSync(fd);
};

const unpack = (spec, workspace, source) => {
  const folder = path.join(workspace, spec.folder);
  if (spec.clean) {
    fs.rmSync(folder, { recursive: true, force: true });
    fs.mkdirSync(folder);
  }
  for (const [size, sha256, members] of spec.archives) {
    const data = exactly(source, size);
    if (createHash('sha256').update(data).digest('hex') !== sha256) {
      throw new Error('a file has another hash than the one that was approved');
    }
    const content = zlib.gunzipSync(data, { maxOutputLength: 2 ** 29 });
    for (const [offset, length, place, executable] of members) {
      write(folder, place, content.subarray(offset, offset + length), executable);
    }
  }
};

module.exports = (spec, workspace, source) => {
  try {
    unpack(spec, workspace, source);
  } catch (error) {
    fs.writeSync(2, `The packages could not be installed: ${error.message}\n`);
    process.exit(1);
  }
};
