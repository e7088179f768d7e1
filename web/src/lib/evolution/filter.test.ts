import { expect, test } from 'vitest';
import { NO_FILTER, countChoices, findChosenIndex, isUnfiltered, matchesFilter } from './filter';
import { createCycle } from '../../../tests/helpers/cycles';

test('each condition can match and reject', () => {
	const event = createCycle('a', null, { intent: 'repair', status: 'failed', genes: ['g', 'h'] });
	expect(matchesFilter(event, NO_FILTER)).toBe(true);
	for (const [good, bad] of [
		[{ intent: 'repair' }, { intent: 'innovate' }],
		[{ status: 'failed' as const }, { status: 'success' as const }],
		[{ gene: 'h' }, { gene: 'x' }]
	]) {
		expect(matchesFilter(event, { ...NO_FILTER, ...good })).toBe(true);
		expect(matchesFilter(event, { ...NO_FILTER, ...bad })).toBe(false);
	}
	expect([isUnfiltered(NO_FILTER), isUnfiltered({ ...NO_FILTER, gene: 'g' })]).toEqual([true, false]);
});

test('choices are counted once for each event, the most frequent first', () => {
	const events = [
		createCycle('a', null, { genes: ['g', 'g'] }),
		createCycle('b', null, { genes: ['h', ''] }),
		createCycle('c', null, { genes: ['h'] })
	];
	expect(countChoices(events, (event) => event.genes)).toEqual([
		['h', 2],
		['g', 1]
	]);
});

test('the picked event is chosen while it is visible, otherwise the newest', () => {
	const events = [createCycle('a', null), createCycle('b', 'a'), createCycle('c', 'b')];
	const isShown = ({ id }: { id: string }) => id !== 'c';
	expect(findChosenIndex(events, isShown, 0)).toBe(0);
	expect([
		findChosenIndex(events, isShown, 2),
		findChosenIndex(events, isShown, null),
		findChosenIndex([], isShown, 0)
	]).toEqual([1, 1, -1]);
});
