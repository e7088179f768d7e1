const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');
const { load, save } = require('./settings.js');
const folder = fs.mkdtempSync(path.join(require('node:os').tmpdir(), 'settings-'));
const file = path.join(folder, 'settings.json');
fs.writeFileSync(file, '{"visits":1}');
(async () => {
  await save(file, async () => ({ visits: (await load(file)).visits + 1 }));
  assert.deepStrictEqual(await load(file), { visits: 2 });
  console.log('ok');
})().finally(() => fs.rmSync(folder, { recursive: true }));
