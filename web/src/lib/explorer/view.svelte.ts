import { queryOf, viewOf, type View } from './address';

/** How the page that holds the Explorer changes the address: `isNew` makes a step that "back" undoes. */
export type Go = (query: string, isNew: boolean) => void;

/** A browser lets a page change its address a few times a second only, and a held key is faster than that. */
const PAUSE = 250;

/** What is looked at, and the address that says so. */
export class Look {
	view = $state.raw<View>(viewOf(''));
	#written = '';
	#timer: ReturnType<typeof setTimeout> | undefined;

	constructor(
		query: string,
		readonly go: Go
	) {
		this.follow(query);
	}

	/** The address changed: by "back", or by a link. */
	follow(query: string): void {
		if (query === this.#written) return;
		this.#written = query;
		this.view = viewOf(query);
	}

	show(change: Partial<View>, isNew = false): void {
		this.view = { ...this.view, ...change };
		clearTimeout(this.#timer);
		if (isNew) this.#write(true);
		else this.#timer = setTimeout(() => this.#write(false), PAUSE);
	}

	#write(isNew: boolean): void {
		const query = queryOf(this.view, this.#written);
		if (query === this.#written) return;
		this.#written = query;
		this.go(query, isNew);
	}
}
