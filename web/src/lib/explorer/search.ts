import type { RecordQuery, SearchResult } from './types';
import type { ScannedChain } from './scannedChain';

/** A record and where it stands. */
export interface PositionedRecord {
	chain: ScannedChain;
	position: number;
}

/** What is searched: everything of a query but the chain, and the records that a search of all texts gave. */
export type RecordSearch = Omit<RecordQuery, 'chain'> & {
	matches?: Map<ScannedChain, Set<number>> | undefined;
};

/** Looks through records that come oldest first. */
export function searchRecords(records: Iterable<PositionedRecord>, query: RecordSearch): SearchResult {
	const isMatch = createMatcher(query);
	const types = new Map<string, number>();
	const result: PositionedRecord[] = [];
	for (const placed of records) {
		if (!isMatch(placed)) continue;
		const type = placed.chain.index.getType(placed.position);
		types.set(type, (types.get(type) ?? 0) + 1);
		if (query.type === null || query.type === type) result.push(placed);
	}
	const rows = sliceWindow(result, query).map(({ chain, position }) =>
		chain.index.getRow(chain.id, position)
	);
	return { total: result.length, rows, types: Object.fromEntries(types) };
}

export function* listRecords(chain: ScannedChain): Generator<PositionedRecord> {
	for (let position = 0; position < chain.index.count; position++) yield { chain, position };
}

function sliceWindow(
	result: PositionedRecord[],
	{ order, offset, limit }: Omit<RecordQuery, 'chain'>
): PositionedRecord[] {
	if (order === 'oldest') return result.slice(offset, offset + limit);
	const end = Math.max(0, result.length - offset);
	return result.slice(Math.max(0, end - limit), end).reverse();
}

/** Words that stand for success. Anything else failed, was blocked, or ended nobody knows how. */
const SUCCESS = new Set(['success', '']);

/** Whether a record has the text in its type, summary, tool, request or hash, or was matched by its whole text. */
function createMatcher({ text, isFailed, matches }: RecordSearch): (one: PositionedRecord) => boolean {
	const wanted = text.trim().toLowerCase();
	const isHex = /^[0-9a-f]+$/.test(wanted);
	return ({ chain, position }) => {
		const { index } = chain;
		if (isFailed && SUCCESS.has(index.getStatus(position))) return false;
		if (wanted === '' || matches?.get(chain)?.has(position)) return true;
		if (index.getWords(position).includes(wanted)) return true;
		if (index.getRequest(position).toLowerCase().includes(wanted)) return true;
		return isHex && (index.getHash(position) ?? '').includes(wanted);
	};
}

/** All records by the moment they claim; of one moment in the order of their chain. */
export function sortByTime(chains: readonly ScannedChain[]): PositionedRecord[] {
	const all = chains.flatMap((chain) => [...listRecords(chain)]);
	return all.sort(
		(one, other) => one.chain.index.getTime(one.position) - other.chain.index.getTime(other.position)
	);
}
