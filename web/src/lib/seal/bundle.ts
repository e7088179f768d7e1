import { claimOf, type Claim } from './claim';
import { at, Int, parse, textAt, type Json } from './json';

/** A chain that an index lists. */
export interface Listed {
	id: string;
	/** Whether the id can only mean a file in the same folder. */
	isPlain: boolean;
	tool: string | null;
	session: string | null;
	title: string | null;
	claim: Claim;
}

/** The index of a bundle, of either generation. It is a stranger's: every word of it is checked. */
export interface Index {
	generatedAt: string | null;
	chains: Listed[];
	/** What is said of the meta-chain; null where nothing is. */
	meta: Claim | null;
	/** In lowercase digits. */
	keys: string[];
	/** Why keys are not taken. */
	refused: string[];
	/** What the index says about itself and does not hold. */
	contradictions: string[];
	/** Names of chains that cannot stand for one file each: listed twice, or the meta-chain's own. */
	ambiguous: string[];
}

export function readIndex(text: string, isKey: (hex: string) => boolean): Index {
	const index = parse(text.startsWith('\ufeff') ? text.slice(1) : text);
	const listed = at(index, 'chains');
	if (!Array.isArray(listed)) throw new Error('it lists no chains');
	const meta = at(index, 'meta') ?? null;
	const chains = listed.map(listedChain);
	return {
		generatedAt: textAt(index, 'generated_at'),
		chains,
		ambiguous: ambiguous(chains),
		meta: meta === null ? null : claimOf(meta),
		...keys(index, isKey),
		contradictions: contradictions(index, listed)
	};
}

function listedChain(entry: Json): Listed {
	const id = textAt(entry, 'id') ?? '';
	const tool = textAt(entry, 'tool');
	const session = tool !== null && id.startsWith(`${tool}-`) ? id.slice(tool.length + 1) : id;
	const isPlain = id !== '' && id !== '.' && id !== '..' && !/[/\\:\0]/.test(id);
	return {
		id,
		isPlain,
		tool,
		session: session || null,
		title: textAt(entry, 'title'),
		claim: claimOf(entry)
	};
}

/** The keys whose names are the beginnings of themselves, and why the others are refused. */
function keys(index: Json, isKey: (hex: string) => boolean): { keys: string[]; refused: string[] } {
	const named: [string, Json][] = [];
	const own = textAt(index, 'public_key');
	if (own) named.push([textAt(index, 'fingerprint') ?? own.slice(0, 16), own]);
	const listed = at(index, 'keys');
	if (listed instanceof Map) named.push(...listed);
	const taken = new Set<string>();
	const refused: string[] = [];
	for (const [name, text] of named) {
		const key = typeof text === 'string' && isKey(text) ? text.toLowerCase() : null;
		if (key?.slice(0, 16) === name) taken.add(key);
		else if (key) refused.push(`The name \`${name}\` is not the beginning of its key ${key}.`);
		else refused.push(`The key of the name \`${name}\` is no public key.`);
	}
	return { keys: [...taken], refused };
}

function ambiguous(chains: Listed[]): string[] {
	const times = new Map<string, number>();
	for (const { id } of chains) times.set(id, (times.get(id) ?? 0) + 1);
	return [...times].flatMap(([id, count]) => [
		...(count > 1
			? [`The chain \`${id}\` is listed ${count} times, and only its first entry is checked.`]
			: []),
		...(id === 'meta' ? ['A chain is named `meta`: its file would be the meta-chain itself.'] : [])
	]);
}

function contradictions(index: Json, listed: Json[]): string[] {
	const whole = (from: Json, name: string): bigint | null => {
		const value = at(from, name);
		return value instanceof Int ? value.small() : null;
	};
	const records = listed.reduce<bigint>((sum, entry) => sum + (whole(entry, 'length') ?? 0n), 0n);
	const differs = (name: string, found: bigint, what: string): string[] => {
		const claimed = whole(index, name);
		if (claimed === null || claimed === found) return [];
		return [`\`${name}\` of index.json says ${claimed} and ${found} ${what} are listed.`];
	};
	return [
		...differs('chain_count', BigInt(listed.length), 'chains'),
		...differs('capsule_count', records, 'records')
	];
}
