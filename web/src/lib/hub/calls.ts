import { hub, unwrapResponse } from '$lib/api/client';
import { Problem } from '$lib/api/problem';
import type { paths } from '$lib/api/schema';
import { extractRawMember } from '$lib/assets/rawMember';
import type { Page } from '$lib/ui/resource.svelte';
import { rememberAsset, rememberLineage, rememberNode } from './nameCache';
import type * as shapes from './types';

/** The public calls. */
type Query = Record<string, string | number | undefined>;
type QueryParams<P extends keyof paths> = paths[P] extends { get: { parameters: { query?: infer Q } } }
	? Q
	: never;

/** What is undefined is left out of an address, so it need not be left out of a query. */
const withQuery = <P extends keyof paths>(query: Query) => ({
	params: { query: query as unknown as NonNullable<QueryParams<P>> }
});

type PageResponse = { next_cursor?: string | null; total?: number };
async function toPage<A extends PageResponse, T>(
	call: Promise<A>,
	rows: (answer: A) => T[]
): Promise<Page<T>> {
	const answer = await call;
	return { rows: rows(answer), next: answer.next_cursor ?? null, total: answer.total };
}

export const getStats = () => unwrapResponse(hub.GET('/a2a/stats'));
export const listAssets = (query: Query) =>
	toPage(unwrapResponse(hub.GET('/a2a/assets', withQuery<'/a2a/assets'>(query))), (answer) =>
		answer.assets.map(rememberAsset)
	);
export const searchAssets = (query: Query) =>
	toPage(unwrapResponse(hub.GET('/a2a/assets/search', withQuery<'/a2a/assets/search'>(query))), (answer) =>
		answer.assets.map(rememberAsset)
	);
export const listTrending = (limit: number) =>
	toPage(unwrapResponse(hub.GET('/a2a/trending', withQuery<'/a2a/trending'>({ limit }))), (answer) =>
		answer.assets.map(rememberAsset)
	);
export const listNodes = (query: Query) =>
	toPage(unwrapResponse(hub.GET('/a2a/nodes', withQuery<'/a2a/nodes'>(query))), (answer) =>
		answer.nodes.map(rememberNode)
	);
export const listReports = (id: string, limit: number, cursor?: string) =>
	toPage(
		unwrapResponse(
			hub.GET(
				'/a2a/validation-reports',
				withQuery<'/a2a/validation-reports'>({ asset_id: id, limit, cursor })
			)
		),
		(answer) => answer.reports
	);

/** An asset, and the text of its payload as the hub sent it. */
export async function getAsset(id: string): Promise<{ asset: shapes.AssetDetail; raw: string | undefined }> {
	const call = hub.GET('/a2a/assets/{asset_id}', {
		params: { path: { asset_id: id }, query: { detailed: true } },
		parseAs: 'text'
	});
	const json = await unwrapResponse(call as Promise<{ data?: string; error?: unknown; response: Response }>);
	const asset = rememberAsset(JSON.parse(json) as shapes.AssetDetail);
	return { asset, raw: asset.payload ? extractRawMember(json, 'payload') : undefined };
}

export const listReviews = (id: string) =>
	unwrapResponse(hub.GET('/a2a/assets/{asset_id}/reviews', { params: { path: { asset_id: id } } }));
export const getNode = (id: string) =>
	unwrapResponse(hub.GET('/a2a/nodes/{node_id}', { params: { path: { node_id: id } } })).then(rememberNode);
export const getActivity = (id: string) =>
	unwrapResponse(
		hub.GET('/a2a/nodes/{node_id}/activity', { params: { path: { node_id: id }, query: { limit: 30 } } })
	);

export const getReputation = (id: string) =>
	unwrapResponse(hub.GET('/a2a/nodes/{node_id}/reputation', { params: { path: { node_id: id } } }));
export const getLineage = (id: string) =>
	unwrapResponse(hub.GET('/a2a/assets/{asset_id}/lineage', { params: { path: { asset_id: id } } })).then(
		rememberLineage
	);
export const getUsage = (id: string) =>
	unwrapResponse(
		hub.GET('/a2a/assets/{asset_id}/usage', { params: { path: { asset_id: id }, query: { days: 90 } } })
	);

export const getFacets = (query: Query) =>
	unwrapResponse(hub.GET('/a2a/facets', withQuery<'/a2a/facets'>(query)));

/** A text of the hub that is no JSON, or JSON that is described elsewhere. */
export async function fetchText(path: string): Promise<string> {
	const response = await fetch(path).catch(() => {
		throw Problem.offline();
	});
	if (!response.ok) throw Problem.fromResponse(response.status, undefined);
	return response.text();
}
