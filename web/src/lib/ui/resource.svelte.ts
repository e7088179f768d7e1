import { untrack } from 'svelte';

/** What a page asks the hub for. While it is asked again, what was there stays. */
export class Resource<T> {
	value = $state.raw<T | undefined>();
	thrown = $state.raw<unknown>();
	isLoading = $state(false);
	#turn = 0;

	constructor(readonly request: () => Promise<T>) {}

	/** Asks. An effect that calls this names itself what it depends on. */
	load = () => untrack(() => this.#load());

	async #load() {
		const turn = ++this.#turn;
		this.isLoading = true;
		try {
			const value = await this.request();
			if (turn !== this.#turn) return;
			// The same answer again redraws nothing.
			if (JSON.stringify(value) !== JSON.stringify(this.value)) this.value = value;
			this.thrown = undefined;
		} catch (thrown) {
			if (turn === this.#turn) this.thrown = thrown;
		} finally {
			if (turn === this.#turn) this.isLoading = false;
		}
	}

	/** Forgets what was there: another thing is asked for. */
	clear() {
		this.#turn += 1;
		[this.value, this.thrown, this.isLoading] = [undefined, undefined, false];
	}
}

export interface Page<T> {
	rows: T[];
	next: string | null;
	total?: number | undefined;
}

const DEFAULT_PAGE_SIZE = 20;
const MAX_PAGE_SIZE = 100;

/** A list that comes in pages. */
export class ResourceList<T> {
	rows = $state.raw<T[] | undefined>();
	next = $state<string | null>(null);
	total = $state<number | undefined>();
	thrown = $state.raw<unknown>();
	isLoading = $state(false);
	#turn = 0;

	constructor(readonly request: (cursor: string | undefined, limit: number) => Promise<Page<T>>) {}

	/** From the beginning, as many as are shown now. */
	load = () =>
		untrack(() =>
			this.#loadPage(undefined, Math.min(MAX_PAGE_SIZE, Math.max(DEFAULT_PAGE_SIZE, this.rows?.length ?? 0)))
		);

	more = () => this.#loadPage(this.next ?? undefined, DEFAULT_PAGE_SIZE);

	clear() {
		this.#turn += 1;
		[this.rows, this.next, this.thrown, this.isLoading] = [undefined, null, undefined, false];
	}

	async #loadPage(cursor: string | undefined, limit: number) {
		const turn = ++this.#turn;
		this.isLoading = true;
		try {
			const page = await this.request(cursor, limit);
			if (turn !== this.#turn) return;
			this.rows = cursor ? [...(this.rows ?? []), ...page.rows] : page.rows;
			[this.next, this.total, this.thrown] = [page.next, page.total, undefined];
		} catch (thrown) {
			if (turn === this.#turn) this.thrown = thrown;
		} finally {
			if (turn === this.#turn) this.isLoading = false;
		}
	}
}
