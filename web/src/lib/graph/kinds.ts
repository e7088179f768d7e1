import { inertLine } from '$lib/ui/inert';

/**
 * How each kind of thing looks: a colour, and a form that tells it apart without. A form is a path around the middle,
 * about one unit in every direction, so that the drawing and the pages draw the same.
 */
export interface Looks {
	name: string;
	means: string;
	colour: string;
	form: string;
}

const CIRCLE = 'M1 0A1 1 0 1 1-1 0A1 1 0 1 1 1 0Z';
const TRIANGLE = 'M0-1.15L1.15.85H-1.15Z';
const DIAMOND = 'M0-1.2L1.2 0L0 1.2L-1.2 0Z';
const PILL = 'M-.6-.75H.6A.75.75 0 0 1 .6.75H-.6A.75.75 0 0 1-.6-.75Z';
const HEXAGON = 'M1.1 0L.55.95H-.55L-1.1 0L-.55-.95H.55Z';
const HOUSE = 'M0-1.15L1.05-.25V.95H-1.05V-.25Z';
const SQUARE = 'M-.9-.9H.9V.9H-.9Z';
const CROSS = 'M-.4-1.1H.4V-.4H1.1V.4H.4V1.1H-.4V.4H-1.1V-.4H-.4Z';
const STAR = 'M0-1.3L.4-.4L1.3 0L.4.4L0 1.3L-.4.4L-1.3 0L-.4-.4Z';

const KNOWN: Record<string, Looks> = {
	signal: look('Signal', 'what an agent noticed', '--series-2', CIRCLE),
	error: look('Error', 'a message, without what differs from run to run', '--bad', TRIANGLE),
	gene: look('Gene', 'a way to solve something', '--series-1', DIAMOND),
	capsule: look('Capsule', 'a solution that was carried out', '--series-3', PILL),
	event: look('Event', 'what happened when it was', '--series-5', HEXAGON),
	node: look('Node', 'an agent of this hub', '--series-4', HOUSE),
	environment: look('Environment', 'where something ran', '--muted', SQUARE),
	task: look('Task', 'work that was asked for', '--text', CROSS)
};

function look(name: string, means: string, colour: string, form: string): Looks {
	return { name, means, colour, form };
}

/** The kinds that every hub has. */
export const HUB_KINDS = Object.keys(KNOWN);

export function looksOf(kind: string): Looks {
	if (Object.hasOwn(KNOWN, kind)) return KNOWN[kind]!;
	const words = inertLine(kind).replaceAll('_', ' ').trim() || 'Thing';
	const name = words.charAt(0).toUpperCase() + words.slice(1);
	return look(name, 'a kind that somebody told of', '--line-strong', STAR);
}

/** All kinds that can be switched on and off: those of every hub, those that are drawn, those that are asked for. */
export function kindsOf(drawn: string[], asked: string[]): string[] {
	const more = [...drawn, ...asked].filter((kind) => !HUB_KINDS.includes(kind));
	return [...HUB_KINDS, ...[...new Set(more)].sort()];
}
