import { describe, expect, test } from 'vitest';
import { HIGHEST, moved, reveal, shown, type Frame } from './virtual';

const frame = (scrollTop: number, count = 100_000): Frame => ({
	count,
	rowHeight: 56,
	height: 700,
	scrollTop
});

describe('the window', () => {
	test('begins at the top', () => {
		expect(shown(frame(0))).toEqual({ first: 0, end: 25, top: 0, canvas: 5_600_000 });
	});

	test('follows the scrolling and ends with the last row', () => {
		expect(shown(frame(56_000)).first).toBe(994);
		const end = shown(frame(5_600_000));
		expect(end.end).toBe(100_000);
		expect(end.top + (end.end - end.first) * 56).toBe(5_600_000);
	});

	test('is never more than a few rows, however high the box', () => {
		for (const scrollTop of [0, 1234, 5_599_999]) {
			const { first, end } = shown({ ...frame(scrollTop), height: 100_000 });
			expect(end - first).toBeLessThanOrEqual(120);
		}
	});

	test('has no rows where there are none', () => {
		expect(shown(frame(0, 0))).toEqual({ first: 0, end: 0, top: 0, canvas: 0 });
	});

	test('reaches every row of a list that is too long to draw', () => {
		const long = frame(HIGHEST, 5_000_000);
		expect(shown(long).end).toBe(5_000_000);
		expect(shown(long).canvas).toBe(HIGHEST);
		for (const row of [0, 17, 2_499_999, 4_999_999]) {
			const at = { ...long, scrollTop: reveal(row, { ...long, scrollTop: 0 }) };
			expect(shown(at).first).toBeLessThanOrEqual(row);
			expect(shown(at).end).toBeGreaterThan(row);
		}
	});
});

describe('revealing a row', () => {
	test('stays where the row is seen', () => expect(reveal(3, frame(0))).toBe(0));
	test('goes up to its top', () => expect(reveal(3, frame(5000))).toBe(168));
	test('goes down to its bottom', () => expect(reveal(100, frame(0))).toBe(100 * 56 + 56 - 700));
});

describe('keys', () => {
	test('move within the list', () => {
		expect(moved('ArrowDown', 3, 5, 10)).toBe(4);
		expect(moved('ArrowDown', 4, 5, 10)).toBe(4);
		expect(moved('ArrowUp', 0, 5, 10)).toBe(0);
		expect(moved('PageDown', 0, 100, 10)).toBe(10);
		expect(moved('PageUp', 5, 100, 10)).toBe(0);
		expect(moved('Home', 50, 100, 10)).toBe(0);
		expect(moved('End', 50, 100, 10)).toBe(99);
	});

	test('begin at the first row where none is chosen', () => expect(moved('ArrowDown', -1, 5, 10)).toBe(0));
	test('are left alone where they mean nothing', () => {
		expect(moved('a', 0, 5, 10)).toBeNull();
		expect(moved('End', 0, 0, 10)).toBeNull();
	});
});
