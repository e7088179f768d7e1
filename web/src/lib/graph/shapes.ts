/** What the graph calls of a hub answer. */
export interface Thing {
	id: string;
	/** signal, error, gene, capsule, event, node, environment, task, or what somebody who told of it calls it. */
	kind: string;
	name: string;
	key: string;
	x: number;
	y: number;
	score: number | null;
	is_hit: boolean;
	/** How many statements of the hub name it, and how many of people and nodes do. */
	mentions: number;
	told: number;
	asset_id: string | null;
	status: string | null;
	/** How many of its relations are not in the drawing. */
	hidden_relations: number;
}

export interface Relation {
	from: string;
	to: string;
	kind: string;
	confidence: number;
	claims: number;
	/** `node:…`, `user:…`, or `hub`. */
	said_by: string;
	said_at: string | null;
	asset_id: string | null;
	is_told: boolean;
}

export interface Step {
	from: string;
	to: string;
	kind: string;
}

export interface Hit {
	id: string;
	score: number;
	words: string[];
	ways: string[];
	path: Step[];
}

export interface Drawing {
	nodes: Thing[];
	edges: Relation[];
	hits: Hit[];
	path: string[];
	truncated: boolean;
}
