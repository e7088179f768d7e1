import { buildQuery, parseView, type ExplorerView } from './address';

/** How the page that holds the Explorer changes the address: `isNew` makes a step that "back" undoes. */
export type Navigate = (query: string, isNew: boolean) => void;

/** A browser lets a page change its address a few times a second only, and a held key is faster than that. */
const WRITE_DELAY = 250;

/** What is looked at, and the address that says so. */
export class ViewState {
	view = $state.raw<ExplorerView>(parseView(''));
	#written = '';
	#timer: ReturnType<typeof setTimeout> | undefined;

	constructor(
		query: string,
		readonly go: Navigate
	) {
		this.follow(query);
	}

	/** The address changed: by "back", or by a link. */
	follow(query: string): void {
		if (query === this.#written) return;
		this.#written = query;
		this.view = parseView(query);
	}

	show(change: Partial<ExplorerView>, isNew = false): void {
		this.view = { ...this.view, ...change };
		clearTimeout(this.#timer);
		if (isNew) this.#write(true);
		else this.#timer = setTimeout(() => this.#write(false), WRITE_DELAY);
	}

	#write(isNew: boolean): void {
		const query = buildQuery(this.view, this.#written);
		if (query === this.#written) return;
		this.#written = query;
		this.go(query, isNew);
	}
}
