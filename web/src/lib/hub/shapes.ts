/** What the public calls of a hub answer. */
export type AssetType = 'Gene' | 'Capsule' | 'EvolutionEvent';
export type Status = 'candidate' | 'promoted' | 'rejected' | 'quarantined' | 'revoked' | 'stale' | 'archived';
/** What a validation is worth: it could fail, it could not, or there is none. */
export type Proof = 'real' | 'vacuous' | 'absent';

export interface Page<T> {
	rows: T[];
	next: string | null;
	total: number | undefined;
}

export interface AssetRow {
	asset_id: string;
	type: AssetType;
	summary: string;
	status: Status;
	local_id?: string | null;
	category?: string;
	intent?: string;
	signals?: unknown;
	confidence?: number;
	success_streak?: number;
	blast_radius?: { files?: number; lines?: number };
	outcome?: { status?: string; score?: number };
	mutations_tried?: number;
	total_cycles?: number;
	model_name?: string;
	gene?: string;
	reused_asset_id?: string;
	gdi_score: number;
	gdi_mean: number;
	call_count: number;
	reuse_count: number;
	view_count: number;
	upvotes: number;
	downvotes: number;
	source_node_id: string;
	reputation_score: number;
	trust_tier: string;
	validation_label: Proof;
	created_at: string;
	promoted_at: string | null;
	last_activity_at: string;
	safety?: string;
	similar_to?: string;
}

export interface GdiPart {
	name: string;
	value: number;
	lower: number;
	weight: number;
	why: string;
}

export interface Gdi {
	score: number;
	mean: number;
	intrinsic: number;
	usage: number;
	social: number;
	freshness: number;
	parts: GdiPart[];
}

export interface AuditEntry {
	at: string;
	actor: string;
	action: string;
	before: string | null;
	after: string | null;
	reason: string | null;
}

export interface Obstacle {
	code: string;
	text: string;
	have: number;
	need: number;
}

export interface Validation {
	passes: number;
	fails: number;
	total: number;
	weight: { passes: number; fails: number };
	verdict: 'pending' | 'passed' | 'failed';
	label: Proof;
}

export interface AssetDetail extends AssetRow {
	bundle: {
		bundle_id: string;
		gene: AssetRow | null;
		capsule: AssetRow | null;
		event: AssetRow | null;
	} | null;
	validation: Validation;
	gdi: Gdi;
	audit_trail: AuditEntry[];
	why_not_promoted?: Obstacle[];
	payload: Record<string, unknown> | null;
	payload_withheld?: string;
}

export interface Report {
	report_id: string;
	validator_node_id: string;
	overall_ok: boolean;
	weight: number;
	label: string;
	env_fingerprint_key: string | null;
	commands_passed: number | null;
	commands_total: number | null;
	reproduction_score: number | null;
	failure_class: string | null;
	created_at: string;
}

export interface Review {
	review_id: string;
	node_id: string;
	rating: number;
	content: string;
	created_at: string;
}

export interface NodeRow {
	node_id: string;
	alias: string | null;
	model: string | null;
	status: string;
	online: boolean;
	survival_status: string;
	claimed: boolean;
	reputation_score: number;
	reputation_penalty: number;
	quarantine_strikes: number;
	trust_level: string;
	total_published: number;
	total_promoted: number;
	total_rejected: number;
	total_revoked: number;
	created_at: string;
	last_seen_at: string;
}

export interface Activity {
	type: string;
	asset_id: string;
	at: string;
	asset_type?: AssetType;
	asset_status?: Status;
	overall_ok?: boolean;
	label?: string;
}

export interface Stats {
	hub_version: string;
	protocol: string;
	protocol_version: string;
	total_nodes: number;
	active_24h: number;
	total_all_types: number;
	promoted_assets: number;
	candidate_assets: number;
	total_calls: number;
	today_calls: number;
	open_tasks: number;
	open_bounties: number;
}

export interface Count {
	value: string;
	count: number;
}

export interface FacetCounts {
	types: Count[];
	statuses: Count[];
	categories: Count[];
	labels: Count[];
	signals: Count[];
}

export interface LineageNode {
	id: string;
	kind: 'gene' | 'capsule' | 'event' | 'node';
	label: string;
	status: string | null;
	is_focus: boolean;
	x: number;
	y: number;
}

export interface LineageEdge {
	from: string;
	to: string;
	kind: 'made_by' | 'implements' | 'in_event' | 'reused_by' | 'follows';
}

export interface Lineage {
	nodes: LineageNode[];
	edges: LineageEdge[];
	truncated: boolean;
}

export interface UsageDay {
	day: string;
	fetches: number;
	reuses: number;
	reports_ok: number;
	reports_failed: number;
}

export interface Reputation {
	score: number;
	parts: { name: string; value: number; weight: number; points: number; explained: string }[];
	history: { at: string; score: number }[];
}
