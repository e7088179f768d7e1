import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { pqCheck } from '$lib/seal/pq';
import { LOCAL_SOURCE, serveFiles } from '../../../tests/helpers/localViewer';
import type { Verdict } from './types';
import { createTestEngine } from '../../../tests/helpers/testEngine';

interface Vectors {
	own: string;
	pq: string;
	first: string;
	cases: { second: string; valid: boolean; broken_at: number | null; message: string | null }[];
}

const vectors = JSON.parse(readFileSync('tests/vectors/pq.json', 'utf8')) as Vectors;
const { own, pq, first } = vectors;

/** What the page says of the two records at a local viewer that knows these keys. */
async function verdictOn(second: string, keys: object, bundled = {}): Promise<Verdict> {
	serveFiles({
		'index.json': JSON.stringify({ ...bundled, chains: [{ id: 'c' }] }),
		'c.json': `[${first}, ${second}]`,
		'keys.json': JSON.stringify(keys)
	});
	const engine = createTestEngine();
	await engine.open(LOCAL_SOURCE, []);
	return engine.verify('c').finally(() => engine.close());
}

afterEach(() => void vi.unstubAllGlobals());

describe('post-quantum signatures', () => {
	it('are checked as the program checks them, with the keys of this machine', async () => {
		for (const { second, valid, broken_at, message } of vectors.cases) {
			const { isIntact, brokenAt, faults, notes } = await verdictOn(second, { own, pq });
			expect([isIntact, brokenAt, faults[0]?.message ?? null]).toEqual([valid, broken_at, message]);
			expect(notes).toEqual([]);
		}
	});

	it('are reported as not checked where the key is not that of this machine, or is not there', async () => {
		const second = vectors.cases[3]?.second ?? '';
		const notes = ['2 post-quantum signatures were not checked: there is no key for them.'];
		const strange = await verdictOn(second, { own: null, pq }, { public_key: own });
		expect(strange).toMatchObject({ isIntact: true, notes });
		expect(await verdictOn(second, { own })).toMatchObject({ isIntact: true, notes });
	});

	it('need a key of the right length', async () => {
		expect(await pqCheck(new Uint8Array(31))).toBeNull();
	});
});
