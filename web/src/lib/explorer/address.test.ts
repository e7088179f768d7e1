import { describe, expect, test } from 'vitest';
import {
	getTimelineIndex,
	buildQuery,
	buildRecordAddress,
	buildRecordLink,
	DEFAULT_VIEW,
	findQuery,
	parseView,
	type ExplorerView
} from './address';

describe('the address', () => {
	test('says nothing at the start', () => {
		expect(parseView('')).toEqual(DEFAULT_VIEW);
		expect(buildQuery(DEFAULT_VIEW)).toBe('');
	});

	test('brings every view back', () => {
		const views: ExplorerView[] = [
			{ ...DEFAULT_VIEW, chain: 'claude-code-5f & co', record: 0 },
			{
				chain: 'meta',
				record: null,
				text: 'a=b&c',
				type: 'tool',
				order: 'oldest',
				isEverywhere: true,
				isDeep: true,
				isFailed: true,
				isGrouped: true
			}
		];
		for (const view of views) expect(parseView(buildQuery(view))).toEqual(view);
	});

	test('a short link names a chain and a position', () => {
		const link = buildRecordLink('codex-ä b', 12);
		expect(parseView(link.slice(1))).toEqual({ ...DEFAULT_VIEW, chain: 'codex-ä b', record: 12 });
		expect(parseView('%E0%A4%A/1').chain).toBe('%E0%A4%A');
	});

	test('wins over the query as a short link, and keeps the bundle', () => {
		const address = 'http://h/explorer?bundle=%2Fb%2F&chain=other&record=1&q=x#else/9';
		const link = buildRecordAddress(address, 'codex-ä b', 12);
		expect(link).toBe('http://h/explorer?bundle=%2Fb%2F#codex-%C3%A4%20b/12');
		expect(parseView(findQuery(new URL(link)))).toEqual({ ...DEFAULT_VIEW, chain: 'codex-ä b', record: 12 });
		const both = new URL('http://h/explorer?bundle=%2Fb%2F&chain=other&record=1#codex/3');
		expect(findQuery(both)).toBe('bundle=%2Fb%2F&chain=codex&record=3');
		expect(findQuery(new URL('http://h/explorer?chain=a#key=b/1'))).toBe('chain=a');
		expect(buildRecordAddress('file:///tmp/trail.html#x', 'a', 0)).toBe('file:///tmp/trail.html#a/0');
	});

	test('keeps the bundle and drops what it does not know', () => {
		expect(buildQuery({ ...DEFAULT_VIEW, chain: 'a' }, 'bundle=/b/&other=1')).toBe('bundle=%2Fb%2F&chain=a');
	});

	test('ignores a record that is not a number', () => {
		for (const record of ['-1', '1.5', 'x', '', '99999999999'])
			expect(parseView(`record=${record}`).record).toBeNull();
	});
});

test('a record stands where the order puts it', () => {
	expect(getTimelineIndex(0, 10, 'oldest')).toBe(0);
	expect(getTimelineIndex(0, 10, 'newest')).toBe(9);
});
