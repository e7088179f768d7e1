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

describe('the actions of a bounty', () => {
	it('are empty for a viewer who did not create it', () => {
		for (const status of BOUNTY_STATUSES) expect(listActions(at(status), anybody)).toEqual([]);
	});

	it('let its creator decide', () => {
		expect(listActions(at('matched'), creator)).toEqual(['accept', 'reject']);
		expect(listActions(at('open'), creator)).toEqual(['cancel']);
		expect(listActions(at('claimed'), creator)).toEqual([]);
	});

	it('let its creator pay for what it had rejected, and never cancel that', () => {
		for (const status of ['rejected', 'disputed'] as const)
			for (const viewer of [creator, admin]) expect(listActions(at(status), viewer)).toEqual(['accept']);
	});

	it('let an admin match and cancel until it ends', () => {
		expect(listActions(at('open'), admin)).toEqual(['match', 'cancel']);
		expect(listActions(at('claimed'), admin)).toEqual(['match', 'cancel']);
		expect(listActions(at('matched'), admin)).toEqual(['accept', 'reject', 'cancel']);
	});

	it('follow the rules of a creator where an admin is one', () => {
		expect(listActions(at('matched'), { isCreator: true, isAdmin: true })).toEqual(['accept', 'reject']);
	});

	it('do not match a decomposed task', () => {
		expect(listActions(at('claimed', { is_decomposed: true }), admin)).toEqual(['cancel']);
	});

	it('do not pay for a withdrawn asset', () => {
		const revoked = at('matched', { matched_asset_status: 'revoked' });
		expect(isUnusable(revoked)).toBe(true);
		expect(listActions(revoked, creator)).toEqual(['reject']);
	});

	it('are empty once it ended', () => {
		for (const status of ['accepted', 'expired', 'cancelled'] as const)
			for (const viewer of [creator, admin]) expect(listActions(at(status), viewer)).toEqual([]);
	});
});
