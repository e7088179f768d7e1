import { sha3 } from './hash';
import type { KeySet, TrustedKey } from './keys';
import type { PqCheck } from './pq';
import { holds, readSignature } from './signature';
import { skim, type Head } from './skim';
import type { Seal, Stored } from './stored';

/** The kinds of failure, in the words of the command line. */
export type FaultClass = 'hash' | 'link' | 'signature' | 'unknown_signer' | 'malformed' | 'missing';

/** Something wrong with a record; the chain adds the position. */
export interface RecordFault {
	code: FaultClass;
	what: string;
}

export const HASH_NOT_HEX: RecordFault = { code: 'malformed', what: 'hash is not 64 hex digits' };
export const HASH_MISMATCH: RecordFault = { code: 'hash', what: 'content hash mismatch' };
export const NO_RECORD: RecordFault = { code: 'malformed', what: 'content is not a record' };
export const SIGNATURE_INVALID: RecordFault = { code: 'signature', what: 'signature invalid' };
export const PQ_INVALID: RecordFault = { code: 'signature', what: 'post-quantum signature invalid' };
export const UNKNOWN_SIGNER: RecordFault = { code: 'unknown_signer', what: 'unknown signer' };

/** The place that the text claims, or what is wrong. The hash comes first: a text that is not sealed says nothing. */
export function checkContent(stored: Stored): Head | RecordFault {
	if (!/^[0-9a-fA-F]{64}$/.test(stored.seal.hash)) return HASH_NOT_HEX;
	if (sha3(stored.canonical) !== stored.seal.hash) return HASH_MISMATCH;
	return skim(stored.canonical) ?? NO_RECORD;
}

export function isFault(found: object): found is RecordFault {
	return 'what' in found;
}

/** A signature that holds, and whether there is a post-quantum one that nobody could check. */
export interface Signed {
	by: TrustedKey;
	pqUnchecked: boolean;
}

/** Who signed, or what is wrong. Every key that goes by the signer's name is tried. */
export function checkSignature(seal: Seal, keys: KeySet, pq: PqCheck | null): Signed | RecordFault {
	const signature = readSignature(seal.signature);
	if (!signature) return SIGNATURE_INVALID;
	const candidates = keys.candidates(seal.signedBy);
	if (candidates.length === 0) return UNKNOWN_SIGNER;
	const by = candidates.find(({ key }) => holds(seal.hash, signature, key));
	if (!by) return SIGNATURE_INVALID;
	if (seal.signaturePq === '') return { by, pqUnchecked: false };
	// The machine's post-quantum key goes with its own keys; about another's signature it says nothing.
	if (!pq || !keys.isOwn(by.key)) return { by, pqUnchecked: true };
	return pq(seal.hash, seal.signaturePq) ? { by, pqUnchecked: false } : PQ_INVALID;
}
