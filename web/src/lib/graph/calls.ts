import { hub, told } from '$lib/api/client';
import type { Call } from './address';
import type { Drawing } from './shapes';

/** Asks the hub for a drawing. */
export function draw({ path, query }: Call): Promise<Drawing> {
	if (path === '/kg/graph') return told(hub.GET('/kg/graph', { params: { query } }));
	const { from, to } = query;
	return told(hub.GET('/kg/path', { params: { query: { from: from ?? '', to: to ?? '' } } }));
}
