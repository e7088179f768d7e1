import type { SearchResult, RecordQuery } from './types';
import { toTimelineRow, type ChainEntry } from './entry';

/** A record and where it stands. */
export interface PositionedEntry {
	chain: string;
	position: number;
	entry: ChainEntry;
}

/** Looks through records that come oldest first. */
export function searchRecords(
	records: readonly PositionedEntry[],
	query: Omit<RecordQuery, 'chain'>
): SearchResult {
	const isMatch = createMatcher(query.text);
	const types = new Map<string, number>();
	const result: PositionedEntry[] = [];
	for (const placed of records) {
		if (!isMatch(placed.entry)) continue;
		const { type } = placed.entry;
		types.set(type, (types.get(type) ?? 0) + 1);
		if (query.type === null || query.type === type) result.push(placed);
	}
	const rows = sliceWindow(result, query).map(({ chain, position, entry }) =>
		toTimelineRow(chain, position, entry)
	);
	return { total: result.length, rows, types: Object.fromEntries(types) };
}

function sliceWindow(
	result: PositionedEntry[],
	{ order, offset, limit }: Omit<RecordQuery, 'chain'>
): PositionedEntry[] {
	if (order === 'oldest') return result.slice(offset, offset + limit);
	const end = Math.max(0, result.length - offset);
	return result.slice(Math.max(0, end - limit), end).reverse();
}

/** Whether a record has the text in its type, summary, tools, request or hash. */
function createMatcher(text: string): (entry: ChainEntry) => boolean {
	const wanted = text.trim().toLowerCase();
	if (wanted === '') return () => true;
	const isHex = /^[0-9a-f]+$/.test(wanted);
	// One prompt stands in many records, one after the other.
	let request = '';
	let isInRequest = false;
	return (entry) => {
		if (entry.requestWords !== request) {
			request = entry.requestWords;
			isInRequest = request.includes(wanted);
		}
		return isInRequest || entry.words.includes(wanted) || (isHex && entry.stored.seal.hash.includes(wanted));
	};
}

/** All records by the moment they claim; of one moment in the order of their chain. */
export function sortByTime(chains: readonly (readonly PositionedEntry[])[]): PositionedEntry[] {
	return chains.flat().sort((one, other) => one.entry.time - other.entry.time);
}
