import { describe, expect, test } from 'vitest';
import {
	MAX_CANVAS_HEIGHT,
	getTargetIndex,
	computeRevealScroll,
	computeVisibleRange,
	type ListFrame
} from './virtual';

const frame = (scrollTop: number, count = 100_000): ListFrame => ({
	count,
	rowHeight: 56,
	height: 700,
	scrollTop
});

describe('the window', () => {
	test('begins at the top', () => {
		expect(computeVisibleRange(frame(0))).toEqual({ first: 0, end: 25, top: 0, canvas: 5_600_000 });
	});

	test('follows the scrolling and ends with the last row', () => {
		expect(computeVisibleRange(frame(56_000)).first).toBe(994);
		const end = computeVisibleRange(frame(5_600_000));
		expect(end.end).toBe(100_000);
		expect(end.top + (end.end - end.first) * 56).toBe(5_600_000);
	});

	test('is never more than a few rows, however high the box', () => {
		for (const scrollTop of [0, 1234, 5_599_999]) {
			const { first, end } = computeVisibleRange({ ...frame(scrollTop), height: 100_000 });
			expect(end - first).toBeLessThanOrEqual(120);
		}
	});

	test('has no rows where there are none', () => {
		expect(computeVisibleRange(frame(0, 0))).toEqual({ first: 0, end: 0, top: 0, canvas: 0 });
	});

	test('reaches every row of a list that is too long to draw', () => {
		const long = frame(MAX_CANVAS_HEIGHT, 5_000_000);
		expect(computeVisibleRange(long).end).toBe(5_000_000);
		expect(computeVisibleRange(long).canvas).toBe(MAX_CANVAS_HEIGHT);
		for (const row of [0, 17, 2_499_999, 4_999_999]) {
			const at = { ...long, scrollTop: computeRevealScroll(row, { ...long, scrollTop: 0 }) };
			expect(computeVisibleRange(at).first).toBeLessThanOrEqual(row);
			expect(computeVisibleRange(at).end).toBeGreaterThan(row);
		}
	});
});

describe('revealing a row', () => {
	test('stays where the row is seen', () => expect(computeRevealScroll(3, frame(0))).toBe(0));
	test('goes up to its top', () => expect(computeRevealScroll(3, frame(5000))).toBe(168));
	test('goes down to its bottom', () => expect(computeRevealScroll(100, frame(0))).toBe(100 * 56 + 56 - 700));
});

describe('keys', () => {
	test('move within the list', () => {
		expect(getTargetIndex('ArrowDown', 3, 5, 10)).toBe(4);
		expect(getTargetIndex('ArrowDown', 4, 5, 10)).toBe(4);
		expect(getTargetIndex('ArrowUp', 0, 5, 10)).toBe(0);
		expect(getTargetIndex('PageDown', 0, 100, 10)).toBe(10);
		expect(getTargetIndex('PageUp', 5, 100, 10)).toBe(0);
		expect(getTargetIndex('Home', 50, 100, 10)).toBe(0);
		expect(getTargetIndex('End', 50, 100, 10)).toBe(99);
	});

	test('begin at the first row where none is chosen', () =>
		expect(getTargetIndex('ArrowDown', -1, 5, 10)).toBe(0));
	test('are left alone where they mean nothing', () => {
		expect(getTargetIndex('a', 0, 5, 10)).toBeNull();
		expect(getTargetIndex('End', 0, 0, 10)).toBeNull();
	});
});
