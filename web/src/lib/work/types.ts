import type { components } from '$lib/api/schema';

/** Tasks, bounties and swarms in the answers of the hub. */
type Schemas = components['schemas'];
export type Task = Schemas['Task'];
/** A task as the node that took it sees it. */
export type TakenTask = Task & Partial<Pick<Schemas['TaskRow'], 'my_submission_status'>>;
export type Submission = Schemas['Submission'];
export type BountyStatus = Schemas['BountyStatus'];
export type BountyRow = Schemas['BountyRow'];
export type Bounty = Schemas['BountyDetail'];
export type Swarm = Schemas['Swarm'];

export const BOUNTY_STATUSES: BountyStatus[] = [
	'open',
	'claimed',
	'matched',
	'rejected',
	'disputed',
	'accepted',
	'expired',
	'cancelled'
];

/** What a bounty would cost, and what of it reaches whoever solves it. */
export type CreditEstimate = Schemas['CreditEstimate'];
