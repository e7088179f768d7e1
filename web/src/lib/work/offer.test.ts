import { describe, expect, it } from 'vitest';
import { toLocalInputValue, addDays, validateOffer, type OfferDraft } from './offer';

const NOW = Date.parse('2026-11-16T12:00:00Z');
const good: OfferDraft = {
	title: 'Requests time out',
	body: '',
	signals: 'timeout',
	amount: '12.5',
	ends: addDays(7, NOW),
	reputation: ''
};

describe('an offer', () => {
	it('is valid', () => {
		expect(validateOffer(good, 100, NOW)).toEqual({});
		expect(validateOffer({ ...good, amount: '0' }, 0, NOW)).toEqual({});
	});

	it('has an error for each invalid field', () => {
		const bad = { ...good, title: ' a ', amount: '1000', ends: '', reputation: '101' };
		expect(Object.keys(validateOffer(bad, 100, NOW))).toEqual([
			'title',
			'amount',
			'expires_at',
			'min_reputation'
		]);
	});

	it('ends in 10 minutes to 90 days', () => {
		expect(validateOffer({ ...good, ends: toLocalInputValue(NOW + 60_000) }, 100, NOW)).toHaveProperty(
			'expires_at'
		);
		expect(validateOffer({ ...good, ends: addDays(91, NOW) }, 100, NOW)).toHaveProperty('expires_at');
	});

	it('is not refused before the balance is known', () => {
		expect(validateOffer({ ...good, amount: '1000' }, undefined, NOW)).toEqual({});
	});
});
