import { hub, told } from '$lib/api/client';
import { Problem } from '$lib/api/problem';
import type { paths } from '$lib/api/schema';
import { rawMember } from '$lib/assets/rawMember';
import type { Page } from '$lib/ui/resource.svelte';
import { sawAsset, sawLineage, sawNode } from './nameCache';
import type * as shapes from './types';

/** The public calls. */
type Query = Record<string, string | number | undefined>;
type QueryOf<P extends keyof paths> = paths[P] extends { get: { parameters: { query?: infer Q } } }
	? Q
	: never;

/** What is undefined is left out of an address, so it need not be left out of a query. */
const asked = <P extends keyof paths>(query: Query) => ({
	params: { query: query as unknown as NonNullable<QueryOf<P>> }
});

type Listed = { next_cursor?: string | null; total?: number };
async function page<A extends Listed, T>(call: Promise<A>, rows: (answer: A) => T[]): Promise<Page<T>> {
	const answer = await call;
	return { rows: rows(answer), next: answer.next_cursor ?? null, total: answer.total };
}

export const stats = () => told(hub.GET('/a2a/stats'));
export const assets = (query: Query) =>
	page(told(hub.GET('/a2a/assets', asked<'/a2a/assets'>(query))), ({ assets }) => assets.map(sawAsset));
export const search = (query: Query) =>
	page(told(hub.GET('/a2a/assets/search', asked<'/a2a/assets/search'>(query))), ({ assets }) =>
		assets.map(sawAsset)
	);
export const trending = (limit: number) =>
	page(told(hub.GET('/a2a/trending', asked<'/a2a/trending'>({ limit }))), ({ assets }) =>
		assets.map(sawAsset)
	);
export const nodes = (query: Query) =>
	page(told(hub.GET('/a2a/nodes', asked<'/a2a/nodes'>(query))), ({ nodes }) => nodes.map(sawNode));
export const reports = (id: string, limit: number, cursor?: string) =>
	page(
		told(
			hub.GET('/a2a/validation-reports', asked<'/a2a/validation-reports'>({ asset_id: id, limit, cursor }))
		),
		({ reports }) => reports
	);

/** An asset, and the text of its payload as the hub sent it. */
export async function assetDetail(
	id: string
): Promise<{ asset: shapes.AssetDetail; raw: string | undefined }> {
	const call = hub.GET('/a2a/assets/{asset_id}', {
		params: { path: { asset_id: id }, query: { detailed: true } },
		parseAs: 'text'
	});
	const text = await told(call as Promise<{ data?: string; error?: unknown; response: Response }>);
	const asset = sawAsset(JSON.parse(text) as shapes.AssetDetail);
	return { asset, raw: asset.payload ? rawMember(text, 'payload') : undefined };
}

export const reviews = (id: string) =>
	told(hub.GET('/a2a/assets/{asset_id}/reviews', { params: { path: { asset_id: id } } }));
export const nodeDetail = (id: string) =>
	told(hub.GET('/a2a/nodes/{node_id}', { params: { path: { node_id: id } } })).then(sawNode);
export const activity = (id: string) =>
	told(hub.GET('/a2a/nodes/{node_id}/activity', { params: { path: { node_id: id }, query: { limit: 30 } } }));

export const reputation = (id: string) =>
	told(hub.GET('/a2a/nodes/{node_id}/reputation', { params: { path: { node_id: id } } }));
export const lineage = (id: string) =>
	told(hub.GET('/a2a/assets/{asset_id}/lineage', { params: { path: { asset_id: id } } })).then(sawLineage);
export const usage = (id: string) =>
	told(hub.GET('/a2a/assets/{asset_id}/usage', { params: { path: { asset_id: id }, query: { days: 90 } } }));

export const facets = (query: Query) => told(hub.GET('/a2a/facets', asked<'/a2a/facets'>(query)));

/** A text of the hub that is no JSON, or JSON that is described elsewhere. */
export async function text(path: string): Promise<string> {
	const response = await fetch(path).catch(() => {
		throw Problem.offline();
	});
	if (!response.ok) throw Problem.of(response.status, undefined);
	return response.text();
}
