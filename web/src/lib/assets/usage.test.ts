import { expect, test } from 'vitest';
import { buildUsageSeries } from './usage';

const now = Date.parse('2030-03-10T13:00:00Z');
const day = (day: string, fetches: number, reports_failed = 0) => ({
	day,
	fetches,
	reuses: 0,
	reports_ok: 0,
	reports_failed
});

test('every day has a point, and a series without values is left out', () => {
	const { times, series, isEmpty } = buildUsageSeries([day('2030-03-10', 3), day('2030-03-08', 1, 2)], now);
	expect(times).toHaveLength(14);
	expect(new Date(times.at(-1)! * 1000).toISOString()).toBe('2030-03-10T00:00:00.000Z');
	expect(series.map(({ name }) => name)).toEqual(['Fetches', 'Failed reports']);
	expect(series[0]!.values.slice(-3)).toEqual([1, 0, 3]);
	expect(isEmpty).toBe(false);
	expect(buildUsageSeries([], now).isEmpty).toBe(true);
	expect(buildUsageSeries([day('2030-02-09', 1), day('2030-01-01', 0)], now).times).toHaveLength(30);
});
