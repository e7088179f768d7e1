import type { Cycle, CycleStatus } from './types';

/** Which cycles are shown. An empty text lets all of them pass. */
export interface CycleFilter {
	intent: string;
	status: CycleStatus | '';
	gene: string;
}

export const NO_FILTER: CycleFilter = { intent: '', status: '', gene: '' };

export function matchesFilter(event: Cycle, { intent, status, gene }: CycleFilter): boolean {
	return (
		(intent === '' || event.intent === intent) &&
		(status === '' || event.status === status) &&
		(gene === '' || event.genes.includes(gene))
	);
}

export function isUnfiltered({ intent, status, gene }: CycleFilter): boolean {
	return intent === '' && status === '' && gene === '';
}

/** What can be chosen, most frequent first, with how often it occurs. */
export function countChoices(events: Cycle[], getValues: (event: Cycle) => string[]): [string, number][] {
	const counts = new Map<string, number>();
	for (const event of events) {
		for (const value of new Set(getValues(event))) counts.set(value, (counts.get(value) ?? 0) + 1);
	}
	return [...counts].filter(([value]) => value !== '').sort((a, b) => b[1] - a[1]);
}

/** The place of the picked event, or of the newest that is shown; -1 where none is. */
export function findChosenIndex(
	events: Cycle[],
	isShown: (event: Cycle) => boolean,
	picked: number | null
): number {
	const event = picked === null ? undefined : events[picked];
	return picked !== null && event && isShown(event) ? picked : events.findLastIndex(isShown);
}
