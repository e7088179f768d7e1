import { formatPlural } from '$lib/ui/format';
import type { Cycle, GeneStats, LogSeal } from './types';

/** A recorded reason as a sentence; what is not known stays as it was recorded. */
export function describeReason(reason: string): string {
	const [name, rest] = splitAtColon(reason);
	if (reason === 'signals match gene.signals_match') return 'The signals match patterns of a gene.';
	if (reason === 'capsule trigger matches signals') return 'A proven capsule is triggered by these signals.';
	if (reason.startsWith('no matching gene found')) return 'No gene matched, so a new one may be needed.';
	if (reason === 'random_drift_override: true') return 'Chance was allowed to choose among the best.';
	if (name === 'drift_intensity') return `Chance weighed ${rest}.`;
	if (name === 'signals') return `It answers: ${rest}.`;
	if (name === 'memory_graph') return rest.split(' | ').map(describeMemoryReason).join(' ');
	return reason;
}

function describeMemoryReason(part: string): string {
	const [name, rest] = splitAtColon(part);
	if (name === 'memory_prefer') return `Memory prefers ${rest}.`;
	if (name === 'memory_ban') return `Memory rules out ${rest.split(',').join(', ')}.`;
	if (name === 'gene_prior') return `Over all signals that gene is worth ${rest}.`;
	if (name === 'random_drift') return 'Chance takes part.';
	return part;
}

function splitAtColon(text: string): [string, string] {
	const at = text.indexOf(':');
	return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1).trim()];
}

export const STATUS_LABELS: Record<Cycle['status'], string> = {
	success: 'Success',
	failed: 'Failed',
	skipped: 'Skipped',
	other: 'Outcome unknown'
};

export function describeSource({ source }: Cycle): string {
	const known: Record<string, string> = {
		generated: 'Generated here',
		reused: 'Reused: a solution of others, applied as it is',
		reference: 'Generated, with a solution of others as a reference'
	};
	return known[source] ?? (source === '' ? 'Not recorded' : source);
}

export const SEAL_LABELS: Record<Cycle['seal'], string> = {
	sealed: 'This line is what was sealed when it was written.',
	unsealed: 'This line was not sealed.',
	unproven: 'The log was changed at or before this line, so nothing proves it.'
};

const CHANGE_LABELS: Record<string, string> = {
	edited: 'was edited',
	removed: 'was removed',
	cut: 'and what followed are gone',
	reordered: 'was moved',
	inserted: 'was pushed back by a line that was never sealed',
	changed: 'or one before it was changed'
};

/** What is to be said of the whole log. */
export function describeLogSeal({ state, intact, unsealed, line, change }: LogSeal): string {
	const lines = (count: number) => `${count} ${count === 1 ? 'line' : 'lines'}`;
	if (state === 'sealed') return `All ${lines(intact)} of the log are as they were sealed.`;
	if (state === 'unknown') return 'The chain that proves the log could not be read.';
	if (state === 'unsealed') {
		if (intact === 0) return 'Nothing of this log was sealed yet.';
		return `${lines(intact)} are as they were sealed; ${unsealed} after them were never sealed.`;
	}
	if (line !== null)
		return `The log was changed: line ${line} ${CHANGE_LABELS[change ?? ''] ?? 'is another one'}.`;
	return change === 'chain_missing'
		? 'The chain that proves the log is missing.'
		: 'The chain that proves the log was changed.';
}

export function formatBlastRadius({ files, lines }: Cycle): string {
	if (files + lines === 0) return 'nothing changed';
	return `${files} ${files === 1 ? 'file' : 'files'}, ${lines} ${lines === 1 ? 'line' : 'lines'}`;
}

/** How much the changes of a gene touch, on average. */
export function formatMeanBlastRadius({ mean_files, mean_lines }: GeneStats): string {
	return `${formatPlural(Math.round(mean_files * 10) / 10, 'file')} and ${formatPlural(Math.round(mean_lines), 'line')}`;
}
