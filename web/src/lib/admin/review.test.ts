import { expect, it } from 'vitest';
import { formatActor, listAllowedChanges, describeConsequences, subjectHref } from './review';

it('lists the status changes that the status of an asset allows', () => {
	expect(listAllowedChanges('candidate')).toEqual(['promote', 'quarantine', 'reject']);
	expect(listAllowedChanges('quarantined')).toEqual(['release', 'reject']);
	expect(listAllowedChanges('promoted')).toEqual(['quarantine']);
	expect(listAllowedChanges('rejected')).toEqual([]);
	expect(listAllowedChanges('revoked')).toEqual([]);
});

it('describes what a status change does to the rest of the bundle', () => {
	expect(describeConsequences('promote', 'Capsule').join(' ')).toContain('Its gene is promoted with it');
	for (const type of ['Gene', 'EvolutionEvent'] as const) {
		const text = describeConsequences('promote', type).join(' ');
		expect(text).toContain('Nothing else changes');
		expect(text).toContain('nobody is rewarded');
		expect(text).not.toContain('Its gene is promoted');
	}
});

it('shows the e-mail address or the id of an actor', () => {
	const emails = new Map([['user_1', 'ann@example.org']]);
	expect(formatActor('node:node_1', emails)).toBe('node_1');
	expect(formatActor('user:user_1', emails)).toBe('ann@example.org');
	expect(formatActor('user:user_2', emails)).toBe('user_2');
	expect(formatActor('hub')).toBe('hub');
});

it('links subjects that have a page', () => {
	expect(subjectHref('asset', 'sha256:a/b')).toBe('/assets/sha256%3Aa%2Fb');
	expect(subjectHref('user', 'user_1')).toBeUndefined();
});
