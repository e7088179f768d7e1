import { describe, expect, test } from 'vitest';
import { indexOf, queryOf, START, viewOf, type View } from './address';

describe('the address', () => {
	test('says nothing at the start', () => {
		expect(viewOf('')).toEqual(START);
		expect(queryOf(START)).toBe('');
	});

	test('brings every view back', () => {
		const views: View[] = [
			{ ...START, chain: 'claude-code-5f & co', record: 0 },
			{ chain: 'meta', record: null, text: 'a=b&c', type: 'tool', order: 'oldest', isEverywhere: true }
		];
		for (const view of views) expect(viewOf(queryOf(view))).toEqual(view);
	});

	test('keeps the bundle and drops what it does not know', () => {
		expect(queryOf({ ...START, chain: 'a' }, 'bundle=/b/&other=1')).toBe('bundle=%2Fb%2F&chain=a');
	});

	test('takes no nonsense for a record', () => {
		for (const record of ['-1', '1.5', 'x', '', '99999999999'])
			expect(viewOf(`record=${record}`).record).toBeNull();
	});
});

test('a record stands where the order puts it', () => {
	expect(indexOf(0, 10, 'oldest')).toBe(0);
	expect(indexOf(0, 10, 'newest')).toBe(9);
});
