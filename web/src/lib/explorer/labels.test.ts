import { expect, test } from 'vitest';
import type { Verdict } from './types';
import { isBroken, marksSentence, progressSaid, verdictSaid } from './labels';

const verdict: Verdict = {
	chain: 'a',
	isIntact: true,
	checked: 1200,
	length: 1200,
	signaturesChecked: 1200,
	brokenAt: null,
	faults: [],
	signers: { pinned: 1200, own: 0, bundled: 0, unknown: 0 },
	notes: []
};

test('a verdict says how many and where', () => {
	expect(verdictSaid(undefined).name).toBe('not verified yet');
	expect(verdictSaid(verdict)).toMatchObject({ tone: 'good', name: '1,200 verified · nothing altered' });
	const broken = {
		...verdict,
		isIntact: false,
		brokenAt: 0,
		faults: [{ code: 'hash', message: 'm', place: 0 }]
	};
	expect(verdictSaid(broken)).toMatchObject({ tone: 'bad', name: 'broken at #0', explained: 'm' });
	expect(verdictSaid({ ...broken, brokenAt: 1200 }).name).toBe('not what was announced');
});

test('an unknown signer is no green', () => {
	const signers = { pinned: 0, own: 0, bundled: 1199, unknown: 1 };
	expect(verdictSaid({ ...verdict, signers })).toMatchObject({
		tone: 'warn',
		explained: '1 record signed by an unknown key.'
	});
});

test('what was not checked is said, and is no green', () => {
	const notes = ['2 post-quantum signatures were not checked.'];
	expect(verdictSaid({ ...verdict, notes })).toEqual({
		tone: 'warn',
		sign: '?',
		name: '1,200 verified in part',
		explained: notes[0]
	});
	const faults = [{ code: 'link', message: 'sequence gap at 1', place: 1 }];
	const broken = { ...verdict, isIntact: false, brokenAt: 1, faults, notes: ['Record 1 is elsewhere.'] };
	expect(verdictSaid(broken).explained).toBe('sequence gap at 1. Record 1 is elsewhere.');
});

test('a stranger is not taken for a forger', () => {
	const faults = [{ code: 'unknown_signer', message: 'unknown signer at 3', place: 3 }];
	expect(verdictSaid({ ...verdict, isIntact: false, brokenAt: 3, faults })).toMatchObject({
		tone: 'warn',
		name: 'unknown signer at #3'
	});
	const marks = { hash: true, link: true, signature: false, signer: 'unknown' } as const;
	expect([isBroken(marks), marksSentence(marks)]).toEqual([false, 'signer unknown']);
	expect(isBroken({ ...marks, signer: 'bundled' })).toBe(true);
});

test('progress counts where there is something to count', () => {
	expect(progressSaid({ chain: 'a', step: 'hashes', done: 1000, of: 2000 })).toBe('Hashes 1,000 of 2,000');
	expect(progressSaid({ chain: 'a', step: 'reading', done: 0, of: 0 })).toBe('Reading…');
});

test('marks are told in words', () => {
	const marks = { hash: true, link: true, signature: true, signer: 'own' } as const;
	expect(marksSentence(marks)).toBe('verified');
	expect(marksSentence({ ...marks, signature: null })).toBe('signature not checked');
	expect(marksSentence({ ...marks, hash: false, link: false })).toBe('hash does not match, link broken');
	expect([isBroken(marks), isBroken({ ...marks, link: false })]).toEqual([false, true]);
});
