import type { Relation, Thing } from './shapes';

/** Things and relations for tests, which say of them what they are about. */
export const thing = (id: string, more: Partial<Thing> = {}): Thing => ({
	id,
	kind: 'signal',
	name: id,
	key: id,
	x: 0,
	y: 0,
	score: null,
	is_hit: false,
	mentions: 1,
	told: 0,
	asset_id: null,
	status: null,
	hidden_relations: 0,
	...more
});

export const relation = (from: string, kind: string, to: string, said_by = 'hub'): Relation => ({
	from,
	to,
	kind,
	confidence: 1,
	claims: 1,
	said_by,
	said_at: null,
	asset_id: null,
	is_told: false
});
