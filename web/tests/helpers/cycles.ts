import type { Cycle } from '$lib/evolution/types';

/** An event for tests. */
export function createCycle(id: string, parent: string | null, more: Partial<Cycle> = {}): Cycle {
	return {
		id,
		parent,
		at: null,
		intent: 'repair',
		signals: [],
		genes: ['g'],
		capsule: null,
		status: 'success',
		score: 0.85,
		files: 1,
		lines: 2,
		size: 'small',
		paths: [],
		source: 'generated',
		failure: null,
		validation: { state: 'passed', commands: [], isolation: '' },
		mutation: null,
		personality: [],
		why: null,
		seal: 'sealed',
		...more
	};
}

/** A straight line of events, oldest first. */
export function createLine(count: number, more: (index: number) => Partial<Cycle> = () => ({})): Cycle[] {
	return Array.from({ length: count }, (_, index) =>
		createCycle(`e${index}`, index === 0 ? null : `e${index - 1}`, more(index))
	);
}
