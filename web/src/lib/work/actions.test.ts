import { describe, expect, it } from 'vitest';
import { actionsOf, isUnusable, type Standing, type Viewer } from './actions';
import { BOUNTY_STATUSES, type BountyStatus } from './types';

const creator: Viewer = { isCreator: true, isAdmin: false };
const admin: Viewer = { isCreator: false, isAdmin: true };
const anybody: Viewer = { isCreator: false, isAdmin: false };
const at = (status: BountyStatus, more = {}): Standing => ({
	status,
	is_decomposed: false,
	matched_asset_status: status === 'matched' ? 'candidate' : null,
	...more
});

describe('what a bounty offers', () => {
	it('is nothing to those who did not offer it', () => {
		for (const status of BOUNTY_STATUSES) expect(actionsOf(at(status), anybody)).toEqual([]);
	});

	it('is a decision to its creator', () => {
		expect(actionsOf(at('matched'), creator)).toEqual(['accept', 'reject']);
		expect(actionsOf(at('open'), creator)).toEqual(['cancel']);
		expect(actionsOf(at('claimed'), creator)).toEqual([]);
	});

	it('is more to an admin, until it is over', () => {
		expect(actionsOf(at('open'), admin)).toEqual(['match', 'cancel']);
		expect(actionsOf(at('claimed'), admin)).toEqual(['match', 'cancel']);
		expect(actionsOf(at('matched'), admin)).toEqual(['accept', 'reject', 'cancel']);
	});

	it('follows the creator where an admin is one', () => {
		expect(actionsOf(at('matched'), { isCreator: true, isAdmin: true })).toEqual(['accept', 'reject']);
	});

	it('is no match where a swarm works', () => {
		expect(actionsOf(at('claimed', { is_decomposed: true }), admin)).toEqual(['cancel']);
	});

	it('does not pay for what was withdrawn since', () => {
		const revoked = at('matched', { matched_asset_status: 'revoked' });
		expect(isUnusable(revoked)).toBe(true);
		expect(actionsOf(revoked, creator)).toEqual(['reject']);
	});

	it('is nothing once it is over', () => {
		for (const status of ['accepted', 'expired', 'cancelled'] as const)
			for (const viewer of [creator, admin]) expect(actionsOf(at(status), viewer)).toEqual([]);
	});
});
