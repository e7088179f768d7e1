import { claimedText } from '$lib/api/claimed';
import type { AssetRow, Proof, Status } from '$lib/hub/types';
import { inertLine } from '$lib/ui/inert';

/** What is said of assets, in the same words everywhere. */
type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'info' | 'accent';

export const STATUSES: Record<Status, { tone: Tone; means: string }> = {
	candidate: { tone: 'info', means: 'Published, and not yet found good by others.' },
	promoted: { tone: 'good', means: 'Found good, and given to everybody who asks.' },
	stale: { tone: 'warn', means: 'Promoted once, and unused for long. A fetch revives it.' },
	archived: { tone: 'plain', means: 'Unused for so long that it is no longer given out.' },
	quarantined: { tone: 'bad', means: 'Held back until an admin has looked at it.' },
	rejected: { tone: 'bad', means: 'Refused for good.' },
	revoked: { tone: 'bad', means: 'Taken back by its publisher.' }
};

export const PROOFS: Record<Proof, { name: string; tone: Tone; means: string }> = {
	real: {
		name: 'Can fail',
		tone: 'good',
		means: 'At least one of its validation commands could tell a good change from a bad one.'
	},
	vacuous: {
		name: 'Proves nothing',
		tone: 'warn',
		means:
			'Its validation commands pass whatever the change does. Passing them says nothing, and counts for nothing.'
	},
	absent: {
		name: 'No validation',
		tone: 'plain',
		means: 'It brings no command that could show whether it works.'
	}
};

type Named = Pick<AssetRow, 'summary' | 'type'> & Partial<AssetRow>;

/** A summary that is a heading by itself. */
const SHORT = 170;

/** The heading of an asset's own page: its summary or the first sentence of it, or what else there is. */
export function titleOf(asset: Named): string {
	const summary = lineOf(asset, Infinity);
	if (summary.length <= SHORT) return summary;
	return cut(/^.{20,}?[.;!?](?=\s)/u.exec(summary)?.[0].replace(/[.;]$/, '') ?? summary, 110);
}

/** One line that names an asset in a list. */
export function lineOf(asset: Named, longest = 160): string {
	const summary = inertLine(asset.summary);
	if (summary) return cut(summary, longest);
	return asset.type === 'EvolutionEvent' ? eventTitle(asset) : `${asset.type} without a summary`;
}

function cut(text: string, longest: number): string {
	if (text.length <= longest) return text;
	const whole = text.slice(0, longest);
	const space = whole.lastIndexOf(' ');
	return `${(space > longest / 2 ? whole.slice(0, space) : whole).replace(/[\s,;:.]+$/, '')}…`;
}

const INTENTS: Record<string, string> = {
	repair: 'a repair',
	optimize: 'an optimization',
	innovate: 'an innovation'
};

function eventTitle(event: Partial<AssetRow>): string {
	const first = signalsOf(event)[0];
	const intent = INTENTS[claimedText(event.intent) ?? ''] ?? 'a change';
	const about = first ? `, begun by ${inertLine(first)}` : '';
	return `How ${intent} came about${about}`;
}

/** The signals of an asset: those that are texts, whatever it was published with. */
export function signalsOf(asset: Partial<AssetRow>): string[] {
	return texts(asset.signals);
}

export function texts(value: unknown): string[] {
	const list = Array.isArray(value) ? value : typeof value === 'string' ? [value] : [];
	return list.filter((item): item is string => typeof item === 'string' && item.trim() !== '');
}

/** A number of a publisher, as far as it is read. The whole of it is in the JSON. */
export function rounded(number: number): string {
	return number.toLocaleString('en', { maximumFractionDigits: 2 });
}

/** `EvolutionEvent` is a long word for a small place. */
export function typeName(type: string): string {
	return type === 'EvolutionEvent' ? 'Event' : type;
}

/** Who did something, from `node:…`, `user:…` or a job's name. */
export function actorOf(actor: string): { words: string; node?: string } {
	const [kind, id] = [actor.slice(0, actor.indexOf(':')), actor.slice(actor.indexOf(':') + 1)];
	if (kind === 'node') return { words: id, node: id };
	if (kind === 'user') return { words: 'An account of this hub' };
	return { words: inertLine(actor) };
}
