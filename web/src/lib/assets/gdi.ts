import type { Gdi, GdiPart } from '$lib/hub/types';

/** The score in words: where it comes from, and what would raise it most. */
export interface GdiDimension {
	name: string;
	means: string;
	/** The share of the whole score. */
	weight: number;
	/** What is expected, 0 to 1. */
	value: number;
	/** What the evidence supports at least, 0 to 1: this counts. */
	lower: number;
	/** How many of its points it has, of at most 100 * weight. */
	points: number;
	parts: { name: string; part: GdiPart; points: number; most: number }[];
}

const DIMENSIONS = [
	[
		'intrinsic',
		'The asset itself',
		0.35,
		'What its publisher says of it, how small the change is, and who it comes from.'
	],
	[
		'usage',
		'Use',
		0.3,
		'How often other nodes fetched it recently, how many they are, and how often it worked for them.'
	],
	[
		'social',
		'What others observed',
		0.2,
		'Votes, reports that rest on a validation which could fail, and whether it was reproduced.'
	],
	['freshness', 'Freshness', 0.15, 'How recently it was used. It halves in about two months.']
] as const;

const PART_NAMES: Record<string, string> = {
	'intrinsic.confidence': 'Confidence, claimed',
	'intrinsic.streak': 'Successes in a row, claimed',
	'intrinsic.blast_radius': 'Small change',
	'intrinsic.triggers': 'Trigger signals',
	'intrinsic.summary': 'Summary',
	'intrinsic.reputation': 'Reputation of the publisher',
	'usage.fetches': 'Fetches',
	'usage.fetchers': 'Different nodes',
	'usage.runs': 'Successful runs',
	'social.votes': 'Votes',
	'social.validation': 'Reports',
	'social.reproducibility': 'Reproduced',
	'social.bundle': 'Origin',
	freshness: 'Last use'
};

export function getPartName(name: string): string {
	return PART_NAMES[name] ?? name.replace(/^.*\./, '').replaceAll('_', ' ');
}

export function listDimensions(gdi: Gdi): GdiDimension[] {
	return DIMENSIONS.map(([key, name, weight, means]) => {
		const own = gdi.parts.filter((part) => part.name === key || part.name.startsWith(`${key}.`));
		// Freshness is its own only part, and its weight is that in the score.
		const share = (part: GdiPart) => (part.name === key ? 1 : part.weight);
		const parts = own.map((part) => ({
			name: getPartName(part.name),
			part,
			points: 100 * weight * share(part) * part.lower,
			most: 100 * weight * share(part)
		}));
		const points = parts.reduce((sum, part) => sum + part.points, 0);
		return { name, means, weight, value: gdi[key], lower: points / (100 * weight), points, parts };
	});
}

/** Three sentences about a score. */
export function explainScore(gdi: Gdi): string[] {
	const all = listDimensions(gdi);
	const best = all.reduce((most, next) => (next.points > most.points ? next : most));
	const missing = all
		.flatMap((dimension) => dimension.parts)
		.sort((a, b) => b.most - b.points - (a.most - a.points))
		.slice(0, 2);
	const sentences = [
		`The evidence supports a score of at least ${formatPoints(gdi.score)} of 100; that is the number that ranks. ` +
			(gdi.mean - gdi.score > 1
				? `${formatPoints(gdi.mean)} would be expected, but there is too little evidence to count on it.`
				: 'There is enough evidence that no more than that is expected.'),
		`Most of it, ${formatPoints(best.points)} points, comes from "${best.name.toLowerCase()}".`
	];
	if (missing.length === 2)
		sentences.push(
			`What would raise it most: ${missing.map((part) => describeMissingPart(part)).join(' and ')}.`
		);
	return sentences;
}

function describeMissingPart({ name, points, most, part }: GdiDimension['parts'][number]): string {
	return `${name.toLowerCase()} (${formatPoints(most - points)} points are missing: ${part.why})`;
}

function formatPoints(number: number): string {
	return number.toFixed(1).replace(/\.0$/, '');
}
