import type { Found, Query } from './types';
import { rowOf, type Entry } from './entry';

/** A record and where it stands. */
export interface Placed {
	chain: string;
	place: number;
	entry: Entry;
}

/** Looks through records that come oldest first. */
export function search(records: readonly Placed[], query: Omit<Query, 'chain'>): Found {
	const matches = matcher(query.text);
	const types = new Map<string, number>();
	const found: Placed[] = [];
	for (const placed of records) {
		if (!matches(placed.entry)) continue;
		const { type } = placed.entry;
		types.set(type, (types.get(type) ?? 0) + 1);
		if (query.type === null || query.type === type) found.push(placed);
	}
	const rows = windowOf(found, query).map(({ chain, place, entry }) => rowOf(chain, place, entry));
	return { total: found.length, rows, types: Object.fromEntries(types) };
}

function windowOf(found: Placed[], { order, offset, limit }: Omit<Query, 'chain'>): Placed[] {
	if (order === 'oldest') return found.slice(offset, offset + limit);
	const end = Math.max(0, found.length - offset);
	return found.slice(Math.max(0, end - limit), end).reverse();
}

/** Whether a record has the text in its type, summary, tools, request or hash. */
function matcher(text: string): (entry: Entry) => boolean {
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
export function byTime(chains: readonly (readonly Placed[])[]): Placed[] {
	return chains.flat().sort((one, other) => one.entry.time - other.entry.time);
}
