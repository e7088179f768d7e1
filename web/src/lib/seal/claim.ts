import { at, countAt, textAt, type Json } from './json';

/** What a claim is compared with. */
interface Seal {
	hash: string;
	signedAt: string | null;
}

/** What a bundle says about a chain besides the records themselves. What has another type than it should says nothing. */
export interface Claim {
	length: number | null;
	head: string | null;
	genesis: string | null;
	hashesOk: boolean | null;
	signedBy: string[] | null;
	startedAt: string | null;
	endedAt: string | null;
}

export function claimOf(entry: Json): Claim {
	const hashesOk = at(entry, 'all_hashes_ok');
	const signedBy = at(entry, 'signed_by');
	const names = Array.isArray(signedBy) ? signedBy.filter((name) => typeof name === 'string') : null;
	return {
		length: countAt(entry, 'length'),
		head: textAt(entry, 'head_hash'),
		genesis: textAt(entry, 'genesis_hash'),
		hashesOk: typeof hashesOk === 'boolean' ? hashesOk : null,
		signedBy: names && [...new Set(names)].sort(),
		startedAt: textAt(entry, 'started_at'),
		endedAt: textAt(entry, 'ended_at')
	};
}

/** What the records of a chain come to. */
export interface Facts {
	length: number;
	first: Seal | null;
	last: Seal | null;
	signedBy: Set<string>;
}

/** In what the records of a chain that holds contradict what was said of it; null where they bear it out. */
export function contradiction(claim: Claim, facts: Facts): string | null {
	const { first, last } = facts;
	if (claim.length !== null && claim.length !== facts.length) {
		return `${claim.length} records were announced and ${facts.length} are there`;
	}
	return (
		differs('the head', claim.head, last?.hash) ??
		differs('the first record', claim.genesis, first?.hash) ??
		(claim.hashesOk === false ? 'wrong hashes were announced and every hash is right' : null) ??
		signersDiffer(claim.signedBy, [...facts.signedBy].sort()) ??
		differs('the start', claim.startedAt, first?.signedAt) ??
		differs('the end', claim.endedAt, last?.signedAt)
	);
}

function signersDiffer(claimed: string[] | null, found: string[]): string | null {
	if (
		claimed === null ||
		(claimed.length === found.length && claimed.every((name, at) => name === found[at]))
	) {
		return null;
	}
	return `the signers were announced as [${claimed.join(', ')}] and are [${found.join(', ')}]`;
}

function differs(what: string, claimed: string | null, found: string | null | undefined): string | null {
	if (claimed === null || claimed === (found ?? '')) return null;
	return `${what} was announced as ${short(claimed)} and is ${found == null ? 'nothing' : short(found)}`;
}

/** Hashes are told by their beginning, moments whole. */
function short(text: string): string {
	return [...text].slice(0, text.length === 64 ? 12 : 40).join('');
}
