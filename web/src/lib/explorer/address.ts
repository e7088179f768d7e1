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
}

/** No chain has this name: its file would be the meta-chain's own. */
export const META = 'meta';

export const DEFAULT_VIEW: ExplorerView = {
	chain: null,
	record: null,
	text: '',
	type: null,
	order: 'newest',
	isEverywhere: false
};

export function parseView(query: string): ExplorerView {
	const said = new URLSearchParams(query);
	const record = said.get('record') ?? '';
	return {
		chain: said.get('chain') || null,
		record: /^\d{1,9}$/.test(record) ? Number(record) : null,
		text: said.get('q') ?? '',
		type: said.get('type') || null,
		order: said.get('order') === 'oldest' ? 'oldest' : 'newest',
		isEverywhere: said.get('in') === 'all'
	};
}

/** The query of a view, without what is as it is at the start. What else the address says stays in front. */
export function buildQuery(view: ExplorerView, kept = ''): string {
	const said = new URLSearchParams();
	const bundle = new URLSearchParams(kept).get('bundle');
	if (bundle) said.set('bundle', bundle);
	if (view.chain) said.set('chain', view.chain);
	if (view.record !== null) said.set('record', String(view.record));
	if (view.text) said.set('q', view.text);
	if (view.type) said.set('type', view.type);
	if (view.order !== 'newest') said.set('order', view.order);
	if (view.isEverywhere) said.set('in', 'all');
	return said.toString();
}

/** Where a record stands in its unfiltered timeline. */
export function getTimelineIndex(place: number, length: number, order: ExplorerView['order']): number {
	return order === 'oldest' ? place : length - 1 - place;
}
