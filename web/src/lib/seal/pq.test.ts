import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { unhex } from './hex';
import { KeySet, publicKey } from './keys';
import { pqCheck } from './pq';
import { fromSealed } from './stored';
import { verifyChain } from './verify';

interface Vectors {
	own: string;
	pq: string;
	first: string;
	cases: { second: string; valid: boolean; broken_at: number | null; message: string | null }[];
}

const vectors = JSON.parse(readFileSync('tests/vectors/pq.json', 'utf8')) as Vectors;
const own = publicKey(vectors.own);
const records = (second: string) => [fromSealed(vectors.first), fromSealed(second)];

describe('post-quantum signatures', async () => {
	const check = await pqCheck(unhex(vectors.pq, 1952) ?? new Uint8Array());

	it('are checked as the program checks them, with the keys of this machine', () => {
		const keys = new KeySet();
		if (own) keys.add(own, 'own');
		for (const { second, valid, broken_at, message } of vectors.cases) {
			const verdict = verifyChain(records(second), keys, check);
			expect([verdict.valid, verdict.brokenAt, verdict.failure?.message ?? null]).toEqual([
				valid,
				broken_at,
				message
			]);
			expect(verdict.notes).toEqual([]);
		}
	});

	it('are told as not checked where the key is not that of this machine, or is not there', () => {
		const keys = new KeySet();
		if (own) keys.add(own, 'bundled');
		const told = ['2 post-quantum signatures were not checked: there is no key for them.'];
		for (const checks of [check, null]) {
			const verdict = verifyChain(records(vectors.cases[3]?.second ?? ''), keys, checks);
			expect([verdict.valid, verdict.notes]).toEqual([true, told]);
		}
	});

	it('need a key of the right length', async () => {
		expect(await pqCheck(new Uint8Array(31))).toBeNull();
	});
});
