import { expect, test } from 'vitest';
import { keepPages, type LoadedPage } from './pages';

const page = (cursor: string | undefined, next: string | null): LoadedPage<string> => ({
	cursor,
	next,
	rows: [String(cursor)],
	total: undefined
});
const two = [page(undefined, 'b'), page('b', 'c')];

test('the next page is appended', () => {
	expect(keepPages(two, 'c')).toEqual({ pages: two, isLoaded: false });
});

test('going back drops the later pages', () => {
	expect(keepPages(two, undefined)).toEqual({ pages: two.slice(0, 1), isLoaded: true });
});

test('an unknown cursor starts a new list', () => {
	expect(keepPages(two, 'z')).toEqual({ pages: [], isLoaded: false });
	expect(keepPages([], undefined)).toEqual({ pages: [], isLoaded: false });
});
