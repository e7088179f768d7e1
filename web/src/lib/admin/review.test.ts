import { expect, it } from 'vitest';
import { actorOf, changesOf, followsOf, subjectHref } from './review';

it('offers what the life of an asset allows', () => {
	expect(changesOf('candidate')).toEqual(['promote', 'quarantine', 'reject']);
	expect(changesOf('quarantined')).toEqual(['release', 'reject']);
	expect(changesOf('promoted')).toEqual(['quarantine']);
	expect(changesOf('rejected')).toEqual([]);
	expect(changesOf('revoked')).toEqual([]);
});

it('says what goes with an asset, and what does not', () => {
	expect(followsOf('promote', 'Capsule').join(' ')).toContain('Its gene is promoted with it');
	for (const type of ['Gene', 'EvolutionEvent'] as const) {
		const said = followsOf('promote', type).join(' ');
		expect(said).toContain('Nothing goes with it');
		expect(said).toContain('nobody is rewarded');
		expect(said).not.toContain('Its gene is promoted');
	}
});

it('tells who acted', () => {
	const emails = new Map([['user_1', 'ann@example.org']]);
	expect(actorOf('node:node_1', emails)).toBe('node_1');
	expect(actorOf('user:user_1', emails)).toBe('ann@example.org');
	expect(actorOf('user:user_2', emails)).toBe('user_2');
	expect(actorOf('hub')).toBe('hub');
});

it('links to what has a page', () => {
	expect(subjectHref('asset', 'sha256:a/b')).toBe('/assets/sha256%3Aa%2Fb');
	expect(subjectHref('user', 'user_1')).toBeUndefined();
});
