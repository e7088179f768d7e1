import { plural } from '$lib/ui/format';
import type { Marks, MetaState, Progress, Trust, Verdict } from './contract';

/** What the Explorer says, and in which tone. */
export type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'info' | 'accent';

export interface Said {
	tone: Tone;
	/** A sign beside the colour, for those who do not see it. */
	sign: string;
	name: string;
	explained: string;
}

export const TRUST: Record<Trust, Said> = {
	pinned: {
		tone: 'good',
		sign: '◆',
		name: 'pinned',
		explained: 'You pinned this key: you learned on another way whose it is.'
	},
	own: {
		tone: 'accent',
		sign: '●',
		name: 'this machine',
		explained: 'This is the key of the machine that shows this page.'
	},
	bundled: {
		tone: 'warn',
		sign: '◇',
		name: 'only bundled',
		explained:
			'The key came with the data. The signature fits it, but whoever made the data could have made the key too: compare it with its owner and pin it.'
	},
	unknown: {
		tone: 'bad',
		sign: '?',
		name: 'unknown',
		explained: 'Neither you nor the data know this key, so its signatures cannot be checked.'
	}
};

export const META_STATES: Record<MetaState, Said> = {
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

/** A verdict in a few words. */
export function verdictSaid(verdict: Verdict | undefined): Said {
	if (!verdict) return { tone: 'plain', sign: '○', name: 'not verified yet', explained: '' };
	if (!verdict.isIntact) {
		const fault = verdict.faults[0];
		const name = verdict.brokenAt === null ? 'broken' : `broken at #${verdict.brokenAt}`;
		return { tone: 'bad', sign: '✗', name, explained: fault?.message ?? 'A check failed.' };
	}
	const { unknown, bundled, pinned, own } = verdict.signers;
	const name = `${verdict.checked.toLocaleString('en')} verified · nothing altered`;
	if (unknown > 0)
		return {
			tone: 'warn',
			sign: '?',
			name,
			explained: `${plural(unknown, 'record')} signed by an unknown key.`
		};
	if (bundled > 0)
		return { tone: 'good', sign: '✓', name, explained: 'Signed by a key that only the bundle names.' };
	return {
		tone: 'good',
		sign: '✓',
		name,
		explained: pinned + own > 0 ? 'Signed by keys that you know.' : 'Nothing here is signed.'
	};
}

const STEPS: Record<Progress['step'], string> = {
	reading: 'Reading',
	hashes: 'Checking hashes',
	signatures: 'Checking signatures'
};

export function progressSaid({ step, done, of }: Progress): string {
	return of > 0
		? `${STEPS[step]} ${done.toLocaleString('en')} of ${of.toLocaleString('en')}`
		: `${STEPS[step]}…`;
}

export interface Mark {
	name: string;
	isRight: boolean | null;
}

/** The three checks of a record, in the order in which they are made. */
export function marksSaid(marks: Marks): Mark[] {
	return [
		{ name: 'hash', isRight: marks.hash },
		{ name: 'link', isRight: marks.link },
		{ name: 'signature', isRight: marks.signature }
	];
}

export function marksSentence(marks: Marks): string {
	const said = marksSaid(marks);
	const wrong = said.filter(({ isRight }) => isRight === false).map(({ name }) => name);
	if (wrong.length > 0) return `${wrong.join(' and ')} wrong`;
	const open = said.filter(({ isRight }) => isRight === null).map(({ name }) => name);
	return open.length === 0 ? 'verified' : `${open.join(' and ')} not checked`;
}

export function isBroken(marks: Marks): boolean {
	return marks.hash === false || marks.link === false || marks.signature === false;
}
