// Verifies every line of a JSONL file PASSES times, after one pass to warm up.
// usage: verify.mjs PEERS FILE PASSES
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [peers, file, passes] = process.argv.slice(2);
const sdk = pathToFileURL(join(peers, 'node_modules/@evomap/gep-sdk/src/index.js'));
const { verifyAssetId } = await import(sdk);
const lines = readFileSync(file, 'utf8').split('\n');

const pass = () => lines.reduce((count, line) => count + (verifyAssetId(JSON.parse(line)) ? 1 : 0), 0);
pass();
const start = performance.now();
let verified = 0;
for (let i = 0; i < Number(passes); i++) verified += pass();
console.log(JSON.stringify({ seconds: (performance.now() - start) / 1000, verified }));
