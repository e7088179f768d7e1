import { describe, expect, test } from 'vitest';
import { createCycle, createLine } from '../../../tests/helpers/cycles';
import { foldRows, buildTreeRows, countColumns, type TreeRow } from './tree';

const drawn = (all: TreeRow[]) =>
	all.map((row) => `${' '.repeat(row.column)}${row.kind === 'event' ? row.event.id : `+${row.count}`}`);

describe('the tree', () => {
	const branched = [
		createCycle('a', null),
		createCycle('b', 'a'),
		createCycle('c', 'a'),
		createCycle('d', 'b'),
		createCycle('e', 'c'),
		createCycle('f', 'e'),
		createCycle('x', 'gone')
	];

	test('goes straight along its longest branch, newest first', () => {
		const all = buildTreeRows(branched);
		expect(drawn(all)).toEqual(['x', 'f', 'e', 'c', ' d', ' b', 'a']);
		const b = all.find((row) => row.event.id === 'b')!;
		expect([b.parentColumn, b.through]).toEqual([0, [0]]);
		expect(countColumns(all)).toBe(2);
	});

	test('treats a cycle, an unknown parent and a duplicate id as roots', () => {
		const odd = [createCycle('a', 'b'), createCycle('b', 'a'), createCycle('c', 'c'), createCycle('a', 'c')];
		expect(buildTreeRows(odd)).toHaveLength(4);
		expect(buildTreeRows(odd).filter((row) => row.parentColumn === null)).toHaveLength(2);
	});

	test('links past events that a filter hides', () => {
		const all = buildTreeRows(branched, ({ id }) => id !== 'c' && id !== 'e');
		const f = all.find((row) => row.event.id === 'f')!;
		expect([f.isFar, f.parentColumn]).toEqual([true, 0]);
		expect(all).toHaveLength(5);
	});

	test('stays narrow and quick over a long history', () => {
		const all = buildTreeRows(createLine(5000));
		expect([all.length, countColumns(all)]).toEqual([5000, 1]);
		const wild = Array.from({ length: 2000 }, (_, n) => createCycle(`${n}`, `${(n * 7919) % (n + 1)}`));
		expect(buildTreeRows(wild)).toHaveLength(2000);
		expect(countColumns(buildTreeRows(wild))).toBeLessThanOrEqual(12);
	});
});

describe('a long line', () => {
	const all = buildTreeRows(createLine(20, (index) => ({ status: index % 5 === 0 ? 'failed' : 'success' })));

	test('folds in its middle and says what it hides', () => {
		const folded = foldRows(all, new Set(), null);
		expect(drawn(folded)).toEqual(['e19', 'e18', 'e17', '+14', 'e2', 'e1', 'e0']);
		expect(folded[3]).toMatchObject({ kind: 'fold', count: 14, failed: 3 });
	});

	test('is not folded when it was opened, when its middle is chosen, and when it is short', () => {
		const name = foldRows(all, new Set(), null)[3]!.position;
		expect(foldRows(all, new Set([name]), null)).toHaveLength(20);
		expect(foldRows(all, new Set(), 9)).toHaveLength(20);
		expect(foldRows(buildTreeRows(createLine(11)), new Set(), null)).toHaveLength(11);
	});
});
