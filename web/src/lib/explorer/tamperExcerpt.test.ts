import { describe, expect, it } from 'vitest';
import { excerptChange } from './tamperExcerpt';

describe('what a demonstration changed', () => {
	it('is shown between what stays', () => {
		const [head, tail] = ['h'.repeat(80), 't'.repeat(80)];
		const { before, after } = excerptChange(`${head}old${tail}`, `${head}new words${tail}`);
		const around = { head: `…${'h'.repeat(60)}`, tail: `${'t'.repeat(60)}…` };
		expect(before).toEqual({ ...around, changed: 'old' });
		expect(after).toEqual({ ...around, changed: 'new words' });
	});

	it('has no dots where nothing is left out', () => {
		const { before, after } = excerptChange('ab', 'ab ');
		expect(before).toEqual({ head: 'ab', changed: '', tail: '' });
		expect(after).toEqual({ head: 'ab', changed: ' ', tail: '' });
	});

	it('cuts no letter in half', () => {
		const head = '😀'.repeat(50);
		for (const [from, to] of [
			['x', 'y'],
			['😀', '😁'],
			['', '😁'.repeat(200)]
		])
			for (const { head: start, changed, tail } of Object.values(
				excerptChange(`${head}${from}${head}`, `${head}${to}${head}`)
			))
				expect([start, changed, tail].every((part) => part.isWellFormed())).toBe(true);
	});

	it('takes no longer than reading a long text', () => {
		const text = 'a'.repeat(2_000_000);
		const began = performance.now();
		expect(excerptChange(`${text}b`, `${text}c`).after.changed).toBe('c');
		expect(performance.now() - began).toBeLessThan(2000);
	});
});
