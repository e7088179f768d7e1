import { expect, test } from 'vitest';
import { computeRangeFromZero, findLongestStreak, computeSeries, MAX_POINTS } from './stats';
import { createCycle, createLine } from '../../../tests/helpers/cycles';

const at = (hours: number) => new Date(Date.UTC(2026, 0, 1) + hours * 3_600_000).toISOString();

test('a short history has a point for each cycle', () => {
	const told = computeSeries(
		createLine(4, (place) => ({ at: at(place), status: place === 1 ? 'failed' : 'success', files: place }))
	);
	expect(told.unit).toBe('cycle');
	expect(told.overall).toEqual([100, 50, 66.7, 75]);
	expect(told.files).toEqual([0, 1, 2, 3]);
});

test('the recent rate looks ten cycles back', () => {
	const told = computeSeries(
		createLine(20, (place) => ({ at: at(place), status: place < 10 ? 'failed' : 'success' }))
	);
	expect([told.lately.at(-1), told.overall.at(-1)]).toEqual([100, 50]);
});

test('a long history is told by spans of time, in order and few enough to be told apart', () => {
	const told = computeSeries(
		createLine(2000, (place) => ({ at: at(place * 2), status: place % 4 === 0 ? 'failed' : 'success' }))
	);
	expect(told.unit).toBe('week');
	expect(told.times.length).toBeLessThanOrEqual(MAX_POINTS);
	expect([...told.times].sort((a, b) => a - b)).toEqual(told.times);
	expect(told.overall.at(-1)).toBe(75);
});

test('events without a time, and none at all, do no harm', () => {
	expect(computeSeries([createCycle('a', null, { at: 'nonsense' }), createCycle('b', null)]).times).toEqual(
		[]
	);
	expect(computeSeries([]).times).toEqual([]);
});

test('cycles that lie close in time stand one after the other', () => {
	const close = computeSeries(createLine(4, (place) => ({ at: at(place / 3600 + (place === 3 ? 500 : 0)) })));
	expect([close.isByOrder, close.times]).toEqual([true, [1, 2, 3, 4]]);
	expect(computeSeries(createLine(4, (place) => ({ at: at(place) }))).isByOrder).toBe(false);
});

test('a streak is broken by a failure of its own alone', () => {
	const ends = ['success', 'success', 'failed', 'success', 'success', 'failed', 'success'] as const;
	const events = ends.map((status, place) =>
		createCycle(`${place}`, null, {
			status,
			failure: place === 5 ? { class: 'network', reason: '' } : null
		})
	);
	expect(findLongestStreak(events)).toBe(3);
	expect(findLongestStreak([])).toBe(0);
});

test('an axis of sizes begins at zero and is never flat', () => {
	expect([computeRangeFromZero([3, 20]), computeRangeFromZero([0]), computeRangeFromZero([])]).toEqual([
		[0, 21],
		[0, 1.05],
		[0, 1.05]
	]);
});
