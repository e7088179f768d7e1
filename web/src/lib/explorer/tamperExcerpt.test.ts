import { describe, expect, it } from 'vitest';
import { excerptChange } from './tamperExcerpt';

describe('what a demonstration changed', () => {
	it('is shown around the place where the texts part', () => {
		const [head, tail] = ['h'.repeat(80), 't'.repeat(80)];
		const { before, after } = excerptChange(`${head}old${tail}`, `${head}new${tail}`);
		expect(before).toBe(`…${'h'.repeat(60)}old${'t'.repeat(57)}…`);
		expect(after).toBe(`…${'h'.repeat(60)}new${'t'.repeat(57)}…`);
	});

	it('has no dots where nothing is left out', () => {
		expect(excerptChange('ab', 'ab ')).toEqual({ before: 'ab', after: 'ab ' });
	});

	it('cuts no letter in half', () => {
		const head = '😀'.repeat(50);
		const { before, after } = excerptChange(`${head}x${head}`, `${head}y${head}`);
		for (const text of [before, after]) expect(text.isWellFormed()).toBe(true);
	});

	it('takes no longer than reading a long text', () => {
		const text = 'a'.repeat(2_000_000);
		const began = performance.now();
		expect(excerptChange(`${text}b`, `${text}c`).after.endsWith('c')).toBe(true);
		expect(performance.now() - began).toBeLessThan(2000);
	});
});
