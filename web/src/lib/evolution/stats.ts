import type { Cycle } from './types';

/** The most points of a picture: more could not be distinguished. */
export const MAX_POINTS = 90;

/** How many cycles back a rate looks while each cycle has a point of its own. */
const RECENT_CYCLES = 10;

const UNITS: [string, number][] = [
	['minute', 60],
	['hour', 3600],
	['day', 86_400],
	['week', 604_800],
	['month', 2_629_800],
	['year', 31_557_600]
];

export interface EvolutionSeries {
	/** What a point stands for: `cycle`, `hour`, `day`. */
	unit: string;
	/** Whether cycles stand one after the other, because over time they would lie upon each other. */
	isByOrder: boolean;
	/** Seconds, ascending; or the first, the second and so on. */
	times: number[];
	/** The share of successes in percent: lately (the last cycles, or those of the span), and of all so far. */
	lately: number[];
	overall: number[];
	/** The mean size of a change. */
	files: number[];
	lines: number[];
}

/** Rates and sizes over time, from the events that know their time. */
export function computeSeries(events: Cycle[]): EvolutionSeries {
	const timed = events
		.flatMap((event) => {
			const at = event.at === null ? NaN : Date.parse(event.at) / 1000;
			return Number.isFinite(at) ? [{ at, event }] : [];
		})
		.sort((a, b) => a.at - b.at);
	return timed.length <= MAX_POINTS ? computeSeriesByCycle(timed) : computeSeriesBySpan(timed);
}

interface TimedCycle {
	at: number;
	event: Cycle;
}

function computeSeriesByCycle(timed: TimedCycle[]): EvolutionSeries {
	const part = (index: number, span: number) => timed.slice(Math.max(0, index + 1 - span), index + 1);
	const isByOrder = areTimesClose(timed.map(({ at }) => at));
	return {
		unit: 'cycle',
		isByOrder,
		times: timed.map(({ at }, index) => (isByOrder ? index + 1 : at)),
		lately: timed.map((_, index) => computeRate(part(index, RECENT_CYCLES))),
		overall: timed.map((_, index) => computeRate(part(index, index + 1))),
		files: timed.map(({ event }) => event.files),
		lines: timed.map(({ event }) => event.lines)
	};
}

/** Whether moments are so close that a picture over time could not show most of them separately. */
function areTimesClose(times: number[]): boolean {
	const gaps = times.slice(1).map((at, index) => at - times[index]!);
	const least = Math.max(60, gaps.reduce((sum, gap) => sum + gap, 0) / MAX_POINTS);
	return gaps.filter((gap) => gap < least).length > gaps.length / 2;
}

function computeSeriesBySpan(timed: TimedCycle[]): EvolutionSeries {
	const first = timed[0]!.at;
	const last = timed[timed.length - 1]!.at;
	const spans = (size: number) => Math.floor(last / size) - Math.floor(first / size) + 1;
	const [unit, size] = UNITS.find(([, size]) => spans(size) <= MAX_POINTS) ?? UNITS[UNITS.length - 1]!;
	const groups = groupBy(timed, ({ at }) => Math.floor(at / size));
	const series: EvolutionSeries = {
		unit,
		isByOrder: false,
		times: [],
		lately: [],
		overall: [],
		files: [],
		lines: []
	};
	let [seen, successes] = [0, 0];
	for (const [span, group] of groups) {
		seen += group.length;
		successes += group.filter(isSuccess).length;
		series.times.push(span * size);
		series.lately.push(computeRate(group));
		series.overall.push(toPercent(successes, seen));
		series.files.push(computeMean(group.map(({ event }) => event.files)));
		series.lines.push(computeMean(group.map(({ event }) => event.lines)));
	}
	return series;
}

function groupBy(timed: TimedCycle[], getKey: (timed: TimedCycle) => number): Map<number, TimedCycle[]> {
	const groups = new Map<number, TimedCycle[]>();
	for (const one of timed) {
		const group = groups.get(getKey(one));
		if (group) group.push(one);
		else groups.set(getKey(one), [one]);
	}
	return groups;
}

const isSuccess = ({ event }: TimedCycle) => event.status === 'success';
const computeRate = (group: TimedCycle[]) => toPercent(group.filter(isSuccess).length, group.length);
const toPercent = (part: number, whole: number) => (whole === 0 ? 0 : Math.round((part / whole) * 1000) / 10);
const computeMean = (values: number[]) =>
	Math.round((values.reduce((a, b) => a + b, 0) / values.length) * 10) / 10;

/** The most successes in a row. A failure of the machine, the network or the sandbox says nothing about the change. */
export function findLongestStreak(events: Cycle[]): number {
	let [longest, streak] = [0, 0];
	for (const event of events) {
		if (event.status === 'success') streak += 1;
		else if (isOwnFailure(event)) streak = 0;
		longest = Math.max(longest, streak);
	}
	return longest;
}

function isOwnFailure({ status, failure, files, lines }: Cycle): boolean {
	const isForeign = ['host', 'network', 'sandbox'].includes(failure?.class ?? '');
	return status === 'failed' && !isForeign && files + lines > 0;
}

/** The ends of an axis that does not make differences look larger than they are. */
export function computeRangeFromZero(values: number[]): [number, number] {
	return [0, Math.max(1, ...values) * 1.05];
}
