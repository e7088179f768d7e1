/** What the reader looks at, as the address keeps it: a link shows somebody else the same. */
export interface ExplorerView {
	/** A chain, `META` for the meta-chain, or null for the first one there is. */
	chain: string | null;
	/** The place of a record in its chain. */
	record: number | null;
	text: string;
	type: string | null;
	order: 'newest' | 'oldest';
	/** Search all chains, not only this one. */
	isEverywhere: boolean;
	/** Search arguments and results too. */
	isDeep: boolean;
	/** Only what failed, was blocked, or ended nobody knows how. */
	isFailed: boolean;
	/** Show the prompt above the records that answer it. */
	isGrouped: boolean;
}

/** No chain has this name: its file would be the meta-chain's own. */
export const META = 'meta';

export const DEFAULT_VIEW: ExplorerView = {
	chain: null,
	record: null,
	text: '',
	type: null,
	order: 'newest',
	isEverywhere: false,
	isDeep: false,
	isFailed: false,
	isGrouped: false
};

/** `chain/position`, as short links have it, or a query. */
export function parseView(query: string): ExplorerView {
	const link = /^([^=&]+)\/(\d{1,9})$/.exec(query);
	if (link) return { ...DEFAULT_VIEW, chain: decode(link[1] ?? ''), record: Number(link[2]) };
	const params = new URLSearchParams(query);
	const record = params.get('record') ?? '';
	return {
		chain: params.get('chain') || null,
		record: /^\d{1,9}$/.test(record) ? Number(record) : null,
		text: params.get('q') ?? '',
		type: params.get('type') || null,
		order: params.get('order') === 'oldest' ? 'oldest' : 'newest',
		isEverywhere: params.get('in') === 'all',
		isDeep: params.has('deep'),
		isFailed: params.has('failed'),
		isGrouped: params.has('grouped')
	};
}

/** A short link to a record: `#chain/position`. */
export function buildRecordLink(chain: string, position: number): string {
	return `#${encodeURIComponent(chain)}/${position}`;
}

/** The address of a record, to be passed on: the page, the bundle that it shows, and the short link. */
export function buildRecordAddress(address: string, chain: string, position: number): string {
	const url = new URL(address);
	const bundle = url.searchParams.get('bundle');
	url.search = bundle ? new URLSearchParams({ bundle }).toString() : '';
	url.hash = buildRecordLink(chain, position);
	return url.href;
}

/** The query of an address. A short link behind the `#` wins: whoever follows it wants that record. */
export function findQuery({ search, hash }: { search: string; hash: string }): string {
	const query = search.replace(/^\?/, '');
	// The key of the local viewer stands there too, and is no link.
	if (!/^#[^=&]+\/\d{1,9}$/.test(hash)) return query;
	return buildQuery(parseView(hash.slice(1)), query);
}

function decode(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}

/** The query of a view, without what is as it is at the start. What else the address says stays in front. */
export function buildQuery(view: ExplorerView, currentQuery = ''): string {
	const params = new URLSearchParams();
	const bundle = new URLSearchParams(currentQuery).get('bundle');
	if (bundle) params.set('bundle', bundle);
	if (view.chain) params.set('chain', view.chain);
	if (view.record !== null) params.set('record', String(view.record));
	if (view.text) params.set('q', view.text);
	if (view.type) params.set('type', view.type);
	if (view.order !== 'newest') params.set('order', view.order);
	if (view.isEverywhere) params.set('in', 'all');
	if (view.isDeep) params.set('deep', '1');
	if (view.isFailed) params.set('failed', '1');
	if (view.isGrouped) params.set('grouped', '1');
	return params.toString();
}

/** Where a record stands in its unfiltered timeline. */
export function getTimelineIndex(position: number, length: number, order: ExplorerView['order']): number {
	return order === 'oldest' ? position : length - 1 - position;
}
