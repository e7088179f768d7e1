import { inertLine } from '$lib/ui/inert';
import { formatPlural } from '$lib/ui/format';
import type { Drawing, Relation, Step, Thing } from './shapes';

/** How things hang together, in words: from the first to the second, and back. */
const WORDS: Record<string, [string, string]> = {
	triggers: ['triggers', 'triggered by'],
	solved_by: ['solved by', 'solves'],
	derived_from: ['derived from', 'led to'],
	reused_by: ['reused by', 'reuses'],
	made_by: ['made by', 'made'],
	recorded_in: ['recorded in', 'tells of'],
	validated_on: ['worked on', 'saw work'],
	fails_on: ['failed on', 'saw fail'],
	co_occurs: ['stands together with', 'stands together with'],
	asks_about: ['asks about', 'asked about in']
};

export function relationWords(kind: string, isForward: boolean): string {
	const known = Object.hasOwn(WORDS, kind) ? WORDS[kind]! : undefined;
	if (known) return known[isForward ? 0 : 1];
	const words = inertLine(kind).replaceAll('_', ' ').trim() || 'tied to';
	// What others call a relation has no word for the way back.
	return isForward ? words : `${words} this`;
}

/** A part of a way that is told: a thing, or the words between two, which may have to be read from there to here. */
export type Part = { thing: string } | { words: string; isBack: boolean };

const isJoined = (edge: Step, from: string, to: string, kind: string | undefined) =>
	edge.from === from && edge.to === to && (kind === undefined || edge.kind === kind);

/** The words between two things that stand beside each other, whichever way the relation points. */
function between(edges: Step[], from: string, to: string, kind?: string): Part {
	const forward = edges.find((edge) => isJoined(edge, from, to, kind));
	const backward = forward ? undefined : edges.find((edge) => isJoined(edge, to, from, kind));
	const known = (forward ?? backward)?.kind ?? kind ?? '';
	const isBack = backward !== undefined && !Object.hasOwn(WORDS, known);
	return { words: relationWords(known, !backward || isBack), isBack };
}

/** The steps that led to a hit, which is their end. Which way the relation of a step points, the relations know. */
export function tellSteps(steps: Step[], edges: Step[], end?: string): Part[] {
	let at = beginOf(steps, end);
	if (at === undefined) return [];
	const parts: Part[] = [{ thing: at }];
	for (const { from, to, kind } of steps) {
		const next: string = at === from ? to : from;
		parts.push(between(edges, at, next, kind), { thing: next });
		at = next;
	}
	return parts;
}

/** A step may be written as it was walked or as its relation points: what comes after it tells at which end it was left. */
function beginOf([first, second]: Step[], end: string | undefined): string | undefined {
	if (!first) return undefined;
	const after = second ? [second.from, second.to] : [end];
	const isLeftAtBegin = after.includes(first.from) && !after.includes(first.to);
	return isLeftAtBegin ? first.to : first.from;
}

/** A way from thing to thing. */
export function tellWay(ids: string[], edges: Step[]): Part[] {
	return ids.flatMap((id, place): Part[] => {
		const before = ids[place - 1];
		return before === undefined ? [{ thing: id }] : [between(edges, before, id), { thing: id }];
	});
}

/** The name of a thing. Those whose name says nothing go by their key. */
export function nameOf(thing: Pick<Thing, 'name' | 'key'> | undefined): string {
	if (!thing) return 'something that is not shown';
	return inertLine(thing.name) || inertLine(thing.key) || 'without a name';
}

/** Whether an address means a thing by a name: its own id, or that of its asset. */
export function isCalled({ id, asset_id }: Pick<Thing, 'id' | 'asset_id'>, name: string): boolean {
	return id === name || (asset_id !== null && asset_id === name);
}

/** The parts as one line of text. */
export function lineOf(parts: Part[], things: Map<string, Thing>): string {
	return parts
		.map((part) =>
			'words' in part ? `${arrowOf(part)} ${part.words} ${arrowOf(part)}` : nameOf(things.get(part.thing))
		)
		.join(' ');
}

/** Which way words are read. */
export function arrowOf({ isBack }: { isBack: boolean }): string {
	return isBack ? '←' : '→';
}

const WAYS: Record<string, string> = {
	text: 'by its words',
	graph: 'through the graph',
	embedding: 'by its meaning'
};

export function wayWords(way: string): string {
	return Object.hasOwn(WAYS, way) ? WAYS[way]! : inertLine(way);
}

/** Who says so. */
export type Sayer = { who: 'node' | 'account' | 'other'; id: string } | { who: 'hub' };

export function sayerOf(saidBy: string): Sayer {
	if (saidBy === 'hub' || saidBy === '') return { who: 'hub' };
	if (saidBy.startsWith('node:')) return { who: 'node', id: saidBy.slice(5) };
	if (saidBy.startsWith('user:')) return { who: 'account', id: saidBy.slice(5) };
	return { who: 'other', id: saidBy };
}

/** The page of a thing, where it has one. The address is made here, whatever its key says. */
export function pageOf({
	kind,
	key,
	asset_id
}: Pick<Thing, 'kind' | 'key' | 'asset_id'>): string | undefined {
	if (asset_id) return `/assets/${encodeURIComponent(asset_id)}`;
	if (kind === 'node') return `/nodes/${encodeURIComponent(key)}`;
	return kind === 'task' ? `/tasks/${encodeURIComponent(key)}` : undefined;
}

/** Relations of one thing that are told in the same words. */
export interface Group {
	words: string;
	ties: { other: string; relation: Relation }[];
}

export function groupsOf(id: string, edges: Relation[]): Group[] {
	const groups = new Map<string, Group>();
	for (const relation of edges) {
		if (relation.from !== id && relation.to !== id) continue;
		const isForward = relation.from === id;
		const words = relationWords(relation.kind, isForward);
		const group = groups.get(words) ?? { words, ties: [] };
		group.ties.push({ other: isForward ? relation.to : relation.from, relation });
		groups.set(words, group);
	}
	return [...groups.values()];
}

/** How much is shown. */
export function shownWords({ nodes, edges }: Pick<Drawing, 'nodes' | 'edges'>): string {
	return `${formatPlural(nodes.length, 'thing')} and ${formatPlural(edges.length, 'relation')} are shown`;
}
