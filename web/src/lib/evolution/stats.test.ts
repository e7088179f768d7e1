import { expect, test } from 'vitest';
import { computeRangeFromZero, findLongestStreak, computeSeries, MAX_POINTS } from './stats';
import { createCycle, createLine } from '../../../tests/helpers/cycles';

const at = (hours: number) => new Date(Date.UTC(2026, 0, 1) + hours * 3_600_000).toISOString();

test('a short history has a point for each cycle', () => {
	const series = computeSeries(
		createLine(4, (index) => ({ at: at(index), status: index === 1 ? 'failed' : 'success', files: index }))
	);
	expect(series.unit).toBe('cycle');
	expect(series.overall).toEqual([100, 50, 66.7, 75]);
	expect(series.files).toEqual([0, 1, 2, 3]);
});

test('the recent rate looks ten cycles back', () => {
	const series = computeSeries(
		createLine(20, (index) => ({ at: at(index), status: index < 10 ? 'failed' : 'success' }))
	);
	expect([series.lately.at(-1), series.overall.at(-1)]).toEqual([100, 50]);
});

test('a long history is grouped into spans of time, in order', () => {
	const series = computeSeries(
		createLine(2000, (index) => ({ at: at(index * 2), status: index % 4 === 0 ? 'failed' : 'success' }))
	);
	expect(series.unit).toBe('week');
	expect(series.times.length).toBeLessThanOrEqual(MAX_POINTS);
	expect([...series.times].sort((a, b) => a - b)).toEqual(series.times);
	expect(series.overall.at(-1)).toBe(75);
});

test('events without a time are left out', () => {
	expect(computeSeries([createCycle('a', null, { at: 'nonsense' }), createCycle('b', null)]).times).toEqual(
		[]
	);
	expect(computeSeries([]).times).toEqual([]);
});

test('cycles that are close in time are drawn by order', () => {
	const close = computeSeries(createLine(4, (index) => ({ at: at(index / 3600 + (index === 3 ? 500 : 0)) })));
	expect([close.isByOrder, close.times]).toEqual([true, [1, 2, 3, 4]]);
	expect(computeSeries(createLine(4, (index) => ({ at: at(index) }))).isByOrder).toBe(false);
});

test('a streak is broken only by a failure of the change itself', () => {
	const ends = ['success', 'success', 'failed', 'success', 'success', 'failed', 'success'] as const;
	const events = ends.map((status, index) =>
		createCycle(`${index}`, null, {
			status,
			failure: index === 5 ? { class: 'network', reason: '' } : null
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
