import { expect, test } from 'vitest';
import type { LineageNode } from '$lib/hub/types';
import { lineageHref, findLabelledNodes, groupTies } from './lineage';

const node = (id: string, kind: LineageNode['kind'], is_focus = false): LineageNode => ({
	id,
	kind,
	label: id,
	status: 'promoted',
	is_focus,
	x: 0,
	y: 0
});

test('each node is listed with its ties, the focus first', () => {
	const rows = groupTies({
		asset_id: 'c',
		reuse_count: 0,
		nodes: [node('g', 'gene'), node('c', 'capsule', true), node('n', 'node')],
		edges: [
			{ from: 'c', to: 'g', kind: 'implements' },
			{ from: 'c', to: 'n', kind: 'made_by' },
			{ from: 'c', to: 'left-out', kind: 'reused_by' }
		],
		truncated: true
	});
	const texts = rows.map(({ node, ties }) => [
		node.id,
		ties.map(({ words, other }) => `${words} ${other.id}`)
	]);
	expect(texts).toEqual([
		['c', ['implements g', 'made by n']],
		['g', ['implemented by c']],
		['n', ['made c']]
	]);
});

test('ids of strangers stay within a path', () => {
	expect(lineageHref(node('../x?y', 'node'))).toBe('/nodes/..%2Fx%3Fy');
	expect(lineageHref(node('sha256:0', 'event'))).toBe('/assets/sha256%3A0');
});

test('labels of the focus and its neighbours are drawn, unless they are a crowd', () => {
	const nodes = [
		{ ...node('c', 'capsule', true), x: 0.5 },
		{ ...node('g', 'gene'), x: 0.3 },
		node('far', 'gene')
	];
	const edges = [{ from: 'c', to: 'g', kind: 'implements' as const }];
	const lineage = { asset_id: 'c', reuse_count: 0, nodes, edges, truncated: false };
	expect([...findLabelledNodes(lineage)]).toEqual(['c', 'g']);
	const crowd = Array.from({ length: 11 }, (_, index) => ({ ...node(`n${index}`, 'node'), x: 0.9 }));
	const reused = crowd.map(({ id }) => ({ from: 'c', to: id, kind: 'reused_by' as const }));
	expect([...findLabelledNodes({ ...lineage, nodes: [...nodes, ...crowd], edges: reused })]).toEqual(['c']);
});
