import { describe, expect, it } from 'vitest';
import type { Swarm, Task } from './types';
import { computeSpans, computeShares } from './shares';

const task = (task_id: string, more: Partial<Task> = {}) =>
	({
		task_id,
		title: task_id,
		claimed_by: null,
		contribution_weight: null,
		is_decomposed: false,
		...more
	}) as Task;

const swarm: Swarm = {
	parent_task: task('whole', { is_decomposed: true, claimed_by: 'node_p' }),
	subtasks: [
		task('a', { contribution_weight: 0.4, claimed_by: 'node_a' }),
		task('b', { contribution_weight: 0.3 })
	],
	aggregation_task: null,
	contributions: [
		{
			node_id: 'node_p',
			role: 'proposer',
			task_id: 'whole',
			weight: 0.05,
			asset_id: null,
			credits: 5,
			settled: false
		},
		{
			node_id: 'node_a',
			role: 'solver',
			task_id: 'a',
			weight: 0.4,
			asset_id: null,
			credits: 48.571,
			settled: false
		}
	],
	shares: { proposer: 0.05, solvers: 0.85, aggregator: 0.1 },
	child_progress: { completed: 0, total: 2 },
	progress: { solvers_completed: 0, solvers_total: 2, status: 'solving' }
};

describe('the reward shares of a swarm', () => {
	it('add up to the reward, whatever the weights add up to', () => {
		const shares = computeShares(swarm, 100);
		expect(shares.map(({ role }) => role)).toEqual(['proposer', 'solver', 'solver', 'aggregator']);
		expect(shares.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 9);
		expect(shares[1]?.share).toBeCloseTo((0.85 * 4) / 7, 9);
	});

	it('name the node and the task of each role', () => {
		const [proposer, first, second, merging] = computeShares(swarm, 100);
		expect([proposer?.node_id, first?.node_id, second?.node_id, merging?.node_id]).toEqual([
			'node_p',
			'node_a',
			null,
			null
		]);
		// What nobody has taken yet is worth something all the same.
		expect([proposer, first, second, merging].map((one) => one?.credits)).toEqual([
			5, 48.571, 36.428, 10.001
		]);
	});

	it('are empty before the task is split', () => {
		expect(computeShares({ ...swarm, parent_task: task('whole') }, 100)).toEqual([]);
	});

	it('are drawn without gaps', () => {
		const drawn = computeSpans(computeShares(swarm, 100), 100);
		expect(drawn[0]).toEqual({ x: 0, width: 5 });
		const last = drawn.at(-1)!;
		expect(last.x + last.width).toBeCloseTo(100, 6);
	});
});
