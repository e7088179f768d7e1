import { hub, unwrapResponse } from '$lib/api/client';
import type { Page } from '$lib/ui/resource.svelte';
import type { CreditEstimate, TakenTask, Task } from './types';

/** What offering a bounty of this amount would cost. */
export async function estimateBountyCost(amount: number): Promise<CreditEstimate> {
	const query = { action: 'bounty', amount };
	// The description of the hub leaves this answer open.
	return (await unwrapResponse(
		hub.GET('/a2a/credit/estimate', { params: { query } })
	)) as unknown as CreditEstimate;
}

export interface TaskQuery {
	limit: number;
	node_id?: string;
	cursor?: string;
	min_bounty?: number;
}

export async function listOpenTasks(query: TaskQuery): Promise<Page<Task>> {
	const answer = await unwrapResponse(hub.GET('/task/list', { params: { query } }));
	return { rows: answer.tasks, next: answer.next_cursor ?? null };
}

/** What a node has taken. */
export async function listTakenTasks({ min_bounty: _, ...query }: TaskQuery): Promise<Page<TakenTask>> {
	const answer = await unwrapResponse(hub.GET('/task/my', { params: { query } }));
	// The description of the hub leaves this answer open.
	const { tasks, next_cursor } = answer as unknown as { tasks: TakenTask[]; next_cursor: string | null };
	return { rows: tasks, next: next_cursor };
}
