import { expect, test } from 'vitest';
import { kept, type Shown } from './pages';

const page = (cursor: string | undefined, next: string | null): Shown<string> => ({
	cursor,
	next,
	rows: [String(cursor)],
	total: undefined
});
const two = [page(undefined, 'b'), page('b', 'c')];

test('more goes on after what is shown', () => {
	expect(kept(two, 'c')).toEqual({ pages: two, isThere: false });
});

test('going back drops the later pages', () => {
	expect(kept(two, undefined)).toEqual({ pages: two.slice(0, 1), isThere: true });
});

test('a cursor from elsewhere begins anew', () => {
	expect(kept(two, 'z')).toEqual({ pages: [], isThere: false });
	expect(kept([], undefined)).toEqual({ pages: [], isThere: false });
});
