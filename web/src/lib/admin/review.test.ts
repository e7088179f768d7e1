import { expect, it } from 'vitest';
import { formatActor, listAllowedChanges, describeConsequences, subjectHref } from './review';

it('offers what the life of an asset allows', () => {
	expect(listAllowedChanges('candidate')).toEqual(['promote', 'quarantine', 'reject']);
	expect(listAllowedChanges('quarantined')).toEqual(['release', 'reject']);
	expect(listAllowedChanges('promoted')).toEqual(['quarantine']);
	expect(listAllowedChanges('rejected')).toEqual([]);
	expect(listAllowedChanges('revoked')).toEqual([]);
});

it('says what goes with an asset, and what does not', () => {
	expect(describeConsequences('promote', 'Capsule').join(' ')).toContain('Its gene is promoted with it');
	for (const type of ['Gene', 'EvolutionEvent'] as const) {
		const text = describeConsequences('promote', type).join(' ');
		expect(text).toContain('Nothing goes with it');
		expect(text).toContain('nobody is rewarded');
		expect(text).not.toContain('Its gene is promoted');
	}
});

it('tells who acted', () => {
	const emails = new Map([['user_1', 'ann@example.org']]);
	expect(formatActor('node:node_1', emails)).toBe('node_1');
	expect(formatActor('user:user_1', emails)).toBe('ann@example.org');
	expect(formatActor('user:user_2', emails)).toBe('user_2');
	expect(formatActor('hub')).toBe('hub');
});

it('links to what has a page', () => {
	expect(subjectHref('asset', 'sha256:a/b')).toBe('/assets/sha256%3Aa%2Fb');
	expect(subjectHref('user', 'user_1')).toBeUndefined();
});
