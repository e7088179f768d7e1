import type { Drawing, Relation, Thing } from './shapes';

/** More cannot be told apart. */
export const MOST_THINGS = 300;

/** A drawing to which others were added. */
export interface Board extends Drawing {
	/** Whether things were left out because there is no room for more. */
	isFull: boolean;
}

export const EMPTY: Board = { nodes: [], edges: [], hits: [], path: [], truncated: false, isFull: false };

/** How large an answer is drawn beside what was there before, and how far from a thing what hangs together with it. */
const SCALE = 0.4;
const REACH = 0.24;
/** Two points that are nearer to each other cannot be told apart. */
const APART = 0.035;

interface Place {
	x: number;
	y: number;
}

const keyOf = ({ from, kind, to, said_by }: Relation) => `${from}\n${kind}\n${to}\n${said_by}`;

/**
 * Adds an answer to a drawing. What is known stays where it is; what is new is placed around the things that both know,
 * as the hub placed it there.
 */
export function merge(board: Board, more: Drawing, anchors: string[] = []): Board {
	const isFirst = board.nodes.length === 0;
	const known = new Map(board.nodes.map((thing) => [thing.id, thing]));
	const newer = more.nodes.filter(({ id }) => !known.has(id));
	const room = Math.max(0, MOST_THINGS - known.size);
	const added = inOrder(newer, more, anchors).slice(0, room);
	const placed = isFirst ? asRead(added, more.path) : beside(board.nodes, more, added, anchors);
	const again = new Map(more.nodes.map((thing) => [thing.id, thing]));
	const nodes = [...board.nodes.map((thing) => updated(thing, again.get(thing.id))), ...placed];
	const edges = joined(board.edges, more.edges, new Set(nodes.map(({ id }) => id)));
	return {
		nodes: withHidden(nodes, edges, [board, more]),
		edges,
		hits: isFirst && more.hits.length ? more.hits : board.hits,
		path: more.path.length ? more.path : board.path,
		truncated: board.truncated || (isFirst && more.truncated),
		isFull: board.isFull || newer.length > room
	};
}

/** The same thing, told again: it stays where it is, and a hit stays a hit. */
function updated(thing: Thing, again: Thing | undefined): Thing {
	if (!again) return thing;
	return { ...again, x: thing.x, y: thing.y, is_hit: thing.is_hit, score: thing.score };
}

/** Where not all have room, the ways come first, then the anchors, then those that touch them. */
function inOrder(things: Thing[], { path, edges }: Drawing, anchors: string[]): Thing[] {
	const homes = homesOf(edges, anchors);
	const rank = ({ id }: Thing) => (path.includes(id) ? 0 : anchors.includes(id) ? 1 : homes.has(id) ? 2 : 3);
	return [...things].sort((a, b) => rank(a) - rank(b));
}

/** Which anchor each thing touches. */
function homesOf(edges: Relation[], anchors: string[]): Map<string, string> {
	const homes = new Map<string, string>();
	for (const { from, to } of edges) {
		if (anchors.includes(from) && !homes.has(to)) homes.set(to, from);
		if (anchors.includes(to) && !homes.has(from)) homes.set(from, to);
	}
	return homes;
}

/** A way is read from its beginning, so that stands on the left and above. */
function asRead(things: Thing[], path: string[]): Thing[] {
	const ends = [path[0], path.at(-1)].map((end) => things.find(({ id }) => id === end));
	const [first, last] = ends;
	if (!first || !last) return things;
	const turned = (along: 'x' | 'y') =>
		first[along] > last[along] ? (at: number) => 1 - at : (at: number) => at;
	const [x, y] = [turned('x'), turned('y')];
	return things.map((thing) => ({ ...thing, x: x(thing.x), y: y(thing.y) }));
}

/** Relations of both, each once, between things that are drawn. */
function joined(before: Relation[], more: Relation[], drawn: Set<string>): Relation[] {
	const all = new Map(before.map((edge) => [keyOf(edge), edge]));
	for (const edge of more) if (drawn.has(edge.from) && drawn.has(edge.to)) all.set(keyOf(edge), edge);
	return [...all.values()];
}

function touching(id: string, edges: Relation[]): number {
	return edges.filter(({ from, to }) => from === id || to === id).length;
}

/**
 * Each answer knows how many relations a thing has: those that it shows and those that it hides. What several say counts
 * once where it is shown and several times where it is hidden, so the smallest number is the nearest.
 */
function withHidden(nodes: Thing[], edges: Relation[], answers: Drawing[]): Thing[] {
	const all = new Map<string, number>();
	for (const answer of answers) {
		for (const { id, hidden_relations } of answer.nodes) {
			const counted = hidden_relations + touching(id, answer.edges);
			all.set(id, Math.min(all.get(id) ?? Infinity, counted));
		}
	}
	return nodes.map((thing) => ({
		...thing,
		hidden_relations: Math.max(0, (all.get(thing.id) ?? 0) - touching(thing.id, edges))
	}));
}

function beside(known: Thing[], more: Drawing, added: Thing[], anchors: string[]): Thing[] {
	const drawn = new Map<string, Place>(known.map((thing) => [thing.id, thing]));
	const shared = more.nodes.filter(({ id }) => (anchors.length ? anchors.includes(id) : drawn.has(id)));
	const homes = homesOf(more.edges, anchors);
	// An answer that shares nothing stands beside all.
	const alone: Move = [right(known), { x: 0, y: 0.5 }];
	const scales = new Map(shared.map((home) => [home.id, REACH / farthest(home, added, homes)]));
	return added.map((thing) => {
		const home = homes.get(thing.id) ?? '';
		const near = moveOf(
			shared.filter(({ id }) => id === home),
			drawn
		);
		const [to, from] = near ?? moveOf(shared, drawn) ?? alone;
		const scale = (near && scales.get(home)) ?? SCALE;
		const wanted = { x: to.x + (thing.x - from.x) * scale, y: to.y + (thing.y - from.y) * scale };
		const place = free(wanted, [...drawn.values()]);
		drawn.set(thing.id, place);
		return { ...thing, ...place, is_hit: false, score: null };
	});
}

/** Where something stands here, and where it stands in an answer. */
type Move = [Place, Place];

/** How far in an answer the farthest thing stands from the one that it hangs together with. */
function farthest(home: Thing, things: Thing[], homes: Map<string, string>): number {
	const own = things.filter(({ id }) => homes.get(id) === home.id);
	return Math.max(APART, ...own.map(({ x, y }) => Math.hypot(x - home.x, y - home.y)));
}

function moveOf(things: Thing[], drawn: Map<string, Place>): Move | undefined {
	const both = things.filter(({ id }) => drawn.has(id));
	const [here, there] = [middle(both.map(({ id }) => drawn.get(id)!)), middle(both)];
	return here && there ? [here, there] : undefined;
}

function middle(places: Place[]): Place | undefined {
	if (!places.length) return undefined;
	const mean = (of: (place: Place) => number) =>
		places.reduce((sum, place) => sum + of(place), 0) / places.length;
	return { x: mean(({ x }) => x), y: mean(({ y }) => y) };
}

function right(places: Place[]): Place {
	const xs = places.map(({ x }) => x);
	return { x: Math.max(...xs) + 2 * APART, y: middle(places)?.y ?? 0.5 };
}

/** The nearest place on a spiral around the wanted one at which nothing else is. */
function free(wanted: Place, taken: Place[]): Place {
	const isFree = (place: Place) => taken.every(({ x, y }) => Math.hypot(x - place.x, y - place.y) >= APART);
	for (let turn = 0; turn < 2000; turn += 1) {
		const far = (APART / 2) * Math.sqrt(turn);
		const angle = turn * 2.4;
		const place = { x: wanted.x + far * Math.cos(angle), y: wanted.y + far * Math.sin(angle) };
		if (isFree(place)) return place;
	}
	return wanted;
}
