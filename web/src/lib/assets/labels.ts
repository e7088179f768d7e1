import { claimedText } from '$lib/api/claimed';
import type { AssetRow, Proof, AssetStatus, TrustLevel } from '$lib/hub/types';
import { inertLine } from '$lib/ui/inert';

/** What is said of assets, in the same words everywhere. */
type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'info' | 'accent';

export const STATUS_LABELS: Record<AssetStatus, { tone: Tone; means: string }> = {
	candidate: { tone: 'info', means: 'Published, and not yet verified by others.' },
	promoted: { tone: 'good', means: 'Verified by others. Everybody can fetch it.' },
	stale: { tone: 'warn', means: 'Promoted, but not used for a long time. A fetch makes it promoted again.' },
	archived: { tone: 'plain', means: 'Not used for so long that it can no longer be fetched.' },
	quarantined: { tone: 'bad', means: 'Blocked until an admin has reviewed it.' },
	rejected: { tone: 'bad', means: 'Rejected permanently.' },
	revoked: { tone: 'bad', means: 'Withdrawn by its publisher.' }
};

export const PROOF_LABELS: Record<Proof, { name: string; tone: Tone; means: string }> = {
	real: {
		name: 'Tested',
		tone: 'good',
		means: 'At least one of its validation commands could tell a good change from a bad one.'
	},
	weak: {
		name: 'Weak test',
		tone: 'warn',
		means:
			'Its validation passes where there is nothing to run. It counts once somebody showed that it fails without the change.'
	},
	vacuous: {
		name: 'Test proves nothing',
		tone: 'warn',
		means:
			'Its validation commands pass whatever the change does. Passing them proves nothing and does not count.'
	},
	absent: {
		name: 'No validation',
		tone: 'plain',
		means: 'It has no command that could show whether it works.'
	}
};

type NamedAsset = Pick<AssetRow, 'summary' | 'type'> & Partial<AssetRow>;

/** A summary that is a heading by itself. */
const MAX_HEADING_LEN = 170;

/** The heading of an asset's own page: its title, its summary or the first sentence of it, or what else there is. */
export function formatTitle(asset: NamedAsset): string {
	const title = inertLine(asset.title ?? '');
	if (title) return truncateText(title, 110);
	const summary = formatSummaryLine(asset, Infinity);
	if (summary.length <= MAX_HEADING_LEN) return summary;
	return truncateText(/^.{20,}?[.;!?](?=\s)/u.exec(summary)?.[0].replace(/[.;]$/, '') ?? summary, 110);
}

/** One line that names an asset in a list. */
export function formatSummaryLine(asset: NamedAsset, longest = 160): string {
	const title = inertLine(asset.title ?? '');
	if (title) return truncateText(title, longest);
	const summary = usableSummary(asset);
	if (summary) return truncateText(summary, longest);
	return asset.type === 'EvolutionEvent' ? formatEventTitle(asset) : `${asset.type} without a summary`;
}

/** A summary that says something. What old engines wrote by themselves gives way to the error that was answered. */
function usableSummary(asset: NamedAsset): string {
	const summary = inertLine(asset.summary);
	if (!/^(固化[：:]|gene_\S+ \(\w+\) answered )/u.test(summary)) return summary;
	const signals = Array.isArray(asset.signals) ? asset.signals.map(String) : [];
	const error = signals.find((signal) => signal.startsWith('errsig:'));
	return error ? inertLine(error.slice('errsig:'.length)) : summary;
}

/** How much others showed of an asset. */
export const TRUST_TONES: Record<TrustLevel, Tone> = {
	failed: 'bad',
	untested: 'plain',
	used: 'info',
	tested: 'good',
	proven: 'good'
};

/** What the publisher's own proof says, in words. */
export const PROOF_GRADES: Record<string, string> = {
	none: 'not proven by its publisher',
	passes: 'its check passes at its publisher',
	fail_to_pass: "the publisher's proof: its check failed before and passes after",
	fail_to_pass_reverts:
		"the publisher's proof: its check failed before, passes after and fails again without it"
};

function truncateText(text: string, longest: number): string {
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

function formatEventTitle(event: Partial<AssetRow>): string {
	const first = listSignals(event)[0];
	const intent = INTENTS[claimedText(event.intent) ?? ''] ?? 'a change';
	const about = first ? `, started by ${inertLine(first)}` : '';
	return `How ${intent} was made${about}`;
}

/** The signals of an asset: those that are texts, whatever it was published with. */
export function listSignals(asset: Partial<AssetRow>): string[] {
	return filterTexts(asset.signals);
}

export function filterTexts(value: unknown): string[] {
	const list = Array.isArray(value) ? value : typeof value === 'string' ? [value] : [];
	return list.filter((item): item is string => typeof item === 'string' && item.trim() !== '');
}

/** A number of a publisher, as far as it is read. The whole of it is in the JSON. */
export function formatNumber(number: number): string {
	return number.toLocaleString('en', { maximumFractionDigits: 2 });
}

/** `EvolutionEvent` is a long word for a small place. */
export function formatType(type: string): string {
	return type === 'EvolutionEvent' ? 'Event' : type;
}

/** Who did something, from `node:…`, `user:…` or a job's name. */
export function describeActor(actor: string): { words: string; node?: string } {
	const [kind, id] = [actor.slice(0, actor.indexOf(':')), actor.slice(actor.indexOf(':') + 1)];
	if (kind === 'node') return { words: id, node: id };
	if (kind === 'user') return { words: 'An account of this hub' };
	return { words: inertLine(actor) };
}
