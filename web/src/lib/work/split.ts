import type { Swarm, Task } from './shapes';

export type Role = 'proposer' | 'solver' | 'aggregator';

export interface Share {
	role: Role;
	title: string;
	task_id: string;
	node_id: string | null;
	/** Of the whole, 0 to 1. */
	share: number;
	/** What it pays after the hub's commission; unknown where nobody has taken the part. */
	credits: number | undefined;
	isPaid: boolean;
}

/** How the reward is shared, as the hub does it: solvers share theirs by weight, whatever the weights add up to. */
export function split(swarm: Swarm): Share[] {
	const { parent_task: whole, subtasks, aggregation_task: merging, contributions, shares } = swarm;
	if (!whole.is_decomposed) return [];
	const weights = subtasks.reduce((sum, part) => sum + (part.contribution_weight ?? 0), 0) || 1;
	const share = (task: Task | null, role: Role, title: string, of: number): Share => {
		const done = contributions.find((one) => one.role === role && one.task_id === task?.task_id);
		return {
			role,
			title,
			task_id: task?.task_id ?? `${whole.task_id}-merge`,
			node_id: done?.node_id ?? task?.claimed_by ?? null,
			share: of,
			credits: done?.credits,
			isPaid: done?.settled ?? false
		};
	};
	return [
		share(whole, 'proposer', 'Cut the task into parts', shares.proposer),
		...subtasks.map((part) =>
			share(part, 'solver', part.title, (shares.solvers * (part.contribution_weight ?? 0)) / weights)
		),
		share(merging, 'aggregator', merging?.title ?? 'Merge the results', shares.aggregator)
	];
}

/** Where each share begins and how wide it is, for a picture of the whole. */
export function spans(shares: Share[], width: number): { x: number; width: number }[] {
	let x = 0;
	return shares.map(({ share }) => {
		const span = { x, width: share * width };
		x += span.width;
		return span;
	});
}
