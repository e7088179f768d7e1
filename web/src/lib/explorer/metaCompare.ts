import type { Conversation } from './verifier';

/** What a meta record says of a conversation. */
export interface MetaEntry {
	tool: string;
	session: string;
	head: string;
	count: number;
	/** When it was sealed, by the signer's clock. */
	sealedAt: string | null;
	/** What was recorded of it before: how many records, and the hash of the last one. */
	earlier: { count: number; head: string }[];
}

/** The conversation that a record of the meta-chain is about; null when it records something else. */
export function toMetaEntry(conversation: Conversation | null, sealedAt: string | null): MetaEntry | null {
	const result = conversation?.[2];
	if (result?.['kind'] !== 'conversation_seal') return null;
	const { tool, session_id: session, head_hash: head, capsule_count: count } = result;
	if (typeof tool !== 'string' || typeof session !== 'string' || typeof head !== 'string') return null;
	if (typeof count !== 'number' || !Number.isInteger(count) || count < 0) return null;
	return { tool, session, head, count, sealedAt, earlier: [] };
}

/** The last entry of each conversation, in the order of their first ones. */
export function latest(entries: Iterable<MetaEntry>): MetaEntry[] {
	const byName = new Map<string, MetaEntry>();
	for (const entry of entries) {
		const name = JSON.stringify([entry.tool, entry.session]);
		const before = byName.get(name);
		const earlier = before ? [...before.earlier, { count: before.count, head: before.head }] : [];
		byName.set(name, { ...entry, earlier });
	}
	return [...byName.values()];
}

export type MetaState = 'intact' | 'grown' | 'truncated' | 'altered' | 'missing' | 'unsealed';

/** A chain as far as the meta-chain can say something about it. */
export interface Present {
	length: number;
	/** The hash of the record at a position. */
	hashAt(position: number): string | null;
	/** What is wrong inside, in a few words; null where hashes and links hold. */
	broken: string | null;
}

interface Compared {
	state: MetaState;
	why: string | null;
}

/** How a conversation compares with what was recorded of it, and why where a word is not enough. */
export function compare(entry: MetaEntry, chain: Present | null): Compared {
	if (!chain) return { state: 'missing', why: null };
	if (chain.broken !== null) return { state: 'altered', why: chain.broken };
	// A chain that was cut and went on otherwise fits its last record, and not those before.
	const isThere = ({ count }: { count: number }): boolean => count <= chain.length;
	const another = entry.earlier.find(
		(one) => one.count > 0 && isThere(one) && chain.hashAt(one.count - 1) !== one.head
	);
	if (another) return recordedBefore(another.count);
	const atEnd = entry.count === 0 ? null : chain.hashAt(entry.count - 1);
	if (atEnd === null) return { state: 'truncated', why: null };
	if (atEnd !== entry.head) return { state: 'altered', why: `record ${entry.count - 1} is another one` };
	const lost = entry.earlier.find((one) => !isThere(one));
	if (lost) return recordedBefore(lost.count);
	return { state: chain.length === entry.count ? 'intact' : 'grown', why: null };
}

function recordedBefore(count: number): Compared {
	return { state: 'altered', why: `it was recorded before with ${count} records, and those are others` };
}
