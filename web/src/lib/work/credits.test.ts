import { describe, expect, it } from 'vitest';
import { formatBalances, formatCredits, subtractCredits, formatDelta, parseAmount } from './credits';

describe('amounts', () => {
	it('are formatted to the thousandth', () => {
		expect(formatCredits(1)).toBe('1 credit');
		expect(formatCredits(12.5)).toBe('12.5 credits');
		expect(formatCredits(1234.5678)).toBe('1,234.568 credits');
	});

	it('name the granted and the earned part of a balance', () => {
		const held = { credit_balance: 512.5, granted_balance: 500, earned_balance: 12.5 };
		expect(formatBalances(held)).toBe('512.5 credits (500 granted, 12.5 earned)');
	});

	it('have a sign in a statement', () => {
		expect([formatDelta(20), formatDelta(-17.25), formatDelta(0)]).toEqual(['+20', '−17.25', '0']);
	});

	it('are subtracted without rounding errors', () => {
		expect(subtractCredits(0.3, 0.1)).toBe(0.2);
		expect(subtractCredits(10, 12.5)).toBe(-2.5);
	});

	it('are parsed as people type them', () => {
		expect(parseAmount(' 12.5 ')).toEqual({ amount: 12.5 });
		expect(parseAmount('12,5')).toEqual({ amount: 12.5 });
		expect(parseAmount('0')).toEqual({ amount: 0 });
		expect(parseAmount('7.5000')).toEqual({ amount: 7.5 });
		for (const bad of ['', 'ten', '-1', '1e3', '0.0001', '1.2.3', 'NaN', '9999999999999'])
			expect(parseAmount(bad), bad).toHaveProperty('wrong');
		expect(parseAmount('0', 0.001)).toHaveProperty('wrong');
	});
});
