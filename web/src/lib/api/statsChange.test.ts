import { expect, test } from 'vitest';
import { hasStatsChanged } from './statsChange';

const stats = {
	status: 'ok',
	hub_version: '1',
	protocol: 'p',
	protocol_version: '1',
	uptime_s: 1,
	total_nodes: 1,
	active_24h: 1,
	total_assets: 1,
	total_all_types: 2,
	total_capsules: 1,
	promoted_assets: 0,
	candidate_assets: 1,
	total_calls: 0,
	today_calls: 0,
	total_reuses: 0,
	total_views: 0,
	open_tasks: 0,
	open_bounties: 0
};

test('views and calls do not count as a change', () => {
	expect(hasStatsChanged(undefined, stats)).toBe(false);
	expect(
		hasStatsChanged(stats, { ...stats, total_views: 9, total_calls: 9, today_calls: 9, uptime_s: 9 })
	).toBe(false);
});

test('a decision, a task and a node count as a change', () => {
	expect(hasStatsChanged(stats, { ...stats, candidate_assets: 0, promoted_assets: 1 })).toBe(true);
	expect(hasStatsChanged(stats, { ...stats, open_tasks: 1 })).toBe(true);
	expect(hasStatsChanged(stats, { ...stats, total_nodes: 2 })).toBe(true);
});
