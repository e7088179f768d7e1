import { describe, expect, it } from 'vitest';
import { asLocal, inDays, wrongIn, type Offer } from './offer';

const NOW = Date.parse('2026-11-16T12:00:00Z');
const good: Offer = {
	title: 'Requests time out',
	body: '',
	signals: 'timeout',
	amount: '12.5',
	ends: inDays(7, NOW),
	reputation: ''
};

describe('an offer', () => {
	it('is fine as it is', () => {
		expect(wrongIn(good, 100, NOW)).toEqual({});
		expect(wrongIn({ ...good, amount: '0' }, 0, NOW)).toEqual({});
	});

	it('is told what is wrong, field by field', () => {
		const bad = { ...good, title: ' a ', amount: '1000', ends: '', reputation: '101' };
		expect(Object.keys(wrongIn(bad, 100, NOW))).toEqual(['title', 'amount', 'expires_at', 'min_reputation']);
	});

	it('ends neither at once nor in a year', () => {
		expect(wrongIn({ ...good, ends: asLocal(NOW + 60_000) }, 100, NOW)).toHaveProperty('expires_at');
		expect(wrongIn({ ...good, ends: inDays(91, NOW) }, 100, NOW)).toHaveProperty('expires_at');
	});

	it('is not refused before the balance is known', () => {
		expect(wrongIn({ ...good, amount: '1000' }, undefined, NOW)).toEqual({});
	});
});
