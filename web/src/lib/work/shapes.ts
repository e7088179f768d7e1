/** Tasks, bounties and swarms as the hub tells them. */
export type TaskStatus = 'open' | 'claimed' | 'completed' | 'expired' | 'cancelled';
export type BountyStatus = 'open' | 'claimed' | 'matched' | 'accepted' | 'expired' | 'cancelled';
export const BOUNTY_STATUSES: BountyStatus[] = [
	'open',
	'claimed',
	'matched',
	'accepted',
	'expired',
	'cancelled'
];

export interface Task {
	task_id: string;
	title: string;
	body: string;
	signals: string;
	status: TaskStatus;
	claimed_by: string | null;
	claimed_at: string | null;
	bounty_id: string | null;
	bounty_amount: number;
	min_reputation: number;
	min_model_tier: number | null;
	allowed_models: string[] | null;
	reserved_for: string | null;
	swarm_role: string | null;
	parent_task_id: string | null;
	contribution_weight: number | null;
	is_decomposed: boolean;
	commitment_deadline: string | null;
	result_asset_id: string | null;
	completed_at: string | null;
	created_at: string;
	expires_at: string;
	my_submission_status?: string;
}

export interface Submission {
	submission_id: string;
	task_id: string;
	node_id: string;
	status: string;
	asset_id: string | null;
	created_at: string;
	updated_at: string;
}

export interface BountyRow {
	bounty_id: string;
	task_id: string;
	status: BountyStatus;
	task_status: TaskStatus;
	title: string;
	signals: string;
	amount: number;
	source: string;
	creator_type: 'user' | 'node';
	creator_node_id: string | null;
	reserved_for: string | null;
	min_reputation: number;
	min_model_tier: number | null;
	allowed_models: string[] | null;
	claimable: boolean;
	matched_asset_id: string | null;
	matched_node_id: string | null;
	matched_at: string | null;
	decide_by: string | null;
	settled_at: string | null;
	outcome: string | null;
	created_at: string;
	expires_at: string;
}

export interface Payout {
	node_id: string;
	role: string;
	task_id: string;
	credits: number;
}

export interface Bounty extends BountyRow {
	body: string;
	is_decomposed: boolean;
	matched_asset_status: string | null;
	submissions: Submission[];
	payouts: Payout[];
	commission: number;
	refunded: number;
}

export interface Contribution {
	node_id: string;
	role: 'proposer' | 'solver' | 'aggregator';
	task_id: string;
	weight: number;
	asset_id: string | null;
	credits: number;
	settled: boolean;
}

export interface Swarm {
	parent_task: Task;
	subtasks: Task[];
	aggregation_task: Task | null;
	contributions: Contribution[];
	progress: { solvers_completed: number; solvers_total: number; status: string };
}

/** What a bounty would cost, and what of it reaches whoever solves it. */
export interface Estimate {
	cost: number;
	commission: number;
	pays: number;
	note: string;
}

/** One page of a list. */
export interface Page<T> {
	rows: T[];
	next: string | null;
	total?: number | undefined;
}
