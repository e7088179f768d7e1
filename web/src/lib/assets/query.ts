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
const USUAL = {
	q: '',
	type: 'Capsule',
	status: 'promoted',
	category: '',
	label: '',
	signal: '',
	sort: 'newest'
};
type Name = keyof typeof USUAL;
const NAMES = Object.keys(USUAL) as Name[];

export function readQuery(params: URLSearchParams): BrowseQuery {
	const read = Object.fromEntries(NAMES.map((name) => [name, params.get(name)?.trim() || USUAL[name]]));
	return { ...(read as Record<Name, string>), cursor: params.get('cursor') || undefined };
}

/** The address of a query. What is usual is left out, and a changed filter begins at the first page. */
export function addressOf(query: BrowseQuery, change: Partial<BrowseQuery> = {}): string {
	const next = { ...query, cursor: undefined, ...change };
	const params = new URLSearchParams();
	for (const name of NAMES) if (next[name] !== USUAL[name]) params.set(name, next[name]);
	if (next.cursor) params.set('cursor', next.cursor);
	const text = params.toString();
	return text ? `/browse?${text}` : '/browse';
}

const LIMIT = 20;
const given = (value: string) => (value && value !== 'all' ? value : undefined);

/** What the hub is asked: words are searched, everything else is listed. A search has an order of its own. */
export function callOf(query: BrowseQuery): {
	isSearch: boolean;
	query: Record<string, string | number | undefined>;
} {
	const { q, type, status, category, label, signal, sort, cursor } = query;
	const both = { type: given(type), status, cursor, limit: LIMIT };
	return q
		? { isSearch: true, query: { ...both, q, signals: given(signal) } }
		: {
				isSearch: false,
				query: { ...both, category: given(category), label: given(label), signal: given(signal), sort }
			};
}

/** What stays in the address when other words are searched: also what a search cannot take, for later. */
export function beside(query: BrowseQuery): Record<string, string> {
	const kept = NAMES.filter((name) => name !== 'q' && query[name] !== USUAL[name]);
	return Object.fromEntries(kept.map((name) => [name, query[name]]));
}

/** The filters that are on, each with the address without it. The type is not among them: there always is one. */
export function active(query: BrowseQuery): { name: Name; value: string; without: string }[] {
	const filters: Name[] = query.q ? ['q', 'status', 'signal'] : ['status', 'category', 'label', 'signal'];
	return filters
		.filter((name) => query[name] !== USUAL[name])
		.map((name) => ({ name, value: query[name], without: addressOf(query, { [name]: USUAL[name] }) }));
}
