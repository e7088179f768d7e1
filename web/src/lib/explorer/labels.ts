import { formatCount, formatPlural } from '$lib/ui/format';
import type {
	RecordMarks,
	MetaState,
	MetaView,
	Progress,
	Trust,
	Verdict,
	VerdictFinding,
	VerdictLevel
} from './types';

/** What the Explorer says, and in which tone. */
export type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'info' | 'accent';

export interface StatusLabel {
	tone: Tone;
	/** A sign beside the colour, for those who do not see it. */
	sign: string;
	name: string;
	explained: string;
}

export const TRUST_LABELS: Record<Trust, StatusLabel> = {
	pinned: {
		tone: 'good',
		sign: '◆',
		name: 'pinned key',
		explained: 'You pinned this key: you verified its owner in another way.'
	},
	own: {
		tone: 'accent',
		sign: '●',
		name: 'own key',
		explained: 'This is the key of the machine that shows this page.'
	},
	retired: {
		tone: 'accent',
		sign: '○',
		name: 'retired key',
		explained:
			'This was the key of this machine until another took its place. It counts for what was sealed before.'
	},
	known: {
		tone: 'info',
		sign: '◈',
		name: 'known key',
		explained: 'This machine knows the key. Nobody vouched for its owner: compare it and pin it.'
	},
	bundled: {
		tone: 'warn',
		sign: '◇',
		name: 'bundled key',
		explained:
			'The key came with the data. The signature fits it, but whoever made the data could have made the key too: compare it with its owner and pin it.'
	},
	unknown: {
		tone: 'bad',
		sign: '?',
		name: 'unknown key',
		explained: 'Neither you nor the data know this key, so its signatures cannot be checked.'
	}
};

export const META_STATE_LABELS: Record<MetaState, StatusLabel> = {
	intact: { tone: 'good', sign: '✓', name: 'intact', explained: 'As long as noted, with the same head.' },
	grown: {
		tone: 'info',
		sign: '↑',
		name: 'grown',
		explained: 'What was noted is still there; more came after.'
	},
	truncated: { tone: 'bad', sign: '↓', name: 'truncated', explained: 'Records that were noted are gone.' },
	altered: {
		tone: 'bad',
		sign: '✗',
		name: 'altered',
		explained: 'It is another history than the one noted.'
	},
	missing: { tone: 'bad', sign: '∅', name: 'missing', explained: 'It was noted, and it is not here.' },
	unsealed: { tone: 'plain', sign: '·', name: 'unsealed', explained: 'The meta-chain does not know it yet.' }
};

/** The record that is broken. Null where it is the whole chain that is not as something says. */
export function findBrokenPosition(verdict: Verdict | null | undefined): number | null {
	const position = verdict?.position ?? null;
	return verdict && position !== null && position < verdict.length ? position : null;
}

/** Why something is not proven, in a few words; the sentence of the finding stands beside it. */
const NOT_PROVEN: Record<string, string> = {
	bundled_signer: 'its key came with the data',
	unknown_signer: 'nobody knows a signer',
	meta_absent: 'nothing says how long it was',
	unrecorded: 'the meta-chain does not know it',
	not_checked: 'not everything was checked',
	pending: 'not all is signed yet',
	key_refused: 'a key was ignored',
	unlisted_file: 'a file is not listed',
	empty: 'it has no records'
};

/** A verdict in the words of the command line. A colour is never the only sign. */
export function describeVerdict(verdict: Verdict | undefined): StatusLabel {
	if (!verdict) return { tone: 'plain', sign: '○', name: 'not verified yet', explained: '' };
	const { level, reason, findings, notes } = verdict;
	const label = describeLevel(level, findings, findBrokenPosition(verdict));
	const explained = [reason, ...notes].filter((text) => text !== '').join(' ');
	return { ...label, explained: explained || (level === 'valid' ? describeChecked(verdict) : '') };
}

/** The colour, the sign and the words of a level. */
export function describeLevel(
	level: VerdictLevel,
	findings: VerdictFinding[],
	position: number | null = null
): StatusLabel {
	const explained = '';
	switch (level) {
		case 'valid':
			return { tone: 'good', sign: '✓', name: 'valid', explained };
		case 'unverified': {
			const code = findings.find((one) => one.level === level)?.code ?? '';
			const why = NOT_PROVEN[code] ?? code.replaceAll('_', ' ');
			return { tone: 'warn', sign: '?', name: `valid, not proven: ${why}`, explained };
		}
		case 'incomplete':
			return { tone: 'bad', sign: '↓', name: 'incomplete', explained };
		case 'unreadable':
			return { tone: 'bad', sign: '–', name: 'cannot be read', explained };
		case 'invalid': {
			const name = position === null ? 'broken' : `broken at #${position}`;
			return { tone: 'bad', sign: '✗', name, explained };
		}
	}
}

function describeChecked({ length, signers }: Verdict): string {
	const owners: [Trust[], string][] = [
		[['own', 'retired'], 'keys of this machine'],
		[['pinned'], 'keys that you pinned'],
		[['known'], 'keys that this machine knows']
	];
	const whose = owners
		.filter(([trusts]) => trusts.some((trust) => signers[trust] > 0))
		.map(([, name]) => name);
	return `${formatPlural(length, 'record')} checked, signed by ${whose.join(' and ') || 'nobody'}.`;
}

/** A level in one word, beside a finding. */
export const LEVEL_LABELS: Record<VerdictLevel, string> = {
	valid: 'note',
	unverified: 'not proven',
	unreadable: 'cannot be read',
	incomplete: 'incomplete',
	invalid: 'broken'
};

/** Whose signatures count. */
export function describeRequirement(require: string): string {
	switch (require) {
		case 'own':
			return 'Only the keys of this machine count.';
		case 'pinned':
			return 'Only keys that you pinned, and your own, count.';
		case 'known':
			return 'Only keys that this machine knows count.';
		default:
			return 'You pinned no key, so the key of any signer counts.';
	}
}

/** Until the end there is no verdict, only how far it is. */
export function describeProgress({ done, total, bytes }: Progress): string {
	if (total === 0) return 'Reading…';
	const read = bytes >= 1e6 ? `, ${formatCount(Math.round(bytes / 1e6))} MB` : '';
	return `${formatCount(done)} of ${formatCount(total)} checked${read}`;
}

export interface MarkLabel {
	tone: 'good' | 'bad' | 'warn' | 'plain';
	sign: string;
	text: string;
}

/** The three checks of a record, in the order in which they are made. */
export function describeMarks(marks: RecordMarks): MarkLabel[] {
	const isStranger = marks.signer === 'unknown' && marks.signature === false;
	return [
		createMark(marks.hash, 'hash matches', 'hash does not match', 'hash not checked'),
		createMark(marks.link, 'link holds', 'link broken', 'link not checked'),
		isStranger
			? { tone: 'warn', sign: '?', text: 'signer unknown' }
			: createMark(marks.signature, 'signature valid', 'signature invalid', 'signature not checked')
	];
}

function createMark(isRight: boolean | null, right: string, wrong: string, open: string): MarkLabel {
	if (isRight === null) return { tone: 'plain', sign: '·', text: open };
	return isRight ? { tone: 'good', sign: '✓', text: right } : { tone: 'bad', sign: '✗', text: wrong };
}

export function summarizeMarks(marks: RecordMarks): string {
	const label = describeMarks(marks);
	const textsOfTone = (tone: MarkLabel['tone']) =>
		label.filter((one) => one.tone === tone).map((one) => one.text);
	const odd = [...textsOfTone('bad'), ...textsOfTone('warn')];
	if (odd.length > 0) return odd.join(', ');
	return textsOfTone('plain').join(', ') || 'verified';
}

export function describeChecks(marks: RecordMarks): StatusLabel {
	const name = summarizeMarks(marks);
	const tones = describeMarks(marks).map(({ tone }) => tone);
	const tone = (['bad', 'warn', 'plain'] as const).find((one) => tones.includes(one)) ?? 'good';
	return { tone, sign: { bad: '✗', warn: '?', plain: '·', good: '✓' }[tone], name, explained: '' };
}

export function hasBrokenMark(marks: RecordMarks): boolean {
	return describeMarks(marks).some(({ tone }) => tone === 'bad');
}

/** The dot of a chain in the rail. */
export function describeChain(verdict: Verdict | undefined, isUnreadable: boolean): StatusLabel {
	if (isUnreadable)
		return { tone: 'bad', sign: '–', name: 'cannot be read', explained: 'Its file is missing or damaged.' };
	return describeVerdict(verdict);
}

/** The dot of the meta-chain: whether it holds, and whether every conversation is as it says. */
export function describeMeta(noted: number | null, meta: MetaView | null, isDone: boolean): StatusLabel {
	if (noted === null)
		return {
			tone: 'plain',
			sign: '·',
			name: 'none',
			explained: 'Without it, a chain that was cut looks whole.'
		};
	if (!meta)
		return isDone
			? { tone: 'bad', sign: '✗', name: 'cannot be read', explained: 'Its file is missing or damaged.' }
			: { tone: 'plain', sign: '○', name: 'not compared yet', explained: '' };
	if (!['valid', 'unverified'].includes(meta.verdict.level)) return describeVerdict(meta.verdict);
	const odd = meta.rows.filter(({ state }) => META_STATE_LABELS[state].tone === 'bad').length;
	return odd > 0
		? {
				tone: 'bad',
				sign: '✗',
				name: `${odd} not as noted`,
				explained: 'Some conversations are not as noted.'
			}
		: meta.verdict.level === 'unverified'
			? describeVerdict(meta.verdict)
			: {
					tone: 'good',
					sign: '✓',
					name: 'as noted',
					explained: 'Every conversation is as noted, or has grown.'
				};
}
