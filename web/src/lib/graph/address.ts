/** What the page shows, as its address says it: whoever gets the address sees the same. */
export interface View {
	/** The words that are searched, */
	q: string;
	/** or the thing that stands in the middle. */
	around: string;
	/** The ends of a way. */
	from: string;
	to: string;
	/** The kinds that are shown; none named means all. */
	kinds: string[];
	category: string;
	environment: string;
	since: string;
	/** The things whose further relations are shown too, in the order in which they were asked for. */
	open: string[];
	/** The thing whose details are shown. */
	at: string;
}

const TEXTS = ['q', 'around', 'from', 'to', 'category', 'environment', 'since', 'at'] as const;
const LISTS = ['kinds', 'open'] as const;

/** How many things can be opened one after the other; an address may name thousands. */
export const MOST_OPEN = 40;

export function readView(params: URLSearchParams): View {
	const text = (name: string) => params.get(name)?.trim() ?? '';
	const list = (name: string) => {
		const parts = text(name)
			.split(',')
			.map((part) => part.trim());
		return [...new Set(parts)].filter((part) => part !== '').slice(0, MOST_OPEN);
	};
	return {
		...(Object.fromEntries(TEXTS.map((name) => [name, text(name)])) as Record<
			(typeof TEXTS)[number],
			string
		>),
		...(Object.fromEntries(LISTS.map((name) => [name, list(name)])) as Record<
			(typeof LISTS)[number],
			string[]
		>)
	};
}

/** The address of a view. What is empty is left out. */
export function addressOf(view: View, change: Partial<View> = {}): string {
	const next = { ...view, ...change };
	const params = new URLSearchParams();
	for (const name of TEXTS) if (next[name]) params.set(name, next[name]);
	for (const name of LISTS) if (next[name].length) params.set(name, next[name].join(','));
	// A comma needs no escape in a query, and lists are easier to read without.
	const text = params.toString().replaceAll('%2C', ',');
	return text ? `/graph?${text}` : '/graph';
}

/** Other words, another middle: what was opened and chosen before does not belong to it. */
export function startOf(view: View, change: Partial<View>): string {
	return addressOf(view, { q: '', around: '', from: '', to: '', open: [], at: '', ...change });
}

/** Another filter asks everything again, and what it leaves out may be what was chosen. */
export function filtered(view: View, change: Partial<View>): string {
	return addressOf(view, { at: '', ...change });
}

/** The kinds that are shown after one was switched, out of all that can be; all again is the same as none named. */
export function switched(shown: string[], kind: string, all: string[]): string[] {
	const on = shown.length ? shown : all;
	const next = on.includes(kind) ? on.filter((each) => each !== kind) : [...on, kind];
	return all.every((each) => next.includes(each)) ? [] : next;
}

/** A question to the hub. Its key tells whether it was asked before. */
export interface Call {
	key: string;
	path: '/kg/graph' | '/kg/path';
	query: Record<string, string>;
	/** The things that the answer is placed at, where it adds to others. */
	anchors?: string[];
}

/** As many things as the hub draws at once. */
const MOST_DRAWN = '300';

/** The filters of a view, as an address has them. */
export function filtersOf({ kinds, category, environment, since }: View): Record<string, string> {
	return given({ kinds: kinds.join(','), category, environment, since });
}

/**
 * What the hub is asked for a view, the first answer before what adds to it. Where nothing is asked for, that is what came
 * last; a way between two things stands by itself. Whatever the address says, no more than three answers are new.
 */
export function callsOf(view: View, isKnown: (key: string) => boolean = () => false): Call[] {
	const filters = filtersOf(view);
	const calls: Call[] = [];
	const isWayAlone = view.from && view.to && !view.q && !view.around;
	if (!isWayAlone) calls.push(call('/kg/graph', { q: view.q, around: view.around, ...filters }));
	calls.push(...openings(view.open, filters, isKnown));
	if (view.from && view.to) calls.push(call('/kg/path', { from: view.from, to: view.to }));
	return calls;
}

/** What was opened before is known by the answers of then. All that is new is asked for at once. */
function openings(ids: string[], filters: Record<string, string>, isKnown: (key: string) => boolean): Call[] {
	if (!ids.length) return [];
	for (let most = ids.length; most > 0; most -= 1) {
		const first = opening(ids.slice(0, most), filters);
		if (isKnown(first.key)) return [first, ...openings(ids.slice(most), filters, isKnown)];
	}
	return [opening(ids, filters)];
}

function opening(ids: string[], filters: Record<string, string>): Call {
	const limit = ids.length > 1 ? MOST_DRAWN : '';
	return { ...call('/kg/graph', { around: ids.join(','), ...filters, limit }), anchors: ids };
}

function call(path: Call['path'], query: Record<string, string>): Call {
	const asked = given(query);
	return { key: `${path}?${new URLSearchParams(asked)}`, path, query: asked };
}

function given(query: Record<string, string>): Record<string, string> {
	return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ''));
}

/** Whether anything is asked for. */
export function isAsked({ q, around, from, to }: View): boolean {
	return Boolean(q || around || (from && to));
}
