/** What belongs to an account, as the hub tells it. */
export interface User {
	user_id: string;
	email: string;
	role: string;
	created_at: string;
	banned_at: string | null;
}

export interface Begun {
	token: string;
	expires_at: string;
	user: User;
}

export interface Agent {
	node_id: string;
	name: string | null;
	status: string;
	secret_state: string;
	reputation: number;
	total_published: number;
	credit_balance: number;
	created_at: string;
	last_seen_at: string;
	claimed_at: string | null;
}

export interface Me {
	user: User;
	credit_balance: number;
	nodes: Agent[];
}

export interface Key {
	key_id: string;
	name: string;
	hint: string;
	created_at: string;
	last_used_at: string | null;
}

export interface Entry {
	time: string;
	kind: string;
	reference: string;
	delta: number;
	balance_after: number;
	counterparty: string;
}

export interface Statement {
	account: string;
	credit_balance: number;
	entries: Entry[];
	next_cursor: string | null;
}

export interface Webhook {
	node_id: string;
	registered: boolean;
	url: string | null;
	enabled: boolean;
	disabled_at: string | null;
	disabled_reason: string | null;
	deaths: number;
	old_secret_valid_until: string | null;
	created_at: string | null;
	deliveries: Record<string, number>;
}

export interface Delivery {
	delivery_id: string;
	type: string;
	state: string;
	attempts: number;
	next_attempt_at: string | null;
	last_status: number | null;
	last_error: string | null;
	created_at: string;
	updated_at: string;
	delivered_at: string | null;
}

export interface Claim {
	claim_code: string;
	node_id: string;
	expires_at: string;
	status: 'pending' | 'claimed';
}
