import { describe, expect, it } from 'vitest';
import { credits, minus, moved, readAmount } from './credits';

describe('amounts', () => {
	it('are told to the thousandth', () => {
		expect(credits(1)).toBe('1 credit');
		expect(credits(12.5)).toBe('12.5 credits');
		expect(credits(1234.5678)).toBe('1,234.568 credits');
	});

	it('have a sign in a statement', () => {
		expect([moved(20), moved(-17.25), moved(0)]).toEqual(['+20', '−17.25', '0']);
	});

	it('are subtracted without dust', () => {
		expect(minus(0.3, 0.1)).toBe(0.2);
		expect(minus(10, 12.5)).toBe(-2.5);
	});

	it('are read as people type them', () => {
		expect(readAmount(' 12.5 ')).toEqual({ amount: 12.5 });
		expect(readAmount('12,5')).toEqual({ amount: 12.5 });
		expect(readAmount('0')).toEqual({ amount: 0 });
		expect(readAmount('7.5000')).toEqual({ amount: 7.5 });
		for (const bad of ['', 'ten', '-1', '1e3', '0.0001', '1.2.3', 'NaN', '9999999999999'])
			expect(readAmount(bad), bad).toHaveProperty('wrong');
		expect(readAmount('0', 0.001)).toHaveProperty('wrong');
	});
});
