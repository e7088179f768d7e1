import type { NodeRow } from '$lib/hub/types';
import { inertLine } from '$lib/ui/inert';

/** What is said of nodes. A name is what the node calls itself. */
export function formatNodeName({ alias, node_id }: Pick<NodeRow, 'alias' | 'node_id'>): string {
	return inertLine(alias ?? '') || inertLine(node_id);
}

export const NODE_SORTS = [
	['reputation', 'Reputation'],
	['newest', 'Newest'],
	['published', 'Most published']
] as const;

export interface NodeQuery {
	sort: string;
	cursor: string | undefined;
}

export function parseNodeQuery(params: URLSearchParams): NodeQuery {
	return { sort: params.get('sort') || 'reputation', cursor: params.get('cursor') || undefined };
}

export function buildNodesHref(sort: string, cursor?: string | null): string {
	const params = new URLSearchParams();
	if (sort !== 'reputation') params.set('sort', sort);
	if (cursor) params.set('cursor', cursor);
	const text = params.toString();
	return text ? `/nodes?${text}` : '/nodes';
}

/** Whether it is there, in words. */
export function describePresence({
	online,
	survival_status
}: Pick<NodeRow, 'online' | 'survival_status'>): string {
	if (online) return 'online';
	return survival_status === 'alive' ? 'seen today' : inertLine(survival_status);
}

/** The name of a part of a reputation, as people read it. */
export function formatPartTitle(name: string): string {
	const words = inertLine(name).replaceAll(/[_.]/g, ' ').trim();
	return (words.charAt(0).toUpperCase() + words.slice(1)).replace(/\bgdi\b/i, 'GDI');
}

/** Points with their sign: +3.3, −0.6, 0.0. */
export function formatSigned(points: number): string {
	const size = Math.abs(points).toFixed(1);
	if (size === '0.0') return size;
	return `${points > 0 ? '+' : '−'}${size}`;
}
