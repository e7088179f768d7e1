// Runs docs/verify.mjs on the manipulation table, and on odd keys, signatures and texts. Prints what differs.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FINDINGS, checkBundle, isSigned, isSoundKey, publicKey, readRecord } from '../../docs/verify.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const vectors = (name) => JSON.parse(readFileSync(join(root, `web/tests/vectors/${name}.json`), 'utf8'));
const mismatches = [];
let checks = 0;
function compare(name, expected, actual) {
  checks += 1;
  if (JSON.stringify(expected) === JSON.stringify(actual)) return;
  mismatches.push(`${name}\n  expected ${JSON.stringify(expected)}\n  actual   ${JSON.stringify(actual)}`);
}

// Applies the edits of a case to the files of the base: texts by name.
function apply(base, edits) {
  const files = structuredClone(base);
  const texts = {};
  for (const { file, remove, text, copy, at, order, ...rest } of edits) {
    if (remove) delete files[file];
    else if (text !== undefined) texts[file] = text;
    else if (copy) files[file] = structuredClone(base[copy]);
    else {
      const parent = at.slice(0, -1).reduce((value, name) => value[name], files[file]);
      const last = at.at(-1);
      if (order) parent[last] = order.map((from) => structuredClone(parent[last][from]));
      else if ('value' in rest) parent[last] = rest.value;
      else delete parent[last];
    }
  }
  return { ...Object.fromEntries(Object.entries(files).map(([name, value]) => [name, JSON.stringify(value)])), ...texts };
}

const table = vectors('manipulations');
const bundleCases = JSON.parse(readFileSync(join(root, 'tests/peers/bundle_cases.json'), 'utf8'));
const dimensionsOf = vectors('dimensions');
for (const { name, edits, meta_head: noted, expected, has } of [...table.cases, ...bundleCases.cases]) {
  const folder = mkdtempSync(join(tmpdir(), 'manipulation-'));
  for (const [file, text] of Object.entries(apply(table.files, edits))) writeFileSync(join(folder, file), text);
  const metaHeads = noted ? [[Number(noted.split(':')[0]), noted.split(':')[1]]] : [];
  for (const [policy, options] of Object.entries(table.policies)) {
    const { level, exit, findings, dimensions } = checkBundle(folder, { ...options, metaHeads });
    const { code = null, chain = null, position = null } = findings[0] ?? {};
    compare(`${name}, ${policy}`, expected[policy], [level, exit, code, chain, position]);
    const words = dimensionsOf[`${name}, ${policy}`];
    if (words) compare(`dimensions of ${name}, ${policy}`, words, Object.values(dimensions).join(' '));
    if (has) compare(`${name}, ${policy}, has ${has}`, true, findings.some((one) => one.code === has));
  }
  rmSync(folder, { recursive: true });
}

// Each finding is about the dimension that the program's own table gives it.
const rows = readFileSync(join(root, 'crates/capsid-verdict/src/findings.toml'), 'utf8').split('[[finding]]').slice(1);
const member = (row, name) => new RegExp(`^${name} = "(.*)"$`, 'm').exec(row)[1];
const ofCode = Object.fromEntries(rows.map((row) => [member(row, 'code'), member(row, 'dimension')]));
for (const [code, [, , dimension]] of Object.entries(FINDINGS)) compare(`dimension of ${code}`, ofCode[code], dimension);

const { keys, signatures, edges } = vectors('signatures');
for (const [hex, isSound] of keys) compare(`key ${hex}`, isSound, isSoundKey(hex.toLowerCase()));
const honest = publicKey(keys[0][0]);
for (const [text, signature, holds] of signatures) compare(`signature ${signature}`, holds, isSigned(text, signature, honest));
for (const [name, hex, text, signature, holds] of edges) {
  compare(name, holds, isSoundKey(hex) && isSigned(text, signature, publicKey(hex)));
}

// With NaN in it a text must be what Python writes; the script leaves out how numbers are spelled.
const isExcepted = (text) => text.includes('NaN') && /1\.50|9223372036854775808/.test(text);
for (const { text, head } of vectors('texts').filter((one) => !isExcepted(one.text))) {
  const read = readRecord(text);
  compare(`text ${text.slice(0, 100)}`, head, read && [read.id, read.digits, read.previous]);
}

for (const one of mismatches) console.log(one);
console.log(mismatches.length ? `${mismatches.length} of ${checks} differ` : `ok: ${checks} verdicts`);
process.exitCode = mismatches.length ? 1 : 0;
