import type { Bounty } from './types';

/** Who looks at a bounty. */
export interface BountyViewer {
	/** Offered it, or owns the node that did. */
	isCreator: boolean;
	isAdmin: boolean;
}

export type BountyAction = 'accept' | 'reject' | 'cancel' | 'match';

export type BountyState = Pick<Bounty, 'status' | 'is_decomposed' | 'matched_asset_status'>;

const UNUSABLE = ['rejected', 'revoked', 'quarantined'];

/** What somebody may do with a bounty as it stands, in the order in which it is offered. */
export function listActions(bounty: BountyState, viewer: BountyViewer): BountyAction[] {
	const decides = viewer.isCreator || viewer.isAdmin;
	const isMatched = bounty.status === 'matched';
	// What was rejected after it was read is not over: its creator may still pay, and an arbiter may decide.
	const isArgued = bounty.status === 'rejected' || bounty.status === 'disputed';
	const isHeld = isMatched || bounty.status === 'open' || bounty.status === 'claimed';
	const offered: [BountyAction, boolean][] = [
		['accept', decides && (isMatched || isArgued) && !isUnusable(bounty)],
		['reject', decides && isMatched],
		['match', viewer.isAdmin && isHeld && !isMatched && !bounty.is_decomposed],
		// Its creator may take back what nobody works on. An admin who did not offer it may end it at any time.
		['cancel', viewer.isCreator ? bounty.status === 'open' : viewer.isAdmin && isHeld]
	];
	return offered.filter(([, isOffered]) => isOffered).map(([action]) => action);
}

/** Whether what was handed in was withdrawn, refused or held back since. Then it cannot be paid for. */
export function isUnusable(bounty: BountyState): boolean {
	return bounty.status === 'matched' && UNUSABLE.includes(bounty.matched_asset_status ?? '');
}
