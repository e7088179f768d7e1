import type { Page } from './resource.svelte';

/** One page of a list, and the cursor that led to it. */
export interface LoadedPage<T> extends Page<T> {
	cursor: string | undefined;
}

/**
 * What stays of the pages on the screen when the address now asks for this cursor, and whether its page is among them.
 * "More" goes on after the last page, going back drops the later ones, and any other cursor begins anew.
 */
export function keepPages<T>(
	pages: LoadedPage<T>[],
	cursor: string | undefined
): { pages: LoadedPage<T>[]; isLoaded: boolean } {
	const index = pages.findIndex((page) => page.cursor === cursor);
	if (index >= 0) return { pages: pages.slice(0, index + 1), isLoaded: true };
	const follows = cursor !== undefined && pages.at(-1)?.next === cursor;
	return { pages: follows ? pages : [], isLoaded: false };
}
