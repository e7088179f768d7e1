import { formatSummaryLine } from '$lib/assets/labels';
import { inertLine } from '$lib/ui/inert';
import { SvelteMap } from 'svelte/reactivity';
import type { AssetRow, Lineage, NodeRow } from './types';

/** Names from earlier answers: many answers have only the id of a node or an asset, others also its name. */
export const nodeNames = new SvelteMap<string, string>();
export const assetTitles = new SvelteMap<string, string>();

function remember(map: SvelteMap<string, string>, id: string, words: string | null | undefined) {
	const line = inertLine(words ?? '');
	if (line && line !== id && map.get(id) !== line) map.set(id, line);
}

export function rememberNode<T extends Pick<NodeRow, 'node_id' | 'alias'>>(node: T): T {
	remember(nodeNames, node.node_id, node.alias);
	return node;
}

export function rememberAsset<T extends Pick<AssetRow, 'asset_id' | 'summary' | 'type'>>(asset: T): T {
	remember(assetTitles, asset.asset_id, formatSummaryLine(asset, 80));
	return asset;
}

export function rememberLineage(lineage: Lineage): Lineage {
	for (const { kind, id, label } of lineage.nodes) if (kind === 'node') remember(nodeNames, id, label);
	return lineage;
}
