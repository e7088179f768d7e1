import { expect, test } from 'vitest';
import { EMPTY, merge, MOST_THINGS } from './merge';
import * as sample from './samples';
import type { Drawing, Relation, Thing } from './shapes';

const thing = (id: string, x: number, y: number, hidden_relations = 0) =>
	sample.thing(id, { x, y, hidden_relations });
const edge = (from: string, to: string, said_by?: string) => sample.relation(from, 'co_occurs', to, said_by);
const drawing = (nodes: Thing[], edges: Relation[] = [], more: Partial<Drawing> = {}): Drawing => ({
	nodes,
	edges,
	hits: [],
	path: [],
	truncated: false,
	...more
});
const at = (board: Drawing, id: string) => {
	const found = board.nodes.find((each) => each.id === id);
	return found && { x: found.x, y: found.y };
};

const first = merge(
	EMPTY,
	drawing([{ ...thing('a', 0.2, 0.2, 2), is_hit: true }, thing('b', 0.8, 0.8)], [edge('a', 'b')], {
		hits: [{ id: 'a', score: 1, words: [], ways: ['text'], path: [] }]
	})
);

test('the first answer is drawn as it is', () => {
	expect(at(first, 'a')).toEqual({ x: 0.2, y: 0.2 });
	expect(first.hits).toHaveLength(1);
});

test('what is known stays where it is, and new things stand near the one that was opened', () => {
	const more = drawing(
		[thing('a', 0.5, 0.5), thing('c', 0.5, 1), thing('d', 1, 0.5)],
		[edge('a', 'c'), edge('a', 'd')]
	);
	const board = merge(first, more, ['a']);
	expect(at(board, 'a')).toEqual({ x: 0.2, y: 0.2 });
	expect(at(board, 'b')).toEqual({ x: 0.8, y: 0.8 });
	const [c, d] = [at(board, 'c')!, at(board, 'd')!];
	// As in the answer: c below, d to the right.
	expect(c.y).toBeGreaterThan(0.2);
	expect(c.x).toBeCloseTo(0.2);
	expect(d.x).toBeGreaterThan(0.2);
	expect(Math.hypot(c.x - 0.2, c.y - 0.2)).toBeLessThan(0.5);
	expect(board.hits).toEqual(first.hits);
	expect(board.nodes.find(({ id }) => id === 'a')?.is_hit).toBe(true);
});

test('what is shown is no longer hidden, and a relation told twice is one', () => {
	expect(first.nodes[0]?.hidden_relations).toBe(2);
	const more = drawing(
		[thing('a', 0, 0, 1), thing('b', 1, 1, 0), thing('c', 1, 0, 5)],
		[edge('a', 'b'), edge('a', 'c')]
	);
	const board = merge(first, more, ['a']);
	expect(board.edges).toHaveLength(2);
	expect(board.nodes.map(({ id, hidden_relations }) => [id, hidden_relations])).toEqual([
		['a', 1],
		['b', 0],
		['c', 5]
	]);
	expect(merge(board, more, ['a'])).toEqual(board);
	expect(merge(first, drawing([], [edge('a', 'b', 'node:x')])).edges).toHaveLength(2);
});

test('no two things stand on each other', () => {
	const crowd = Array.from({ length: 60 }, (_, place) => thing(`n${place}`, 0.5, 0.5));
	const board = merge(first, drawing([thing('a', 0.5, 0.5), ...crowd]), ['a']);
	for (const one of board.nodes)
		for (const other of board.nodes)
			if (one !== other) expect(Math.hypot(one.x - other.x, one.y - other.y)).toBeGreaterThan(0.03);
});

test('an answer that shares nothing stands beside, and its way is kept', () => {
	const way = drawing([thing('x', 0, 0.5), thing('y', 1, 0.5)], [edge('x', 'y')], { path: ['x', 'y'] });
	const board = merge(first, way);
	expect(board.path).toEqual(['x', 'y']);
	expect(at(board, 'x')!.x).toBeGreaterThan(0.8);
});

test('there is an end to it: the way first, then neighbours, and it is said that more was there', () => {
	const many = Array.from({ length: MOST_THINGS + 20 }, (_, place) => thing(`n${place}`, place, 0));
	const last = many.at(-1)!.id;
	const board = merge(first, drawing([thing('a', 0, 0), ...many], [edge('a', last)]), ['a']);
	expect(board.nodes).toHaveLength(MOST_THINGS);
	expect(board.isFull).toBe(true);
	expect(board.nodes.some(({ id }) => id === last)).toBe(true);
	expect(board.edges.every(({ to }) => board.nodes.some(({ id }) => id === to))).toBe(true);
	expect(first.isFull).toBe(false);
});

test('what was opened at once stands around what it hangs together with', () => {
	const more = drawing(
		[thing('a', 0.4, 0.4), thing('b', 0.6, 0.6), thing('c', 0.3, 0.4), thing('d', 0.7, 0.6)],
		[edge('a', 'c'), edge('d', 'b')]
	);
	const board = merge(first, more, ['a', 'b']);
	expect(at(board, 'c')).toEqual({ x: expect.closeTo(0.2 - 0.24), y: expect.closeTo(0.2) });
	expect(at(board, 'd')).toEqual({ x: expect.closeTo(0.8 + 0.24), y: expect.closeTo(0.8) });
});

test('what stands around a thing that is new itself finds it', () => {
	const more = drawing(
		[thing('e', 0.5, 0.8), thing('c', 0.5, 0.6), thing('a', 0.5, 0.5)],
		[edge('a', 'c'), edge('c', 'e')]
	);
	const board = merge(first, more, ['a', 'c']);
	expect(at(board, 'c')!.y).toBeCloseTo(0.2 + 0.24);
	expect(at(board, 'e')!.y).toBeCloseTo(0.2 + 0.24 + 0.24);
});

test('a way is drawn as it is read: from the left and from above', () => {
	const way = drawing([thing('x', 0.9, 0.2), thing('y', 0.1, 0.8)], [edge('x', 'y')]);
	const board = merge(EMPTY, { ...way, path: ['x', 'y'] });
	expect(at(board, 'x')!.x).toBeCloseTo(0.1);
	expect(at(board, 'x')!.y).toBeCloseTo(0.2);
	expect(at(merge(EMPTY, way), 'x')!.x).toBeCloseTo(0.9);
});
