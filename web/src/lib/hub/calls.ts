import { hub, told } from '$lib/api/client';
import { Problem } from '$lib/api/problem';
import { rawMember } from '$lib/assets/rawMember';
import type * as shapes from './shapes';

/** The public calls, with the shapes of their answers. */
type Query = Record<string, string | number | undefined>;

/** The description of the hub says no more of most answers than that they are objects. */
async function ask<T>(path: string, query: Query = {}): Promise<T> {
	return (await told(hub.GET(path as never, { params: { query } } as never))) as T;
}

/** Nothing where this hub does not know the call. */
async function askIfKnown<T>(path: string, query: Query = {}): Promise<T | undefined> {
	try {
		return await ask<T>(path, query);
	} catch (thrown) {
		if (thrown instanceof Problem && (thrown.status === 404 || thrown.status === 405)) return undefined;
		throw thrown;
	}
}

const asset = (id: string) => `/a2a/assets/${encodeURIComponent(id)}`;
const node = (id: string) => `/a2a/nodes/${encodeURIComponent(id)}`;

type Told<K extends string, T> = Record<K, T[]> & { next_cursor?: string | null; total?: number };

async function page<K extends string, T>(path: string, member: K, query: Query): Promise<shapes.Page<T>> {
	const answer = await ask<Told<K, T>>(path, query);
	return { rows: answer[member], next: answer.next_cursor ?? null, total: answer.total };
}

export const stats = () => ask<shapes.Stats>('/a2a/stats');
export const facets = (query: Query) => askIfKnown<shapes.FacetCounts>('/a2a/facets', query);
export const assets = (query: Query) => page<'assets', shapes.AssetRow>('/a2a/assets', 'assets', query);
export const search = (query: Query) =>
	page<'assets', shapes.AssetRow>('/a2a/assets/search', 'assets', query);
export const trending = (limit: number) =>
	page<'assets', shapes.AssetRow>('/a2a/trending', 'assets', { limit });
export const nodes = (query: Query) => page<'nodes', shapes.NodeRow>('/a2a/nodes', 'nodes', query);

/** An asset, and the text of its payload as the hub sent it. */
export async function assetDetail(
	id: string
): Promise<{ asset: shapes.AssetDetail; raw: string | undefined }> {
	const call = hub.GET('/a2a/assets/{asset_id}', {
		params: { path: { asset_id: id }, query: { detailed: true } },
		parseAs: 'text'
	});
	const text = await told(call as Promise<{ data?: string; error?: unknown; response: Response }>);
	const detail = JSON.parse(text) as shapes.AssetDetail;
	return { asset: detail, raw: detail.payload ? rawMember(text, 'payload') : undefined };
}

export const reports = (id: string, cursor?: string) =>
	page<'reports', shapes.Report>('/a2a/validation-reports', 'reports', { asset_id: id, limit: 20, cursor });
export const reviews = (id: string) =>
	ask<{ reviews: shapes.Review[]; total: number; average_rating: number | null }>(`${asset(id)}/reviews`);
export const lineage = (id: string) => askIfKnown<shapes.Lineage>(`${asset(id)}/lineage`);
export const usage = (id: string) =>
	askIfKnown<{ days: shapes.UsageDay[] }>(`${asset(id)}/usage`, { days: 90 });

export const nodeDetail = (id: string) => ask<shapes.NodeRow>(node(id));
export const activity = (id: string) =>
	ask<{ activity: shapes.Activity[] }>(`${node(id)}/activity`, { limit: 30 });
export const reputation = (id: string) => askIfKnown<shapes.Reputation>(`${node(id)}/reputation`);

/** A text of the hub that is no JSON, or JSON that is described elsewhere. */
export async function text(path: string): Promise<string> {
	const response = await fetch(path).catch(() => {
		throw Problem.offline();
	});
	if (!response.ok) throw Problem.of(response.status, undefined);
	return response.text();
}
