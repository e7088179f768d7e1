import { expect, test } from 'vitest';
import type { LineageNode } from '$lib/hub/shapes';
import { lineageHref, tied } from './lineage';

const node = (id: string, kind: LineageNode['kind'], is_focus = false): LineageNode => ({
	id,
	kind,
	label: id,
	status: 'promoted',
	is_focus,
	x: 0,
	y: 0
});

test('each thing is told with its ties, the one in question first', () => {
	const rows = tied({
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
	const told = rows.map(({ node, ties }) => [
		node.id,
		ties.map(({ words, other }) => `${words} ${other.id}`)
	]);
	expect(told).toEqual([
		['c', ['implements g', 'made by n']],
		['g', ['implemented by c']],
		['n', ['made c']]
	]);
});

test('ids of strangers stay within a path', () => {
	expect(lineageHref(node('../x?y', 'node'))).toBe('/nodes/..%2Fx%3Fy');
	expect(lineageHref(node('sha256:0', 'event'))).toBe('/assets/sha256%3A0');
});
