/** What the page of assets shows, as its address says it. */
export interface BrowseQuery {
	q: string;
	type: string;
	status: string;
	category: string;
	label: string;
	signal: string;
	sort: string;
	cursor: string | undefined;
}

export const SORTS = [
	['newest', 'Newest'],
	['ranked', 'Best score'],
	['most_used', 'Most used']
] as const;

/** One solution is one capsule; its gene and event are shown when they are asked for. */
export const TYPES = [
	['Capsule', 'Capsules'],
	['Gene', 'Genes'],
	['EvolutionEvent', 'Events'],
	['all', 'All']
] as const;

/** What a filter is when the address does not say it. */
const DEFAULT_QUERY = {
	q: '',
	type: 'Capsule',
	status: 'promoted',
	category: '',
	label: '',
	signal: '',
	sort: 'newest'
};
type FilterName = keyof typeof DEFAULT_QUERY;
const FILTER_NAMES = Object.keys(DEFAULT_QUERY) as FilterName[];

export function parseBrowseQuery(params: URLSearchParams): BrowseQuery {
	const read = Object.fromEntries(
		FILTER_NAMES.map((name) => [name, params.get(name)?.trim() || DEFAULT_QUERY[name]])
	);
	return { ...(read as Record<FilterName, string>), cursor: params.get('cursor') || undefined };
}

/** The address of a query. What is usual is left out, and a changed filter begins at the first page. */
export function buildBrowseHref(query: BrowseQuery, change: Partial<BrowseQuery> = {}): string {
	const next = { ...query, cursor: undefined, ...change };
	const params = new URLSearchParams();
	for (const name of FILTER_NAMES) if (next[name] !== DEFAULT_QUERY[name]) params.set(name, next[name]);
	if (next.cursor) params.set('cursor', next.cursor);
	const text = params.toString();
	return text ? `/browse?${text}` : '/browse';
}

const PAGE_SIZE = 20;
const omitAll = (value: string) => (value && value !== 'all' ? value : undefined);

/** What the hub is asked: words are searched, everything else is listed. A search has an order of its own. */
export function buildAssetsRequest(query: BrowseQuery): {
	isSearch: boolean;
	query: Record<string, string | number | undefined>;
} {
	const { q, type, status, category, label, signal, sort, cursor } = query;
	const both = { type: omitAll(type), status, cursor, limit: PAGE_SIZE };
	return q
		? { isSearch: true, query: { ...both, q, signals: omitAll(signal) } }
		: {
				isSearch: false,
				query: { ...both, category: omitAll(category), label: omitAll(label), signal: omitAll(signal), sort }
			};
}

/** What stays in the address when other words are searched: also what a search cannot take, for later. */
export function listOtherFilters(query: BrowseQuery): Record<string, string> {
	const changedNames = FILTER_NAMES.filter((name) => name !== 'q' && query[name] !== DEFAULT_QUERY[name]);
	return Object.fromEntries(changedNames.map((name) => [name, query[name]]));
}

/** The filters that are on, each with the address without it. The type is not among them: there always is one. */
export function listActiveFilters(
	query: BrowseQuery
): { name: FilterName; value: string; without: string }[] {
	const filters: FilterName[] = query.q
		? ['q', 'status', 'signal']
		: ['status', 'category', 'label', 'signal'];
	return filters
		.filter((name) => query[name] !== DEFAULT_QUERY[name])
		.map((name) => ({
			name,
			value: query[name],
			without: buildBrowseHref(query, { [name]: DEFAULT_QUERY[name] })
		}));
}
