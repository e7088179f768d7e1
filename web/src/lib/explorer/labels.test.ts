import { expect, test } from 'vitest';
import type { Verdict } from './types';
import { hasBrokenMark, summarizeMarks, describeProgress, describeVerdict } from './labels';

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
	expect(describeVerdict(undefined).name).toBe('not verified yet');
	expect(describeVerdict(verdict)).toMatchObject({ tone: 'good', name: '1,200 verified · nothing altered' });
	const broken = {
		...verdict,
		isIntact: false,
		brokenAt: 0,
		faults: [{ code: 'hash', message: 'm', position: 0 }]
	};
	expect(describeVerdict(broken)).toMatchObject({ tone: 'bad', name: 'broken at #0', explained: 'm' });
	expect(describeVerdict({ ...broken, brokenAt: 1200 }).name).toBe('not what was announced');
});

test('an unknown signer is not shown as good', () => {
	const signers = { pinned: 0, own: 0, bundled: 1199, unknown: 1 };
	expect(describeVerdict({ ...verdict, signers })).toMatchObject({
		tone: 'warn',
		explained: '1 record signed by an unknown key.'
	});
});

test('unchecked records are named and not shown as good', () => {
	const notes = ['2 post-quantum signatures were not checked.'];
	expect(describeVerdict({ ...verdict, notes })).toEqual({
		tone: 'warn',
		sign: '?',
		name: '1,200 verified in part',
		explained: notes[0]
	});
	const faults = [{ code: 'link', message: 'sequence gap at 1', position: 1 }];
	const broken = { ...verdict, isIntact: false, brokenAt: 1, faults, notes: ['Record 1 is elsewhere.'] };
	expect(describeVerdict(broken).explained).toBe('sequence gap at 1. Record 1 is elsewhere.');
});

test('an unknown signer is a warning and not a forgery', () => {
	const faults = [{ code: 'unknown_signer', message: 'unknown signer at 3', position: 3 }];
	expect(describeVerdict({ ...verdict, isIntact: false, brokenAt: 3, faults })).toMatchObject({
		tone: 'warn',
		name: 'unknown signer at #3'
	});
	const marks = { hash: true, link: true, signature: false, signer: 'unknown' } as const;
	expect([hasBrokenMark(marks), summarizeMarks(marks)]).toEqual([false, 'signer unknown']);
	expect(hasBrokenMark({ ...marks, signer: 'bundled' })).toBe(true);
});

test('progress counts where there is something to count', () => {
	expect(describeProgress({ chain: 'a', step: 'hashes', done: 1000, total: 2000 })).toBe(
		'Hashes 1,000 of 2,000'
	);
	expect(describeProgress({ chain: 'a', step: 'reading', done: 0, total: 0 })).toBe('Reading…');
});

test('marks are summarized in words', () => {
	const marks = { hash: true, link: true, signature: true, signer: 'own' } as const;
	expect(summarizeMarks(marks)).toBe('verified');
	expect(summarizeMarks({ ...marks, signature: null })).toBe('signature not checked');
	expect(summarizeMarks({ ...marks, hash: false, link: false })).toBe('hash does not match, link broken');
	expect([hasBrokenMark(marks), hasBrokenMark({ ...marks, link: false })]).toEqual([false, true]);
});
