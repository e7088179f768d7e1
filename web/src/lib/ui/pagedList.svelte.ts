import { untrack } from 'svelte';
import { keepPages, type LoadedPage } from './pages';
import type { Page } from './resource.svelte';

/**
 * A list that grows by pages. It outlives its page, so that coming back finds what was shown, at the same height.
 */
export class PagedList<T> {
	#pages = $state.raw<LoadedPage<T>[]>([]);
	isLoading = $state(false);
	thrown = $state.raw<unknown>();
	#key: string | undefined;
	#turn = 0;

	get rows(): T[] {
		return this.#pages.flatMap((page) => page.rows);
	}

	get next(): string | null {
		return this.#pages.at(-1)?.next ?? null;
	}

	get total(): number | undefined {
		return this.#pages.at(-1)?.total;
	}

	get isFilled(): boolean {
		return this.#pages.length > 0;
	}

	/** Shows what `key` asks for, up to the page of `cursor`. */
	async show(key: string, cursor: string | undefined, read: () => Promise<Page<T>>): Promise<void> {
		// Whoever shows a page from an effect must not be woken by what that changes.
		const loadedPages = untrack(() => this.#pages);
		const before = this.#key === key ? keepPages(loadedPages, cursor) : { pages: [], isLoaded: false };
		this.#key = key;
		const turn = ++this.#turn;
		this.isLoading = !before.isLoaded;
		if (before.isLoaded) this.#pages = before.pages;
		// Several pages stay as they are; a single one is looked at again, for it may have changed.
		if (before.isLoaded && before.pages.length > 1) return;
		try {
			const page = { ...(await read()), cursor };
			if (turn !== this.#turn) return;
			this.#pages = before.isLoaded ? [page] : [...before.pages, page];
			this.thrown = undefined;
		} catch (thrown) {
			if (turn === this.#turn) this.thrown = thrown;
		} finally {
			if (turn === this.#turn) this.isLoading = false;
		}
	}
}
