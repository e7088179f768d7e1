import { expect, test } from 'vitest';
import { ALL, choices, chosenOf, isOpen, matches } from './filter';
import { cycle } from '../../../tests/helpers/cycles';

test('each condition can let pass and refuse', () => {
	const event = cycle('a', null, { intent: 'repair', status: 'failed', genes: ['g', 'h'] });
	expect(matches(event, ALL)).toBe(true);
	for (const [good, bad] of [
		[{ intent: 'repair' }, { intent: 'innovate' }],
		[{ status: 'failed' as const }, { status: 'success' as const }],
		[{ gene: 'h' }, { gene: 'x' }]
	]) {
		expect(matches(event, { ...ALL, ...good })).toBe(true);
		expect(matches(event, { ...ALL, ...bad })).toBe(false);
	}
	expect([isOpen(ALL), isOpen({ ...ALL, gene: 'g' })]).toEqual([true, false]);
});

test('choices are counted once for each event, the most frequent first', () => {
	const events = [
		cycle('a', null, { genes: ['g', 'g'] }),
		cycle('b', null, { genes: ['h', ''] }),
		cycle('c', null, { genes: ['h'] })
	];
	expect(choices(events, (event) => event.genes)).toEqual([
		['h', 2],
		['g', 1]
	]);
});

test('what was picked is chosen while it is shown, else the newest', () => {
	const events = [cycle('a', null), cycle('b', 'a'), cycle('c', 'b')];
	const isShown = ({ id }: { id: string }) => id !== 'c';
	expect(chosenOf(events, isShown, 0)).toBe(0);
	expect([chosenOf(events, isShown, 2), chosenOf(events, isShown, null), chosenOf([], isShown, 0)]).toEqual([
		1, 1, -1
	]);
});
