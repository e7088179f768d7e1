import { expect, test } from 'vitest';
import { listDimensions, explainScore, getPartName } from './gdi';

const part = (name: string, lower: number, weight: number, why = 'because') => ({
	name,
	value: lower,
	lower,
	weight,
	why
});
const gdi = {
	score: 50,
	mean: 58.1,
	intrinsic: 0.5,
	usage: 0.5,
	social: 0.5,
	freshness: 1,
	beliefs: { validated: 0.6, used: 0.4, streak: 2 },
	parts: [
		part('intrinsic.confidence', 1, 0.5),
		part('intrinsic.streak', 0, 0.5, '0 successes in a row of 10'),
		part('usage.fetches', 0.5, 1, '3 fetches in 30 days'),
		part('social.votes', 0.5, 1),
		part('freshness', 1, 0.15)
	]
};

test('the points of the parts add up to the score', () => {
	const all = listDimensions(gdi);
	expect(all.map(({ points }) => points)).toEqual([17.5, 15, 10, 15]);
	expect(all[3]!.parts[0]).toMatchObject({ points: 15, most: 15, name: 'Last use' });
	expect(all.flatMap(({ parts }) => parts).reduce((sum, { most }) => sum + most, 0)).toBeCloseTo(100);
});

test('a score is explained in sentences', () => {
	const [first, second, third] = explainScore(gdi);
	expect(first).toContain('at least 50 of 100');
	expect(first).toContain('58.1 would be expected');
	expect(second).toContain('17.5 points, comes from "the asset itself"');
	expect(third).toContain(
		'successes in a row, claimed (17.5 points are missing: 0 successes in a row of 10)'
	);
	expect(explainScore({ ...gdi, mean: 50 })[0]).toContain('enough evidence');
});

test('an unknown part gets a name from its key', () => {
	expect(getPartName('social.new_thing')).toBe('new thing');
});
