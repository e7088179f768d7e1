// Writes a bundle that is larger than the memory that docs/verify.mjs may take: node long-bundle.mjs DIR RECORDS.
// One chain of records of 100 kB, and beside it a file of 400 MB that the index does not list.
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { closeSync, openSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const [folder, records] = [process.argv[2], Number(process.argv[3])];
const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const hex = publicKey.export({ format: 'der', type: 'spki' }).subarray(12).toString('hex');
const signer = hex.slice(0, 16);

const file = openSync(join(folder, 'codex-s.json'), 'w');
writeSync(file, '{"id": "codex-s", "capsules": [');
let previous = null;
for (let sequence = 0; sequence < records; sequence += 1) {
  const summary = String(sequence).padStart(6, '0').repeat(100_000 / 6);
  const canonical = JSON.stringify({
    context: { session_id: 's' }, domain: 'codex', id: `id-${sequence}`, outcome: { summary }, previous_hash: previous, sequence,
  });
  const hash = createHash('sha3-256').update(canonical).digest('hex');
  const signature = sign(null, Buffer.from(hash), privateKey).toString('hex');
  const record = JSON.stringify({ hash, signature, signature_pq: '', signed_by: signer, canonical });
  writeSync(file, sequence ? `, ${record}` : record);
  previous = hash;
}
writeSync(file, ']}');
closeSync(file);

const chains = [{ id: 'codex-s', tool: 'codex', length: records }];
const index = { public_key: hex, fingerprint: signer, keys: { [signer]: hex }, chain_count: 1, capsule_count: records, chains };
writeFileSync(join(folder, 'index.json'), JSON.stringify(index));
// Most of it is a hole that takes no room on the disk.
writeFileSync(join(folder, 'other.json'), '{"capsules": [');
truncateSync(join(folder, 'other.json'), 400_000_000);
