import { Chain, type ChainVerdict, type Checked } from './chain';
import type { KeySet } from './keys';
import type { PqCheck } from './pq';
import { checkContent, checkSignature, isFault, type RecordFault, type Signed } from './record';
import type { Stored } from './stored';

/** What is found out about a record and its place behind another. */
export function check(
	stored: Stored,
	before: Stored | undefined,
	signed: Signed | RecordFault | null
): Checked {
	const found = checkContent(stored);
	const base = { hash: stored.seal.hash, signedBy: stored.seal.signedBy, signed };
	if (isFault(found)) return { ...base, content: found, sequence: null, isLinked: false };
	const isLinked = found.previousHash === (before?.seal.hash ?? null);
	return { ...base, content: null, sequence: found.sequence, isLinked };
}

/** Verifies a whole chain at once. Signatures are checked where there are keys to check them with. */
export function verifyChain(
	records: Iterable<Stored>,
	keys: KeySet | null,
	pq: PqCheck | null = null
): ChainVerdict {
	const chain = new Chain();
	let before: Stored | undefined;
	for (const stored of records) {
		chain.push(check(stored, before, keys && checkSignature(stored.seal, keys, pq)));
		before = stored;
	}
	return chain.verdict();
}
