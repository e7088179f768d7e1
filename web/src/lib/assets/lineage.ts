import type { Lineage, LineageEdge, LineageNode } from '$lib/hub/types';

/** A lineage in words: each thing with what ties it to others. */
export interface LineageTie {
	words: string;
	other: LineageNode;
}

const FORWARD_LABELS: Record<LineageEdge['kind'], string> = {
	made_by: 'made by',
	implements: 'implements',
	in_event: 'created in',
	reused_by: 'reused by',
	follows: 'follows'
};
const BACKWARD_LABELS: Record<LineageEdge['kind'], string> = {
	made_by: 'made',
	implements: 'implemented by',
	in_event: 'records',
	reused_by: 'reuses',
	follows: 'followed by'
};

export function groupTies(lineage: Lineage): { node: LineageNode; ties: LineageTie[] }[] {
	const known = new Map(lineage.nodes.map((node) => [node.id, node]));
	const tie = (words: string | undefined, id: string): LineageTie[] => {
		const other = known.get(id);
		return other ? [{ words: words ?? 'related to', other }] : [];
	};
	const rows = lineage.nodes.map((node) => ({
		node,
		ties: lineage.edges.flatMap(({ from, to, kind }) => {
			if (from === node.id) return tie(FORWARD_LABELS[kind], to);
			return to === node.id ? tie(BACKWARD_LABELS[kind], from) : [];
		})
	}));
	// What the page is about comes first.
	return rows.sort((a, b) => Number(b.node.is_focus) - Number(a.node.is_focus));
}

/** Where a thing of the lineage has its own page. */
export function lineageHref({ kind, id }: LineageNode): string {
	return `/${kind === 'node' ? 'nodes' : 'assets'}/${encodeURIComponent(id)}`;
}

/** The most labels in one column that stay readable. */
const MAX_COLUMN_LABELS = 10;

/** Those whose labels are drawn however narrow the picture is: the focus and its neighbours, unless these are a crowd. */
export function findLabelledNodes({ nodes, edges }: Lineage): Set<string> {
	const focus = nodes.find((node) => node.is_focus)?.id;
	const tiedTo = edges.flatMap(({ from, to }) => (from === focus ? [to] : to === focus ? [from] : []));
	const isCrowd = (id: string) => {
		const x = nodes.find((node) => node.id === id)?.x;
		return nodes.filter((node) => node.x === x).length > MAX_COLUMN_LABELS;
	};
	return new Set([...(focus ? [focus] : []), ...tiedTo.filter((id) => !isCrowd(id))]);
}
