import { expect, test } from 'vitest';
import * as sample from './samples';
import type { Thing } from './shapes';
import { groupsOf, lineOf, nameOf, pageOf, relationWords, sayerOf, tellSteps, tellWay } from './words';

const thing = (id: string, name: string): [string, Thing] => [id, sample.thing(id, { name })];
const edge = sample.relation;
const things = new Map([
	thing('t', 'timeout'),
	thing('c', 'Retry with backoff'),
	thing('g', 'Backoff'),
	thing('n', 'shop')
]);
const edges = [edge('t', 'solved_by', 'c'), edge('c', 'derived_from', 'g'), edge('g', 'made_by', 'n')];

test('a way is told from thing to thing, whichever way the relations point', () => {
	expect(lineOf(tellWay(['t', 'c', 'g', 'n'], edges), things)).toBe(
		'timeout → solved by → Retry with backoff → derived from → Backoff → made by → shop'
	);
	expect(lineOf(tellWay(['n', 'g', 'c'], edges), things)).toBe(
		'shop → made → Backoff → led to → Retry with backoff'
	);
	expect(tellWay([], edges)).toEqual([]);
});

test('the steps to a hit are told the same, written as walked or as related', () => {
	const told = 'Backoff → led to → Retry with backoff → solves → timeout';
	const walked = [
		{ from: 'g', to: 'c', kind: 'derived_from' },
		{ from: 'c', to: 't', kind: 'solved_by' }
	];
	const related = [
		{ from: 'c', to: 'g', kind: 'derived_from' },
		{ from: 't', to: 'c', kind: 'solved_by' }
	];
	expect(lineOf(tellSteps(walked, edges), things)).toBe(told);
	expect(lineOf(tellSteps(related, edges), things)).toBe(told);
	expect(lineOf(tellSteps([{ from: 't', to: 'c', kind: 'solved_by' }], []), things)).toBe(
		'timeout → solved by → Retry with backoff'
	);
	const back = [{ from: 't', to: 'c', kind: 'solved_by' }];
	expect(lineOf(tellSteps(back, edges, 't'), things)).toBe('Retry with backoff → solves → timeout');
	expect(tellSteps([], edges)).toEqual([]);
});

test('words of strangers are text, and members of objects are none', () => {
	expect(relationWords('depends_on', true)).toBe('depends on');
	expect(relationWords('depends_on', false)).toBe('depends on this');
	const told = [edge('t', 'depends_on', 'n')];
	expect(lineOf(tellWay(['t', 'n'], told), things)).toBe('timeout → depends on → shop');
	expect(lineOf(tellWay(['n', 't'], told), things)).toBe('shop ← depends on ← timeout');
	expect(relationWords('constructor', true)).toBe('constructor');
	expect(relationWords('a\u202eb', true)).toBe('a⟨U+202E⟩b');
	expect(nameOf({ name: ' ', key: 'k' })).toBe('k');
	expect(nameOf(undefined)).toMatch(/not shown/);
});

test('relations are grouped by what they say', () => {
	const told = groupsOf('c', [...edges, edge('n', 'solved_by', 'c')]).map(({ words, ties }) => [
		words,
		ties.map(({ other }) => other)
	]);
	expect(told).toEqual([
		['solves', ['t', 'n']],
		['derived from', ['g']]
	]);
});

test('who says so, and where a thing has its page', () => {
	expect(sayerOf('hub')).toEqual({ who: 'hub' });
	expect(sayerOf('node:node_1')).toEqual({ who: 'node', id: 'node_1' });
	expect(sayerOf('user:7')).toEqual({ who: 'account', id: '7' });
	expect(pageOf({ kind: 'gene', key: 'x', asset_id: 'sha256:0' })).toBe('/assets/sha256%3A0');
	expect(pageOf({ kind: 'node', key: '../x?y', asset_id: null })).toBe('/nodes/..%2Fx%3Fy');
	expect(pageOf({ kind: 'signal', key: 'x', asset_id: null })).toBeUndefined();
});
