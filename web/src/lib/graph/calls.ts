import { hub, unwrapResponse } from '$lib/api/client';
import type { Call } from './address';
import { creditBalance } from './balance.svelte';
import type { Drawing } from './shapes';

/** Whether the graph may be asked, and for what. To ask this is free. */
export const status = () => unwrapResponse(hub.GET('/kg/status'));

/** Asks the hub for a drawing. */
export async function draw({ path, query }: Call): Promise<Drawing> {
	const { from = '', to = '' } = query;
	const call =
		path === '/kg/graph'
			? unwrapResponse(hub.GET('/kg/graph', { params: { query } }))
			: unwrapResponse(hub.GET('/kg/path', { params: { query: { from, to } } }));
	const { credits_charged, ...drawing } = await call;
	creditBalance.spend(credits_charged);
	return drawing;
}
