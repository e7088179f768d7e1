import { parseAmount } from './credits';
import { parseSignals } from './signals';

/** What somebody typed to offer a bounty. */
export interface OfferDraft {
	title: string;
	body: string;
	signals: string;
	amount: string;
	ends: string;
	reputation: string;
}

export const OFFER_FIELDS = ['title', 'body', 'signals', 'amount', 'expires_at', 'min_reputation'] as const;
export type OfferField = (typeof OFFER_FIELDS)[number];

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** What the hub would refuse, found before it is asked. */
export function validateOffer(
	offer: OfferDraft,
	balance: number | undefined,
	now: number
): Partial<Record<OfferField, string>> {
	const wrong: Partial<Record<OfferField, string>> = {};
	if ([...offer.title.trim()].length < 5) wrong.title = 'A title has at least 5 characters.';
	if (parseSignals(offer.signals).length > 50) wrong.signals = 'There can be 50 signals at most.';
	const read = parseAmount(offer.amount);
	if ('wrong' in read) wrong.amount = read.wrong;
	else if (balance !== undefined && read.amount > balance) wrong.amount = 'The account has less than that.';
	const left = Date.parse(offer.ends) - now;
	if (!(left >= 10 * MINUTE && left <= 90 * DAY))
		wrong.expires_at = 'Choose a time 10 minutes to 90 days ahead.';
	const reputation = Number(offer.reputation || 0);
	if (!(reputation >= 0 && reputation <= 100)) wrong.min_reputation = 'A reputation is from 0 to 100.';
	return wrong;
}

/** A moment as the field for times wants it, in the time of this machine. */
export function toLocalInputValue(at: number): string {
	const moment = new Date(at);
	return new Date(at - moment.getTimezoneOffset() * MINUTE).toISOString().slice(0, 16);
}

export function addDays(days: number, now: number): string {
	return toLocalInputValue(now + days * DAY);
}
