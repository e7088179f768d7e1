#!/usr/bin/env node
// Checks an export bundle without Capsid: node verify.mjs BUNDLE_DIR [options]. See USAGE at the end.
// It needs Node 18 or later and nothing else. wire-format.md says what is checked, verify-it-yourself.md what it proves.
// Exit status: 0 valid or unverified, 1 invalid or incomplete, 2 cannot be read.
import { createHash, createPublicKey, verify } from 'node:crypto';
import { closeSync, existsSync, openSync, readFileSync, readSync, readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

// ---- Findings --------------------------------------------------------------------------------------------------
const LEVELS = ['valid', 'unverified', 'unreadable', 'incomplete', 'invalid']; // the worst comes last
const EXIT = { valid: 0, unverified: 0, unreadable: 2, incomplete: 1, invalid: 1 };
const MARK = { valid: 'OK', unverified: 'UNVERIFIED', unreadable: 'UNREADABLE', incomplete: 'INCOMPLETE', invalid: 'BROKEN' };
// Code: level, step in the order of evaluation, dimension, sentence. Steps 2 to 7 are those of one record.
export const FINDINGS = {
  unreadable: ['unreadable', 1, 'content', '{what}'],
  hash: ['invalid', 2, 'content', 'Record {position}: the text is not the one that was sealed.'],
  malformed: ['invalid', 2, 'content', 'Record {position} is not a sealed record: {why}.'],
  missing: ['invalid', 4, 'link', 'Record {position} is missing; record {next} follows.'],
  link: ['invalid', 4, 'link', 'Record {position} does not follow record {before}.'],
  signature: ['invalid', 5, 'signature', 'Record {position}: the signature does not hold for the key {signer}.'],
  unknown_signer: ['invalid', 5, 'signature',
    'Record {position} names the signer {signer}. No key for it is known, so its signature was not checked.'],
  signer_not_allowed: ['invalid', 7, 'signer',
    'Record {position} is signed by {signer} ({trust}). This verification requires {require}.'],
  retired_key: ['invalid', 7, 'signer', 'Record {position} is signed by {signer}, which was retired at record {limit}.'],
  bundled_signer: ['unverified', 7, 'signer',
    'The signatures hold for {signer}, a key that came with the data. Anyone can make such a bundle.'],
  contradiction: ['invalid', 8, 'claims', '{where} says {field} is {claimed}; the records say {actual}.'],
  listed_twice: ['invalid', 8, 'claims', 'index.json lists {id} {count} times.'],
  key_refused: ['unverified', 8, 'claims', 'The key named {name} was ignored: {why}.'],
  unlisted_file: ['unverified', 8, 'claims', '{file} is not in index.json and was not checked.'],
  chain_missing: ['incomplete', 8, 'completeness', 'index.json lists {id}; its file is not there.'],
  meta_invalid: ['invalid', 9, 'meta', 'The meta-chain is broken at {position}: {fault}.'],
  meta_truncated: ['incomplete', 9, 'completeness', 'The meta-chain has {total} records; {source} names {count}.'],
  meta_missing: ['incomplete', 9, 'completeness', 'The meta-chain is gone; {source} names {count} records.'],
  meta_absent: ['unverified', 10, 'completeness', 'Nothing here says how long the chains were. A cut end would not show.'],
  truncated: ['incomplete', 10, 'completeness', '{chain} has {total} records; {source} {count}.'],
  conversation_missing: ['incomplete', 10, 'completeness', '{chain} is gone; {source} {count} records.'],
  altered: ['invalid', 10, 'completeness', '{chain} differs from what the meta-chain recorded at record {position}.'],
  grown: ['valid', 10, 'completeness', '{chain} grew by {count} records since it was recorded.'],
  unrecorded: ['unverified', 10, 'completeness', 'The meta-chain does not know {chain}.'],
  pinned_head_missing: ['incomplete', 10, 'completeness', 'The meta-chain has {total} records; you noted {count}.'],
  pinned_head_differs: ['invalid', 10, 'completeness', 'Record {position} of the meta-chain is not the one that you noted.'],
  forked: ['invalid', 11, 'completeness', 'Record {position} of {chain} is not the one that {signer} signed in a statement.'],
  statement_invalid: ['invalid', 11, 'signer',
    'The head statement of {chain} is not signed by a key that this verification allows.'],
  not_checked: ['unverified', 12, 'content', 'Not checked: {what}.'],
  empty: ['unverified', 12, 'completeness', 'The chain has no records.'],
  time_order: ['valid', 12, 'time', 'Record {position} claims an earlier time than record {before}.'],
};
const worst = (list) => list.reduce((level, one) => (LEVELS.indexOf(one.level) > LEVELS.indexOf(level) ? one.level : level), 'valid');

class Findings extends Array {
  add(code, chain, position = null, details = {}, change = {}) {
    const [level, step, dimension, sentence] = FINDINGS[code];
    const values = { ...details, chain, position, before: position - 1 };
    const message = sentence.replace(/\{(\w+)\}/g, (_, name) => values[name]);
    this.push({ code, level, dimension, chain, position, message, step, ...change });
  }
}

// ---- Reading: one record at a time, however long the file is ---------------------------------------------------
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const byteOf = (mark) => mark.charCodeAt(0);
const [QUOTE, ESCAPE, OPEN, CLOSE, LIST, LIST_END, COMMA, COLON] = [...'"\\{}[],:'].map(byteOf);
const isSpace = (byte) => byte === 32 || byte === 10 || byte === 13 || byte === 9;
const isEnd = (byte) => isSpace(byte) || byte === COMMA || byte === COLON || byte === CLOSE || byte === LIST_END;

class FileScanner {
  constructor(path) {
    [this.file, this.piece, this.at, this.end] = [openSync(path, 'r'), Buffer.alloc(64 << 10), 0, 0];
    if (this.fill() && this.piece.subarray(0, 3).toString('hex') === 'efbbbf') this.at = 3; // a byte order mark
  }
  fill() {
    if (this.at >= this.end) [this.end, this.at] = [readSync(this.file, this.piece, 0, this.piece.length, null), 0];
    return this.at < this.end;
  }
  peek() {
    while (this.fill() && isSpace(this.piece[this.at])) this.at += 1;
    return this.fill() ? this.piece[this.at] : -1;
  }
  pass(mark) {
    const comes = this.peek() === byteOf(mark);
    if (comes) this.at += 1;
    return comes;
  }
  demand(mark) {
    if (!this.pass(mark)) throw new Error(`there is no ${mark} where one belongs`);
  }
  // The text of the next value, from its first byte to its last. Whether it is JSON shows when it is parsed.
  value() {
    let [parts, depth, quoted, escaped, done] = [[], 0, false, false, this.peek() === -1];
    while (!done && this.fill()) {
      const { piece, at: start, end } = this;
      let at = start;
      for (; at < end && !done; at += 1) {
        const byte = piece[at];
        if (escaped) escaped = false;
        else if (quoted && byte === ESCAPE) escaped = true;
        else if (byte === QUOTE) [quoted, done] = [!quoted, quoted && depth === 0];
        else if (quoted) continue;
        else if (byte === OPEN || byte === LIST) depth += 1;
        else if (depth === 0 && isEnd(byte)) [done, at] = [true, at - 1];
        else if (byte === CLOSE || byte === LIST_END) done = (depth -= 1) === 0;
      }
      parts.push(Buffer.from(piece.subarray(start, at)));
      this.at = at;
      if (parts.length > 4096) throw new Error('one of its values is longer than 256 MB');
    }
    if (depth || quoted || !parts.length) throw new Error('it ends in the middle');
    return strict.decode(parts.length === 1 ? parts[0] : Buffer.concat(parts));
  }
}

// Gives the text of each record of a chain file. The other members go into `header`.
function* recordTexts(path, header) {
  const scanner = new FileScanner(path);
  try {
    let lists = 0;
    scanner.demand('{');
    for (let more = scanner.peek() !== CLOSE; more; more = scanner.pass(',')) {
      const name = JSON.parse(scanner.value());
      scanner.demand(':');
      if (name !== 'capsules' || scanner.peek() !== LIST) header[name] = JSON.parse(scanner.value());
      else {
        if ((lists += 1) > 1) throw new Error('it has two lists of records');
        scanner.demand('[');
        for (let next = scanner.peek() !== LIST_END; next; next = scanner.pass(',')) yield scanner.value();
        scanner.demand(']');
      }
    }
    scanner.demand('}');
    if (scanner.peek() !== -1 || !lists) throw new Error(lists ? 'something follows its end' : 'it has no list of records');
  } finally {
    closeSync(scanner.file);
  }
}

// ---- The form of a record --------------------------------------------------------------------------------------
const isHalf = (text) => /\p{Cs}/u.test(text); // half a surrogate pair

// The members of a JSON object as [name, text of the value], also those that come twice, and its parsed content.
// Python writes NaN and the infinities, which JSON does not have; it writes no spaces then, and sorts the names.
function readObject(text) {
  const [members, words] = [[], []];
  let [depth, name, from, isSpaced] = [0, null, 0, false];
  const close = (at) => { if (name !== null) members.push([name, text.slice(from, at).trim()]); name = null; };
  for (let at = 0; at < text.length; at += 1) {
    const byte = text.charCodeAt(at);
    if (byte === QUOTE) {
      const start = at;
      for (let slashes = 1; slashes % 2; ) { // an even number of backslashes escapes no quotation mark
        if ((at = text.indexOf('"', at + 1)) < 0) return null;
        for (slashes = 0; text.charCodeAt(at - 1 - slashes) === ESCAPE; ) slashes += 1;
      }
      if (depth === 1 && name === null) [name, from] = [text.slice(start, at + 1), text.indexOf(':', at) + 1];
    } else if (byte === OPEN || byte === LIST) depth += 1;
    else if (byte === CLOSE || byte === LIST_END) { if ((depth -= 1) === 0) close(at); }
    else if (byte === COMMA && depth === 1) close(at);
    else if (byte <= 32) isSpaced = true;
    else if (byte === 78 || byte === 73) { // N and I begin no word of JSON
      const [word] = /^(NaN|Infinity|)/.exec(text.slice(at, at + 8));
      words.push([text[at - 1] === '-' ? at - 1 : at, at + word.length]);
      at += word.length;
    }
  }
  try {
    let [json, done] = ['', 0];
    for (const [start, end] of words) [json, done] = [`${json}${text.slice(done, start)}null`, end];
    const content = JSON.parse(words.length ? json + text.slice(done) : text);
    const names = members.map((member) => (member[0] = JSON.parse(member[0])));
    const isSorted = names.every((each, at) => at === 0 || names[at - 1] < each);
    if (!text.trimStart().startsWith('{') || names.some(isHalf) || (words.length && (isSpaced || !isSorted))) return null;
    return { members, content };
  } catch {
    return null;
  }
}

// The position that a sealed text states, and its content: one `id`, one `sequence` in plain digits, one `previous_hash`.
export function readRecord(text) {
  const read = readObject(text);
  const values = ['id', 'sequence', 'previous_hash'].map((name) => read?.members.filter((member) => member[0] === name));
  if (values.some((found) => found?.length !== 1)) return null;
  const { id, previous_hash: previous } = read.content;
  const [digits, isText] = [values[1][0][1], (value) => typeof value === 'string' && !isHalf(value)];
  const isPlain = /^(0|[1-9]\d{0,19})$/.test(digits) && BigInt(digits) < 2n ** 64n;
  if (!isPlain || !isText(id) || !(previous === null || isText(previous))) return null;
  return { id, digits, sequence: Number(digits), previous, content: read.content };
}

// ---- Keys and signatures: three strict rules -------------------------------------------------------------------
const P = 2n ** 255n - 19n;
const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;
const mod = (value) => ((value % P) + P) % P;
const power = (base, exponent) => {
  if (exponent === 0n) return 1n;
  const root = power(mod(base * base), exponent >> 1n);
  return exponent & 1n ? mod(root * base) : root;
};
const D = mod(-121665n * power(121666n, P - 2n));

// Points are [X, Y, Z, T] with x = X/Z, y = Y/Z, xy = T/Z.
function addPoints([x1, y1, z1, t1], [x2, y2, z2, t2]) {
  const [a, b, c, d] = [(y1 - x1) * (y2 - x2), (y1 + x1) * (y2 + x2), mod(2n * D * t1) * t2, 2n * z1 * z2].map(mod);
  const [e, f, g, h] = [b - a, d - c, d + c, b + a];
  return [e * f, g * h, f * g, e * h].map(mod);
}

// Rule 1: canonical, on the curve, and in the group of prime order, so neither of small nor of mixed order.
export function isSoundKey(hex) {
  if (!/^[0-9a-f]{64}$/.test(hex)) return false;
  const bits = BigInt(`0x${Buffer.from(hex, 'hex').reverse().toString('hex')}`);
  const y = bits & (2n ** 255n - 1n);
  const square = mod((y * y - 1n) * power(mod(D * y * y + 1n), P - 2n));
  let x = power(square, (P + 3n) / 8n);
  if (mod(x * x) !== square) x = mod(x * power(2n, (P - 1n) / 4n));
  if (y >= P || x === 0n || mod(x * x) !== square) return false;
  if ((x & 1n) !== bits >> 255n) x = P - x;
  let [sum, point] = [[0n, 1n, 1n, 0n], [x, y, 1n, mod(x * y)]];
  for (let left = ORDER; left > 0n; left >>= 1n, point = addPoints(point, point)) if (left & 1n) sum = addPoints(sum, point);
  return sum[0] === 0n && sum[1] === sum[2];
}

// Rule 2: R is canonical and none of the y of small order. Rule 3: OpenSSL's check without cofactor, which refuses S >= L.
const SMALL = new Set(['01'.padEnd(64, '0'), '0'.repeat(64), `ec${'f'.repeat(60)}7f`,
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a']);
const isSignature = (text) => typeof text === 'string' && /^[0-9a-f]{128}$/.test(text);
export function isSigned(text, signature, key) {
  if (!isSignature(signature)) return false;
  const bytes = Buffer.from(signature, 'hex');
  const y = signature.slice(0, 62) + (bytes[31] & 0x7f).toString(16).padStart(2, '0');
  return !SMALL.has(y) && !/^(e[d-f]|f.)(ff){30}7f$/.test(y) && verify(null, Buffer.from(text), key, bytes);
}

const TRUST = ['given', 'own', 'pinned', 'known', 'bundled'];
const DER = Buffer.from('302a300506032b6570032100', 'hex'); // what comes before the 32 bytes of a public key
export const publicKey = (hex) => createPublicKey({ key: Buffer.concat([DER, Buffer.from(hex, 'hex')]), format: 'der', type: 'spki' });
// A record names its signer by the first 16 digits (or more) of the key, or by the first 4 after `qp_key_`.
function isNamed(hex, name) {
  const short = /^qp_key_([0-9a-f]{4})$/.exec(name);
  return short ? hex.startsWith(short[1]) : name.length >= 16 && hex.startsWith(name);
}

class Keys {
  constructor(index, options, findings) {
    [this.list, this.retired] = [[], []]; // `retired`: the key, and how many records of each chain it may have signed
    this.require = options.require ?? ['given', 'pinned', 'own'].find((trust) => options[trust]?.length) ?? 'any';
    this.isExplicit = Boolean(options.require) || this.require === 'given';
    for (const trust of TRUST) for (const hex of options[trust] ?? []) this.addKey(hex.toLowerCase(), trust);
    const own = index.public_key ? [[index.fingerprint ?? String(index.public_key).slice(0, 16), index.public_key]] : [];
    for (const [name, text] of [...own, ...Object.entries(index.keys ?? {})]) {
      const hex = String(text).toLowerCase();
      const isOwnName = hex.slice(0, 16) === name;
      if (isOwnName && isSoundKey(hex)) this.addKey(hex, 'bundled');
      else findings.add('key_refused', null, null, { name, why: isOwnName ? 'no private key has it' : 'the name is not its beginning' });
    }
  }
  addKey(hex, trust) {
    if (!this.list.some((one) => one.hex === hex)) this.list.push({ hex, trust, key: publicKey(hex) });
  }
  named(name) {
    return this.list.filter(({ hex, trust }) => isNamed(hex, name) || (name === '' && trust === 'given'));
  }
  isAllowed({ trust }) {
    if (this.require === 'given') return trust === 'given';
    return this.require === 'any' || TRUST.indexOf(trust) <= TRUST.indexOf(this.require);
  }
  // A key names its successor. Where it is gone the successor does, if it is trusted no less: else a stranger could.
  canRetire(signer, old, next) {
    const [was, is] = [old, next].map((hex) => TRUST.indexOf(this.list.find((one) => one.hex === hex)?.trust));
    return signer === old || (signer === next && (was < 0 || is <= was));
  }
  // How many records of a chain a key may have signed. A retired key: those that were recorded before its first rotation.
  limit(hex, ...ids) {
    const [, counts] = this.retired.find(([key]) => key === hex) ?? [];
    return counts ? (counts.get(ids.find((id) => counts.has(id))) ?? 0) : Infinity;
  }
}

// ---- One chain -------------------------------------------------------------------------------------------------
const META = 'meta-meta'; // the meta-chain's tool and session
const REFUSED = ['unknown_signer', 'signer_not_allowed', 'retired_key']; // the record holds, and who signed it does not meet the policy
const hashOf = (text) => createHash('sha3-256').update(text, 'utf8').digest('hex');
// The name that a chain has in a bundle: its own, or one that is safe for files and carries a hash; `-2` if it is taken.
const isNameOf = (id, full) =>
  [id, id.replace(/-\d+$/, '')].some((name) => name === full || name.endsWith(`-${hashOf(full).slice(0, 8)}`));

class Chain {
  constructor(id, name, keys, findings) {
    Object.assign(this, { id, name, keys, findings, header: {}, total: 0, good: 0, verified: 0, fault: null, isBroken: false, sealed: null });
    Object.assign(this, { head: null, first: null, started: null, ended: null, clock: NaN, unchecked: 0 });
    [this.signers, this.bundled, this.unknown, this.hashes] = [new Set(), new Set(), new Set(), new Map()];
  }
  // `countsOf(chain)` gives the counts at which hashes are needed; `use(content, place, signer)` gets each good record.
  read(path, countsOf, use = () => {}) {
    for (const text of recordTexts(path, this.header)) {
      const place = this.total++;
      const { code, content, ...found } = this.isBroken ? {} : this.check(text, place);
      if (this.isBroken) this.lookFor(text);
      else if (code) this.fault ??= { code, position: place, details: found };
      this.isBroken ||= Boolean(code) && !REFUSED.includes(code);
      if (this.isBroken) continue;
      this.good += 1;
      if (place === 0) this.counts = countsOf(this);
      if (this.counts.has(this.total)) this.hashes.set(this.total, this.head);
      if (!this.fault) this.verified += 1;
      use(content, place, code ? {} : found.signer);
    }
    return this;
  }
  // A record that seemed to be missing and comes later is out of order.
  lookFor(text) {
    const isSought = () => readRecord(String(readObject(text)?.content.canonical))?.sequence === this.fault.position;
    if (this.fault.code === 'missing' && isSought()) this.fault.code = 'link';
  }
  check(text, place) {
    const { content: record, members } = readObject(text) ?? { content: {}, members: [] };
    const malformed = (why) => ({ code: 'malformed', why });
    const isText = (name) => typeof record[name] === 'string';
    if (!['canonical', 'hash', 'signature', 'signed_by'].every(isText)) return malformed('a field is missing');
    if (new Set(members.map(([name]) => name)).size < members.length) return malformed('a name comes twice');
    if (Object.values(record).some((value) => typeof value === 'string' && isHalf(value))) return malformed('half a surrogate pair');
    if (!/^[0-9a-f]{64}$/i.test(record.hash)) return malformed('its hash is not 64 hex digits');
    if (hashOf(record.canonical) !== record.hash) return { code: 'hash' };
    const sealed = readRecord(record.canonical);
    if (!sealed) return malformed('its text is not that of a record');
    if (sealed.sequence > place) return { code: 'missing', next: sealed.digits };
    if (sealed.sequence < place || sealed.previous !== this.head) return { code: 'link' };
    if (place === 0) this.identify(sealed.content.domain, sealed.content.context?.session_id);
    const signer = this.checkSigner(record, place);
    if (signer.code && !REFUSED.includes(signer.code)) return signer;
    this.note(record, place);
    return { content: sealed.content, ...(signer.code ? signer : { signer }) };
  }
  identify(tool, session) {
    if (![tool, session].every((name) => typeof name === 'string' && name)) return;
    this.sealed = { id: `${tool}-${session}`, name: `${tool}/${session}` };
    this.isRenamed = !isNameOf(this.id, this.sealed.id);
    if (!this.isRenamed && this.id !== META) this.name = this.sealed.name;
  }
  checkSigner({ hash, signature, signed_by: name }, place) {
    const { keys } = this;
    const candidates = keys.named(name); // the best trust comes first
    const signer = (candidates[0]?.hex ?? name).slice(0, 16);
    if (!isSignature(signature)) return { code: 'signature', signer };
    if (!candidates.length && (keys.require !== 'any' || keys.isExplicit)) return { code: 'unknown_signer', signer };
    if (!candidates.length) {
      const change = { level: 'unverified', step: this.id === META ? 9 : 5 };
      if (!this.unknown.has(name)) this.findings.add('unknown_signer', this.name, place, { signer }, change);
      this.unknown.add(name);
      return {};
    }
    const found = candidates.find(({ key }) => isSigned(hash, signature, key));
    if (!found) return { code: 'signature', signer };
    const { hex, trust } = found;
    const limit = keys.limit(hex, this.sealed?.id, this.id);
    if (!keys.isAllowed(found)) return { code: 'signer_not_allowed', signer: hex.slice(0, 16), trust, require: keys.require };
    if (place >= limit) return { code: 'retired_key', signer: hex.slice(0, 16), limit };
    if (trust === 'bundled') this.bundled.add(hex.slice(0, 16));
    return { hex };
  }
  note(record, place) {
    const time = typeof record.signed_at === 'string' ? record.signed_at : null;
    if (Date.parse(time) < this.clock - 600_000) this.findings.add('time_order', this.name, place);
    [this.clock, this.ended, this.head] = [Date.parse(time), time, record.hash];
    if (place === 0) [this.started, this.first] = [time, record.hash];
    if (record.signed_by) this.signers.add(record.signed_by);
    if (record.signature_pq) this.unchecked += 1;
  }
  // What is found about the chain by itself, and in what a header contradicts its records.
  conclude(claims) {
    const { findings, fault, name, total } = this;
    const isMeta = this.id === META;
    if (fault && isMeta) findings.add('meta_invalid', name, fault.position, { fault: fault.code });
    else if (fault) findings.add(fault.code, name, fault.position, fault.details);
    const signer = [...this.bundled].join(', ');
    if (signer) findings.add('bundled_signer', name, null, { signer }, isMeta ? { step: 9 } : {});
    if (this.unchecked) findings.add('not_checked', name, null, { what: `${this.unchecked} post-quantum signatures of ${name}` });
    if (total === 0) findings.add('empty', name);
    for (const [source, claim] of fault ? [] : claims) {
      const [field, claimed, actual] = this.contradiction(claim) ?? [];
      if (isMeta && field === 'length' && claimed > actual) findings.add('meta_truncated', name, total, { total, source, count: claimed });
      else if (field) findings.add('contradiction', name, null, { where: source, field, claimed, actual });
    }
  }
  contradiction(claim) {
    const signers = (list) => (Array.isArray(list) || list instanceof Set ? [...new Set(list)].sort().join(', ') : null);
    const facts = { length: this.total, head_hash: this.head ?? '', genesis_hash: this.first ?? '', all_hashes_ok: true,
      signed_by: signers(this.signers), started_at: this.started ?? '', ended_at: this.ended ?? '' };
    const claims = { ...claim, signed_by: signers(claim.signed_by) };
    const wrong = Object.keys(facts).find((name) => typeof claims[name] === typeof facts[name] && claims[name] !== facts[name]);
    return wrong && [wrong, claims[wrong], facts[wrong]];
  }
}

// ---- What must be there: the meta-chain's entries and head statements ------------------------------------------
const STATEMENT = new RegExp('^capsid-head/v1\n(?:user \\d+\n)?key ([0-9a-f]{64})\nchain (\\S+) (\\S+)\ncount (\\d{1,15})\n' +
  'head ([0-9a-f]{64})\n(?:entry \\d+\n)?(?:nonce \\S+\n)?time \\S+\n?$');

function readStatements(folder) {
  if (!existsSync(join(folder, 'heads.json'))) return [];
  return readJson(join(folder, 'heads.json')).statements.map(({ text, signature }) => {
    const [, hex, ...words] = STATEMENT.exec(text) ?? [];
    const [tool, session, count, head] = words.map(decodeURIComponent); // a name is one word: `%20` is a space
    const id = `${tool}-${session}`;
    return { text, signature, hex, id, name: id === META ? 'meta' : hex ? `${tool}/${session}` : null, count: Number(count), head };
  });
}

class Expected extends Map {
  expect(id, name, count, head, hex = null, isOpen = false) {
    if (!this.has(id)) this.set(id, { name, list: [] });
    const source = hex ? `a statement signed by ${hex.slice(0, 16)} counts` : `the meta-chain ${isOpen ? 'listed it with' : 'recorded'}`;
    this.get(id).list.push({ count, head, hex, isOpen, source });
  }
  // The entry of the meta-chain may also list chains that were open then.
  addEntry({ tool, session_id: session, capsule_count: count, head_hash: head, open }) {
    this.expect(`${tool}-${session}`, `${tool}/${session}`, count, head);
    for (const [t, s, c, h] of open ?? []) this.expect(`${t}-${s}`, `${t}/${s}`, c, h, null, true);
  }
  idOf(chain) {
    return this.has(chain.sealed?.id) ? chain.sealed.id : chain.id;
  }
  // Compares one chain with all that is said of it.
  compare(chain, findings) {
    const { name, total, good, hashes } = chain;
    const list = this.get(this.idOf(chain))?.list ?? [];
    const longest = (of) => of.reduce((most, one) => (one.count > most.count ? one : most), { count: -1 });
    const isOther = ({ count, head }) => count > 0 && count <= good && hashes.get(count) !== head;
    for (const part of [list.filter(({ hex }) => !hex), list.filter(({ hex }) => hex)]) {
      const [other, { count, source, hex }] = [part.find(isOther), longest(part)];
      if (other) findings.add(hex ? 'forked' : 'altered', name, other.count - 1, { signer: hex?.slice(0, 16) });
      if (count > total && chain.id === META) findings.add('meta_truncated', name, total, { total, count, source: source.replace(/ counts$/, '') });
      else if (count > total) findings.add('truncated', name, total, { total, count, source });
    }
    if (chain.id === META) return;
    if (list.every(({ isOpen }) => isOpen) && this.size && total) findings.add('unrecorded', name);
    const recorded = longest(list.filter(({ hex, isOpen }) => !hex && !isOpen)).count;
    const isFound = findings.some((one) => one.chain === name && one.dimension === 'completeness');
    if (recorded >= 0 && recorded < total && !isFound) findings.add('grown', name, null, { count: total - recorded });
  }
}

// ---- The whole bundle ------------------------------------------------------------------------------------------
const readJson = (path) => JSON.parse(strict.decode(readFileSync(path)).replace(/^\uFEFF/, ''));
// The first 64 KiB of a file, which may be long.
function readBegin(path) {
  const [file, piece] = [openSync(path, 'r'), Buffer.alloc(64 << 10)];
  try {
    return piece.toString('utf8', 0, readSync(file, piece, 0, piece.length, 0));
  } finally {
    closeSync(file);
  }
}
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isFileName = (id) => id !== '' && id !== '.' && id !== '..' && !/[/\\:\0]/.test(id);

// Checks a bundle. Options: lists of keys in hex (`own`, `pinned`, `known`, `given`), `require`, `metaHeads` as [count, hash].
export function checkBundle(folder, options = {}) {
  const findings = new Findings();
  let [index, statements, meta, keys] = [{ chains: [] }, [], null, null];
  const attempt = (what, name, act) => {
    try {
      return act();
    } catch (error) {
      findings.add('unreadable', name, null, { what: `${what}: ${error.message}` });
      return null;
    }
  };
  attempt('index.json', null, () => {
    const read = readJson(join(folder, 'index.json'));
    if (!read.chains.every((listed) => typeof listed.id === 'string')) throw new Error('a chain has no id');
    index = read;
  });
  keys = new Keys(index, options, findings);
  attempt('heads.json', null, () => { statements = readStatements(folder); });

  // The meta-chain comes first: it says which lengths and heads the others had, and when a key was retired.
  const [expected, noted] = [new Expected(), new Map((options.metaHeads ?? []).map(([count, hash]) => [hash, count]))];
  const metaCounts = new Set([...noted.values(), ...statements.filter(({ id }) => id === META).map(({ count }) => count)]);
  const seen = new Set();
  if (existsSync(join(folder, 'meta.json'))) {
    meta = new Chain(META, 'meta', keys, findings);
    attempt('meta.json', 'meta', () => meta.read(join(folder, 'meta.json'), () => metaCounts, (content, place, { hex }) => {
      const result = content.outcome?.result;
      seen.add(noted.has(meta.head) && meta.head);
      if (result?.kind === 'conversation_seal') expected.addEntry(result);
      const rotation = [result?.old_public_key, result?.new_public_key].map((key) => (typeof key === 'string' ? key.toLowerCase() : ''));
      if (result?.kind !== 'key_rotation' || !rotation.every(isSoundKey) || !keys.canRetire(hex, ...rotation)) return;
      const counts = [...expected].map(([id, { list }]) => [id, Math.max(...list.map(({ count }) => count))]);
      keys.retired.push([rotation[0], new Map([...counts, [META, place + 1]])]);
    }));
  }
  for (const { text, signature, hex, id, name, count, head } of statements) {
    const key = keys.list.find((one) => one.hex === hex);
    const isGood = key && keys.isAllowed(key) && count <= keys.limit(hex, id) && isSigned(text, signature, key.key);
    if (isGood) expected.expect(id, name, count, head, hex);
    else findings.add('statement_invalid', name);
  }

  const [chains, ids] = [[], index.chains.map(({ id }) => id)];
  for (const [at, listed] of index.chains.entries()) {
    const { id, tool } = listed;
    const name = typeof tool === 'string' && id.startsWith(`${tool}-`) ? `${tool}/${id.slice(tool.length + 1)}` : id;
    const count = ids.filter((other) => other === id).length;
    if (ids.indexOf(id) < at) continue;
    if (count > 1 || id === 'meta') findings.add('listed_twice', name, null, { id, count: id === 'meta' ? count + 1 : count });
    if (id === 'meta') continue;
    const [path, chain] = [join(folder, `${id}.json`), new Chain(id, name, keys, findings)];
    const countsOf = (one) => new Set(expected.get(expected.idOf(one))?.list.map((entry) => entry.count));
    if (!isFileName(id)) findings.add('unreadable', name, null, { what: `index.json: the id ${id} is no file name` });
    else if (!existsSync(path)) findings.add('chain_missing', name, 0, { id });
    else if (attempt(`${id}.json`, name, () => chain.read(path, countsOf))) {
      chain.conclude([['index.json', listed], [`${id}.json`, chain.header]]);
      expected.compare(chain, findings);
      const isMoved = chain.isRenamed && expected.has(chain.sealed.id);
      if (isMoved) findings.add('contradiction', name, null, { where: 'index.json', field: 'the chain', claimed: name, actual: chain.sealed.name });
    }
    chains.push(chain);
  }
  const sums = { chain_count: ids.length, capsule_count: index.chains.reduce((sum, { length }) => sum + (Number.isInteger(length) ? length : 0), 0) };
  for (const [field, actual] of Object.entries(sums)) {
    const isWrong = Number.isInteger(index[field]) && index[field] !== actual;
    if (isWrong) findings.add('contradiction', null, null, { where: 'index.json', field, claimed: index[field], actual });
  }
  const isChainFile = (file) => attempt(file, null, () => readBegin(join(folder, file)).includes('"capsules"'));
  const others = existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith('.json')) : [];
  for (const file of others.filter((one) => !['index.json', 'meta.json', 'heads.json', ...ids.map((id) => `${id}.json`)].includes(one)).sort()) {
    if (isChainFile(file)) findings.add('unlisted_file', null, null, { file });
  }

  const metaTraces = [...(isObject(index.meta) ? [['index.json', index.meta.length]] : []),
    ...(expected.get(META)?.list.map(({ hex, count }) => [`a statement signed by ${hex.slice(0, 16)}`, count]) ?? [])];
  if (meta) {
    meta.conclude([...(isObject(index.meta) ? [['index.json', index.meta]] : []), ['meta.json', meta.header]]);
    expected.compare(meta, findings);
  } else if (metaTraces.length) findings.add('meta_missing', 'meta', 0, { source: metaTraces[0][0], count: metaTraces[0][1] });
  else if (!expected.size && chains.length) findings.add('meta_absent', null);
  const present = new Set([META, ...chains.map((chain) => expected.idOf(chain))]);
  for (const [id, { name, list }] of expected) {
    const { source, count } = list.at(-1);
    if (!present.has(id)) findings.add('conversation_missing', name, 0, { source, count });
  }
  for (const [hash, count] of noted) {
    const total = meta?.total ?? 0;
    if (count === null ? !seen.has(hash) : count > total) findings.add('pinned_head_missing', 'meta', total, { total, count: count ?? hash });
    else if (count !== null && count <= meta.good && meta.hashes.get(count) !== hash) findings.add('pinned_head_differs', 'meta', count - 1);
  }
  return verdictOf(findings, keys, meta ? [...chains, meta] : chains, meta);
}

function verdictOf(findings, keys, chains, meta) {
  const ordered = [...findings].sort((a, b) => LEVELS.indexOf(b.level) - LEVELS.indexOf(a.level) || a.step - b.step);
  const dimensionsOf = (list) => {
    const has = (...codes) => list.some(({ code }) => codes.includes(code));
    const is = (name, ...levels) => list.some(({ dimension, level }) => dimension === name && levels.includes(level));
    const checked = (name) => (is(name, 'invalid') ? 'failed' : 'ok');
    return {
      content: is('content', 'invalid') || has('meta_invalid') ? 'failed' : has('not_checked') ? 'not_checked' : 'ok',
      link: checked('link'),
      signature: has('signature') ? 'failed' : has('unknown_signer') ? 'no_key' : 'ok',
      signer: is('signer', 'invalid') ? 'not_met' : has('bundled_signer', 'unknown_signer') ? 'not_vouched' : 'met',
      claims: checked('claims'),
      meta: meta ? checked('meta') : 'absent',
      completeness: is('completeness', 'incomplete', 'invalid') ? 'incomplete'
        : has('meta_absent', 'unrecorded', 'empty') ? 'unknown' : has('grown') ? 'grown' : 'complete',
      time: 'claimed',
    };
  };
  const level = worst(ordered);
  const broken = chains.find(({ fault }) => fault);
  const of = (chain) => ordered.filter((one) => one.chain === chain.name);
  return {
    level,
    valid: level === 'valid' || level === 'unverified',
    exit: EXIT[level],
    require: { value: keys.require, explicit: keys.isExplicit },
    dimensions: dimensionsOf(ordered),
    findings: ordered.map(({ step, ...finding }) => finding),
    verified: chains.reduce((sum, chain) => sum + chain.verified, 0),
    total: chains.reduce((sum, chain) => sum + chain.total, 0),
    broken_at: broken?.fault.position ?? null,
    error: ordered.find((one) => EXIT[one.level])?.message ?? null,
    chains: chains.map((chain) => ({ chain: chain.name, level: worst(of(chain)), dimensions: dimensionsOf(of(chain)), class: chain.fault?.code ?? null,
      broken_at: chain.fault?.position ?? null, verified: chain.verified, total: chain.total, head: chain.head })),
    unreadable: ordered.filter(({ code }) => code === 'unreadable').map(({ message }) => message),
    not_checked: ordered.filter(({ code }) => code === 'not_checked').map(({ message }) => message),
    keys: keys.list.map(({ hex, trust }) => [hex, trust]),
  };
}

// ---- The command -----------------------------------------------------------------------------------------------
const USAGE = `usage: node verify.mjs BUNDLE_DIR [--own HEX]... [--pin HEX]... [--known HEX]... [--pubkey HEX]...
  [--require own|pinned|known|any] [--meta-head N:HASH]... [--strict] [--json]`;

function main(args) {
  const fail = (words) => { console.error(words); process.exit(2); };
  const option = (name) => {
    const values = [];
    while (args.includes(name)) values.push(String(args.splice(args.indexOf(name), 2)[1]));
    return values;
  };
  const flag = (name) => args.includes(name) && args.splice(args.indexOf(name), 1).length > 0;
  const key = (hex) => (isSoundKey(hex.toLowerCase()) ? hex : fail(`${hex} is not a public key of 64 hex digits`));
  const head = (text) => {
    const [, count, hash] = /^(?:(\d{1,15}):)?([0-9a-f]{64})$/i.exec(text) ?? fail('--meta-head takes N:HASH, as `capsid trail verify-meta` prints it');
    return [count === undefined ? null : Number(count), hash.toLowerCase()];
  };
  const [own, pinned, known, given] = ['--own', '--pin', '--known', '--pubkey'].map((name) => option(name).map(key));
  const [[require], metaHeads, isStrict, isJson] = [option('--require'), option('--meta-head').map(head), flag('--strict'), flag('--json')];
  if (args.length !== 1 || (require && !['own', 'pinned', 'known', 'any'].includes(require))) fail(USAGE);
  const verdict = checkBundle(args[0], { own, pinned, known, given, require, metaHeads });
  const print = (line) => console.log(line.replace(/[\p{Cc}\p{Cf}]/gu, '?')); // a name must not steer the terminal
  process.exitCode = isStrict && verdict.level !== 'valid' ? verdict.exit || 1 : verdict.exit;
  if (isJson) return console.log(JSON.stringify(verdict));
  for (const { chain, level, verified, total, broken_at: at, head: last } of verdict.chains) {
    print(`[${MARK[level]}] ${chain}: ${verified}/${total} verified (${at === null ? `head ${last ?? 'genesis'}` : `broken at #${at}`})`);
  }
  const sentence = ({ code, chain, message }) => `  ${code}: ${/^(Record|The chain)/.test(message) && chain ? `${chain}: ` : ''}${message}`;
  for (const line of new Set(verdict.findings.map(sentence))) print(line);
  print(`Keys: ${verdict.keys.map(([hex, trust]) => `${hex} (${trust})`).join(', ') || 'none'}`);
  print('Not proved: that the record is complete or true, when it was made, and who holds the key.');
  print(`[${MARK[verdict.level]}] ${verdict.level}, requires ${verdict.require.value}`);
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) main(process.argv.slice(2));
