import { describe, expect, test } from 'vitest';
import { cycle, line } from '../../../tests/helpers/cycles';
import { fold, rows, width, type TreeRow } from './tree';

const drawn = (all: TreeRow[]) =>
	all.map((row) => `${' '.repeat(row.column)}${row.kind === 'event' ? row.event.id : `+${row.count}`}`);

describe('the tree', () => {
	const branched = [
		cycle('a', null),
		cycle('b', 'a'),
		cycle('c', 'a'),
		cycle('d', 'b'),
		cycle('e', 'c'),
		cycle('f', 'e'),
		cycle('x', 'gone')
	];

	test('goes straight along its longest branch, newest first', () => {
		const all = rows(branched);
		expect(drawn(all)).toEqual(['x', 'f', 'e', 'c', ' d', ' b', 'a']);
		const b = all.find((row) => row.event.id === 'b')!;
		expect([b.parentColumn, b.through]).toEqual([0, [0]]);
		expect(width(all)).toBe(2);
	});

	test('takes a circle, a stranger and a twin as beginnings', () => {
		const odd = [cycle('a', 'b'), cycle('b', 'a'), cycle('c', 'c'), cycle('a', 'c')];
		expect(rows(odd)).toHaveLength(4);
		expect(rows(odd).filter((row) => row.parentColumn === null)).toHaveLength(2);
	});

	test('leads past what a filter hides', () => {
		const all = rows(branched, ({ id }) => id !== 'c' && id !== 'e');
		const f = all.find((row) => row.event.id === 'f')!;
		expect([f.isFar, f.parentColumn]).toEqual([true, 0]);
		expect(all).toHaveLength(5);
	});

	test('stays narrow and quick over a long history', () => {
		const all = rows(line(5000));
		expect([all.length, width(all)]).toEqual([5000, 1]);
		const wild = Array.from({ length: 2000 }, (_, n) => cycle(`${n}`, `${(n * 7919) % (n + 1)}`));
		expect(rows(wild)).toHaveLength(2000);
		expect(width(rows(wild))).toBeLessThanOrEqual(12);
	});
});

describe('a long line', () => {
	const all = rows(line(20, (place) => ({ status: place % 5 === 0 ? 'failed' : 'success' })));

	test('folds in its middle and says what it hides', () => {
		const folded = fold(all, new Set(), null);
		expect(drawn(folded)).toEqual(['e19', 'e18', 'e17', '+14', 'e2', 'e1', 'e0']);
		expect(folded[3]).toMatchObject({ kind: 'fold', count: 14, failed: 3 });
	});

	test('is whole when it was opened, when its middle is chosen, and when it is short', () => {
		const name = fold(all, new Set(), null)[3]!.place;
		expect(fold(all, new Set([name]), null)).toHaveLength(20);
		expect(fold(all, new Set(), 9)).toHaveLength(20);
		expect(fold(rows(line(11)), new Set(), null)).toHaveLength(11);
	});
});
