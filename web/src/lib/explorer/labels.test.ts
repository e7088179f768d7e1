import { expect, test } from 'vitest';
import type { Verdict, VerdictLevel } from './types';
import { hasBrokenMark, summarizeMarks, describeProgress, describeVerdict } from './labels';

const verdict: Verdict = {
	chain: 'a',
	level: 'valid',
	reason: '',
	findings: [],
	position: null,
	require: 'any',
	isIntact: true,
	checked: 1200,
	length: 1200,
	signaturesChecked: 1200,
	brokenAt: null,
	faults: [],
	signers: { pinned: 1200, own: 0, retired: 0, known: 0, bundled: 0, unknown: 0 },
	notes: []
};

const finding = (code: string, level: VerdictLevel, position: number | null) => ({
	code,
	level,
	position,
	chain: 'a',
	message: 'Because.',
	fix: null
});

test.each([
	['valid', [], 'good', '✓', 'valid'],
	[
		'unverified',
		[finding('bundled_signer', 'unverified', null)],
		'warn',
		'?',
		'valid, not proven: its key came with the data'
	],
	['incomplete', [finding('truncated', 'incomplete', 1200)], 'bad', '↓', 'incomplete'],
	['invalid', [finding('hash', 'invalid', 7)], 'bad', '✗', 'broken at #7'],
	['invalid', [finding('contradiction', 'invalid', null)], 'bad', '✗', 'broken'],
	['unreadable', [finding('unreadable', 'unreadable', null)], 'bad', '–', 'cannot be read']
] as const)('the level %s has a colour, a sign and a word', (level, findings, tone, sign, name) => {
	const reason = findings.length > 0 ? 'Because.' : '';
	const position = findings[0]?.position ?? null;
	const label = describeVerdict({ ...verdict, level, reason, position, findings: [...findings] });
	expect(label).toMatchObject({ tone, sign, name });
	expect(label.explained).toBe(reason || '1,200 records checked, signed by keys that you pinned.');
});

test('before the end there is no verdict', () => {
	expect(describeVerdict(undefined).name).toBe('not verified yet');
	expect(describeProgress({ chain: 'a', done: 1000, total: 2000, bytes: 1 })).toBe('1,000 of 2,000 checked');
	expect(describeProgress({ chain: 'a', done: 0, total: 0, bytes: 0 })).toBe('Reading…');
});

test('a signer nobody knows is a warning at a record and not a forgery', () => {
	const marks = { hash: true, link: true, signature: false, signer: 'unknown' } as const;
	expect([hasBrokenMark(marks), summarizeMarks(marks)]).toEqual([false, 'signer unknown']);
	expect(hasBrokenMark({ ...marks, signer: 'bundled' })).toBe(true);
});

test('marks are summarized in words', () => {
	const marks = { hash: true, link: true, signature: true, signer: 'own' } as const;
	expect(summarizeMarks(marks)).toBe('verified');
	expect(summarizeMarks({ ...marks, signature: null })).toBe('signature not checked');
	expect(summarizeMarks({ ...marks, hash: false, link: false })).toBe('hash does not match, link broken');
	expect([hasBrokenMark(marks), hasBrokenMark({ ...marks, link: false })]).toEqual([false, true]);
});
