import type { UsageDay } from '$lib/hub/types';

const DAY = 86_400;
const MAX_DAYS = 90;
const SERIES = [
	['Fetches', 'fetches'],
	['Reuses', 'reuses'],
	['Passed reports', 'reports_ok'],
	['Failed reports', 'reports_failed']
] as const;

/** A few days at least, so that one day is no picture by itself. */
const MIN_DAYS = 14;

/** What a chart draws: every day since the first on which anything happened, also those on which nothing did. */
export function buildUsageSeries(days: UsageDay[], now: number) {
	const known = new Map(days.map((day) => [day.day, day]));
	const today = Math.floor(now / 1000 / DAY) * DAY;
	const used = days.filter((day) => SERIES.some(([, member]) => day[member] > 0));
	const first = Math.min(today, ...used.map(({ day }) => Date.parse(day) / 1000));
	const length = Math.max(MIN_DAYS, Math.min(MAX_DAYS, (today - first) / DAY + 1));
	const times = Array.from({ length }, (_, index) => today - (length - 1 - index) * DAY);
	const rows = times.map((time) => known.get(new Date(time * 1000).toISOString().slice(0, 10)));
	const series = SERIES.map(([name, member]) => ({
		name,
		values: rows.map((row) => row?.[member] ?? 0),
		kind: member === 'fetches' ? ('bars' as const) : ('line' as const)
	})).filter(({ values, name }) => name === 'Fetches' || values.some((value) => value > 0));
	return { times, series, isEmpty: series.every(({ values }) => values.every((value) => value === 0)) };
}
