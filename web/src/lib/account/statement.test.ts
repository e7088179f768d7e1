import { describe, expect, it } from 'vitest';
import type { StatementEntry } from './types';
import { buildBalanceSeries, describeCounterparty, describeEntryKind } from './statement';

const entry = (time: string, delta: number, balance_after: number): StatementEntry => ({
	time,
	delta,
	balance_after,
	granted: 0,
	granted_after: 0,
	kind: 'transfer',
	reference: 'r',
	counterparty: 'mint'
});

describe('a statement as a chart', () => {
	it('runs from old to new', () => {
		const lines = [entry('2026-11-16T00:00:20Z', -5, 195), entry('2026-11-16T00:00:00Z', 200, 200)];
		const { times, balances } = buildBalanceSeries(lines, 0);
		expect(balances).toEqual([200, 195]);
		expect(times[1]! - times[0]!).toBe(20);
	});

	it('begins with the balance before the first entry', () => {
		const { times, balances } = buildBalanceSeries([entry('2026-11-16T00:00:20Z', -0.1, 0.2)], 0);
		expect(balances).toEqual([0.3, 0.2]);
		expect(times).toHaveLength(2);
	});

	it('shows each second once, with its last balance', () => {
		const lines = [entry('2026-11-16T00:00:00.900Z', -5, 195), entry('2026-11-16T00:00:00.100Z', 200, 200)];
		expect(buildBalanceSeries(lines, 0).balances).toEqual([195]);
	});

	it('extends the last balance to now', () => {
		const now = Date.parse('2026-11-17T00:00:00Z');
		const { times, balances } = buildBalanceSeries([entry('2026-11-16T00:00:00Z', 200, 200)], now);
		expect(balances).toEqual([200, 200]);
		expect(times[1]).toBe(now / 1000);
	});

	it('is empty without entries, and skips entries without a time', () => {
		expect(buildBalanceSeries([], 1e12)).toEqual({ times: [], balances: [] });
		expect(buildBalanceSeries([entry('never', 1, 1)], 0).times).toEqual([]);
	});
});

describe('the labels of a statement', () => {
	it('name known kinds and show unknown ones as they are', () => {
		expect(describeEntryKind('escrow')).toBe('Held in escrow for a bounty');
		expect(describeEntryKind('some_new_kind')).toBe('Some new kind');
	});

	it('link only to pages of this site', () => {
		expect(describeCounterparty('node:a/b')).toEqual({ text: 'a/b', href: '/nodes/a%2Fb' });
		expect(describeCounterparty('hold:bounty:bounty_1')).toEqual({
			text: 'a bounty',
			href: '/bounties/bounty_1'
		});
		expect(describeCounterparty('javascript:alert(1)')).toEqual({ text: 'javascript:alert(1)' });
	});
});
