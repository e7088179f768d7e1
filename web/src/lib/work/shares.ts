import { subtractCredits } from './credits';
import type { Swarm, Task } from './types';

export type SwarmRole = 'proposer' | 'solver' | 'aggregator';

export interface RewardShare {
	role: SwarmRole;
	title: string;
	task_id: string;
	node_id: string | null;
	/** Of the whole, 0 to 1. */
	share: number;
	/** What it pays, or would: after the hub's commission. */
	credits: number;
	isPaid: boolean;
}

/**
 * How the reward is shared, as the hub does it: solvers share theirs by weight, whatever the weights add up to. `pays` is
 * what is left of the reward after the hub's commission.
 */
export function computeShares(swarm: Swarm, pays: number): RewardShare[] {
	const { parent_task: whole, subtasks, aggregation_task: merging, contributions, shares: rule } = swarm;
	if (!whole.is_decomposed) return [];
	const weights = subtasks.reduce((sum, part) => sum + (part.contribution_weight ?? 0), 0) || 1;
	const share = (
		task: Task | null,
		role: SwarmRole,
		title: string,
		fraction: number,
		expected = floorCredits(pays * fraction)
	): RewardShare => {
		const done = contributions.find((one) => one.role === role && one.task_id === task?.task_id);
		return {
			role,
			title,
			task_id: task?.task_id ?? `${whole.task_id}-merge`,
			node_id: done?.node_id ?? task?.claimed_by ?? null,
			share: fraction,
			credits: done?.credits ?? expected,
			isPaid: done?.settled ?? false
		};
	};
	const shares = [
		share(whole, 'proposer', 'Split the task into parts', rule.proposer),
		...subtasks.map((part) =>
			share(part, 'solver', part.title, (rule.solvers * (part.contribution_weight ?? 0)) / weights)
		)
	];
	// Everything is rounded down, and what is left goes to whoever merges.
	const left = shares.reduce((rest, { credits }) => subtractCredits(rest, credits), pays);
	return [
		...shares,
		share(merging, 'aggregator', merging?.title ?? 'Merge the results', rule.aggregator, left)
	];
}

/** Down to a thousandth; a product that misses a whole number by a hair is that number. */
function floorCredits(credits: number): number {
	return Math.floor(credits * 1000 + 1e-6) / 1000;
}

/** Where each share begins and how wide it is, for a picture of the whole. */
export function computeSpans(shares: RewardShare[], width: number): { x: number; width: number }[] {
	let x = 0;
	return shares.map(({ share }) => {
		const span = { x, width: share * width };
		x += span.width;
		return span;
	});
}
