#!/usr/bin/env node
// Checks an export bundle without Capsid: node verify.mjs BUNDLE_DIR [--pubkey HEX]... [--meta-head HEX]...
// It needs Node 18 or later and nothing else. wire-format.md says what is checked, verify-it-yourself.md what it proves.
// Exit status: 0 valid, 1 broken, 2 cannot be read.
import { createHash, createPublicKey, verify } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const HEX64 = /^[0-9a-f]{64}$/;
const SIGNATURE = /^[0-9a-f]{128}$/;
const ED25519_DER = Buffer.from('302a300506032b6570032100', 'hex'); // what comes before the 32 bytes of a public key

const unreadable = (words) => { console.error(words); process.exit(2); };
const give = (line) => console.log(line.replace(/[\p{Cc}\p{Cf}]/gu, '?')); // a name must not steer the terminal
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const readJson = (path) => JSON.parse(strict.decode(readFileSync(path)));

function readIndex(folder) {
  try {
    const index = readJson(join(folder, 'index.json'));
    if (index.chains.every((chain) => typeof chain.id === 'string')) return index;
    throw new Error('a chain has no id');
  } catch (error) {
    return unreadable(`${join(folder, 'index.json')}: ${error.message}`);
  }
}

// ---- Keys ------------------------------------------------------------------------------------------------------
function keyOf(hex) {
  const der = Buffer.concat([ED25519_DER, Buffer.from(hex, 'hex')]);
  return { hex, key: createPublicKey({ key: der, format: 'der', type: 'spki' }) };
}

// A record names its signer by the first 16 digits (or more) of the key, or by the first 4 after `qp_key_`.
function goesBy(hex, name) {
  const short = /^qp_key_([0-9a-f]{4})$/.exec(name);
  return short ? hex.startsWith(short[1]) : name.length >= 16 && hex.startsWith(name);
}

function keysOf(index, pinned) {
  if (pinned.length) return { pinned: true, list: pinned.map(keyOf) };
  const listed = [[String(index.public_key).slice(0, 16), index.public_key], ...Object.entries(index.keys ?? {})];
  const sound = listed.filter(([name, hex]) => HEX64.test(hex) && goesBy(hex, name));
  return { pinned: false, list: [...new Set(sound.map(([, hex]) => hex))].map(keyOf) };
}

// ---- One record, one chain -------------------------------------------------------------------------------------
// What was sealed, if it is a record: any object will do that says its own place.
function contentOf(record) {
  try {
    const content = JSON.parse(record.canonical);
    const { id, sequence, previous_hash: link } = content;
    const placed = Number.isInteger(sequence) && sequence >= 0 && (link === null || typeof link === 'string');
    return placed && typeof id === 'string' ? content : null;
  } catch {
    return null;
  }
}

// What is wrong with a record at its place (the failure class and a few words), or the content that was sealed.
function checkRecord(record, place, previous, keys) {
  const fail = (kind, words) => ({ fault: `${kind}: ${words}` });
  const isText = (name) => isObject(record) && typeof record[name] === 'string';
  if (!['canonical', 'hash', 'signature', 'signed_by'].every(isText)) return fail('malformed', 'a field is missing');
  if (/\p{Cs}/u.test(record.canonical)) return fail('malformed', 'the text holds half a surrogate pair');
  if (!HEX64.test(record.hash.toLowerCase())) return fail('malformed', 'the hash is not 64 hex digits');
  const hash = createHash('sha3-256').update(record.canonical, 'utf8').digest('hex');
  if (hash !== record.hash) return fail('hash', 'the text is not the one that was hashed');
  const content = contentOf(record);
  if (!content) return fail('malformed', 'the text is not that of a record');
  if (content.sequence > place) return fail('missing', `the next record is number ${content.sequence}`);
  if (content.sequence < place) return fail('link', `the sealed sequence is ${content.sequence}`);
  if (content.previous_hash !== previous) return fail('link', 'the sealed previous_hash is not the hash before it');

  if (!SIGNATURE.test(record.signature)) return fail('signature', 'it is not 128 lowercase hex digits');
  const named = keys.list.filter(({ hex }) => goesBy(hex, record.signed_by || (keys.pinned ? hex : '')));
  const message = Buffer.from(record.hash, 'ascii'); // the 64 digits, not the 32 bytes
  if (named.length === 0) return fail('unknown_signer', `no accepted key goes by "${record.signed_by}"`);
  if (named.some(({ key }) => verify(null, message, key, Buffer.from(record.signature, 'hex')))) return { content };
  return fail('signature', 'it was not signed by the key that it names');
}

// Walks a chain up to its first fault. `claims` are what index.json and the file itself say about it.
function checkChain(records, claims, keys) {
  const chain = { total: records.length, hashes: [], contents: [], fault: null };
  for (const [place, record] of records.entries()) {
    const { fault, content } = checkRecord(record, place, chain.hashes.at(-1) ?? null, keys);
    const moved = fault?.startsWith('missing') && records.some((other) => contentOf(other)?.sequence === place);
    chain.fault = fault && `broken at seq ${place}: ${moved ? 'link: the record is at another place' : fault}`;
    if (fault) return chain;
    chain.hashes.push(record.hash);
    chain.contents.push(content);
  }
  const found = { length: chain.total, head_hash: chain.hashes.at(-1) ?? '', genesis_hash: chain.hashes[0] ?? '' };
  for (const [where, claim] of Object.entries(claims)) {
    const wrong = Object.keys(found).find((name) => claim[name] !== undefined && claim[name] !== found[name]);
    if (wrong) chain.fault = `${where} gives another ${wrong}`;
    if (claim.length > chain.total) chain.fault = `broken at seq ${chain.total}: missing: ${where} counts ${claim.length}`;
  }
  return chain;
}

const gone = (fault) => ({ total: 0, hashes: [], contents: [], fault });
function readChain(folder, name, listed, keys) {
  if (/[/\\]/.test(name)) return gone('malformed: its id is no file name');
  const path = join(folder, `${name}.json`);
  if (!existsSync(path)) return gone('missing: there is no file of it');
  try {
    const file = readJson(path);
    return checkChain(file.capsules, { 'index.json': listed, 'its own file': file }, keys);
  } catch (error) {
    return gone(`malformed: ${error.message}`);
  }
}

// The latest entry of each conversation: what its chain must at least hold.
function latestSeals(meta) {
  const seals = meta.contents.map((content) => content.outcome?.result).filter((seal) => seal?.kind === 'conversation_seal');
  return new Map(seals.map((seal) => [`${seal.tool}-${seal.session_id}`, seal]));
}

function stateOf(chain, seal) {
  if (!seal) return 'unsealed';
  if (chain.total === 0) return 'missing';
  if (chain.total < seal.capsule_count) return 'truncated';
  if (chain.hashes[seal.capsule_count - 1] !== seal.head_hash) return 'altered';
  return chain.total > seal.capsule_count ? 'grown' : 'intact';
}

// ---- The whole bundle ------------------------------------------------------------------------------------------
function tell(name, chain, state) {
  const bad = chain.fault || ['truncated', 'altered', 'missing'].includes(state);
  const found = `${chain.hashes.length}/${chain.total} verified (${chain.fault ?? `head ${chain.hashes.at(-1) ?? 'genesis'}`})`;
  give(`[${bad ? 'BROKEN' : 'OK'}] ${name}: ${found}${state ? `, ${state}` : ''}`);
  return bad ? 1 : 0;
}

function checkBundle(folder, pinned, heads) {
  const index = readIndex(folder);
  const keys = keysOf(index, pinned);
  const chains = new Map(index.chains.map((listed) => [listed.id, readChain(folder, listed.id, listed, keys)]));
  const hasMeta = isObject(index.meta) || existsSync(join(folder, 'meta.json'));
  const meta = hasMeta ? readChain(folder, 'meta', index.meta ?? {}, keys) : null;
  const seals = meta && !meta.fault ? latestSeals(meta) : null;

  let broken = meta ? tell('meta-chain', meta) : 0;
  if (!meta) give('[--] no meta-chain: a conversation that was removed, or cut at its end, would not show');
  const also = (name, fault) => { broken += tell(name, gone(fault)); };
  for (const head of heads) if (!meta?.hashes.includes(head)) also(`meta head ${head}`, 'missing: not in the meta-chain');
  const unseen = new Set(seals?.values());
  for (const [id, chain] of chains) {
    const sealed = `${chain.contents[0]?.domain}-${chain.contents[0]?.context?.session_id}`; // not every id is a file name
    const seal = seals?.get(id) ?? seals?.get(sealed);
    broken += tell(id, chain, seals && stateOf(chain, seal));
    unseen.delete(seal);
  }
  for (const { tool, session_id } of unseen) also(`${tool}-${session_id}`, 'missing: only the meta-chain knows it');

  const sums = { chain_count: chains.size, capsule_count: index.chains.reduce((sum, { length }) => sum + length, 0) };
  const wrong = Object.keys(sums).filter((name) => (index[name] ?? sums[name]) !== sums[name]);
  for (const name of wrong) also('index.json', `${name} is ${index[name]}, but it lists ${sums[name]}`);
  const source = keys.pinned ? 'given by you' : 'they came with the bundle, as a forger\'s would: use --pubkey';
  give(`Keys: ${keys.list.map(({ hex }) => hex).join(', ') || 'none'} (${source})`);
  give('Not proved: that the record is complete or true, when it was made, and who holds the key.');
  return broken ? 1 : 0;
}

const args = process.argv.slice(2);
function option(name, values = []) {
  if (!args.includes(name)) return values;
  const value = String(args.splice(args.indexOf(name), 2)[1]).toLowerCase();
  return HEX64.test(value) ? option(name, [...values, value]) : unreadable(`${name} takes 64 hex digits`);
}
const [pinned, heads] = [option('--pubkey'), option('--meta-head')];
if (args.length !== 1) unreadable('usage: node verify.mjs BUNDLE_DIR [--pubkey HEX]... [--meta-head HEX]...');
process.exitCode = checkBundle(args[0], pinned, heads);
