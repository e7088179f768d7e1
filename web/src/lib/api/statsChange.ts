import type { components } from './schema';

type HubStats = components['schemas']['HubStats'];

/** What pages show. Every view and call counts too, and would make each reader wake all the others. */
const DISPLAYED_STATS = [
	'total_nodes',
	'total_assets',
	'total_all_types',
	'promoted_assets',
	'candidate_assets',
	'open_tasks',
	'open_bounties'
] as const satisfies (keyof HubStats)[];

/** Whether something was added, removed or decided since. The first statistics are no change: pages load by themselves. */
export function hasStatsChanged(before: HubStats | undefined, now: HubStats): boolean {
	return before !== undefined && DISPLAYED_STATS.some((name) => before[name] !== now[name]);
}
