const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');
const { countErrors } = require('./count.js');
const folder = fs.mkdtempSync(path.join(require('node:os').tmpdir(), 'count-'));
const log = path.join(folder, 'large.log');
for (let part = 0; part < 40; part += 1) fs.appendFileSync(log, 'ERROR no answer\nok\n'.repeat(40_000));
countErrors(log).then((count) => {
  fs.rmSync(folder, { recursive: true });
  assert.strictEqual(count, 1_600_000);
  console.log('ok');
});
