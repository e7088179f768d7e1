import { describe, expect, it } from 'vitest';
import { listActions, isUnusable, type BountyState, type BountyViewer } from './actions';
import { BOUNTY_STATUSES, type BountyStatus } from './types';

const creator: BountyViewer = { isCreator: true, isAdmin: false };
const admin: BountyViewer = { isCreator: false, isAdmin: true };
const anybody: BountyViewer = { isCreator: false, isAdmin: false };
const at = (status: BountyStatus, more = {}): BountyState => ({
	status,
	is_decomposed: false,
	matched_asset_status: status === 'matched' ? 'candidate' : null,
	...more
});

describe('what a bounty offers', () => {
	it('is nothing to those who did not offer it', () => {
		for (const status of BOUNTY_STATUSES) expect(listActions(at(status), anybody)).toEqual([]);
	});

	it('is a decision to its creator', () => {
		expect(listActions(at('matched'), creator)).toEqual(['accept', 'reject']);
		expect(listActions(at('open'), creator)).toEqual(['cancel']);
		expect(listActions(at('claimed'), creator)).toEqual([]);
	});

	it('is more to an admin, until it is over', () => {
		expect(listActions(at('open'), admin)).toEqual(['match', 'cancel']);
		expect(listActions(at('claimed'), admin)).toEqual(['match', 'cancel']);
		expect(listActions(at('matched'), admin)).toEqual(['accept', 'reject', 'cancel']);
	});

	it('follows the creator where an admin is one', () => {
		expect(listActions(at('matched'), { isCreator: true, isAdmin: true })).toEqual(['accept', 'reject']);
	});

	it('is no match where a swarm works', () => {
		expect(listActions(at('claimed', { is_decomposed: true }), admin)).toEqual(['cancel']);
	});

	it('does not pay for what was withdrawn since', () => {
		const revoked = at('matched', { matched_asset_status: 'revoked' });
		expect(isUnusable(revoked)).toBe(true);
		expect(listActions(revoked, creator)).toEqual(['reject']);
	});

	it('is nothing once it is over', () => {
		for (const status of ['accepted', 'expired', 'cancelled'] as const)
			for (const viewer of [creator, admin]) expect(listActions(at(status), viewer)).toEqual([]);
	});
});
