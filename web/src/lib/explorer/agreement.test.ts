/** The page and the program must come to the same verdict on the same bundles, the broken ones included. */
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { BundleFault, Engine, Verdict } from './types';
import { createTestEngine } from '../../../tests/helpers/testEngine';
import { LOCAL_SOURCE, serveFiles } from '../../../tests/helpers/localViewer';

interface ChainVerdict {
	error?: string;
	valid: boolean;
	verified: number;
	total: number;
	broken_at: number | null;
	class: string | null;
	message: string | null;
	signers: [string, number, 'pinned' | 'own' | 'bundled' | 'unknown'][];
	contradiction: string | null;
}

interface Case {
	name: string;
	own: string | null;
	pinned: string[];
	files: Record<string, string>;
	verdict: {
		error?: string;
		keys: [string, string][];
		refused_keys: number;
		contradictions: string[];
		chains: ChainVerdict[];
		meta: ChainVerdict | null;
		conversations: [string, string, string, number | null][] | null;
	};
}

const cases = ['chains', 'bundles', 'meta'].flatMap(
	(name) => JSON.parse(readFileSync(`tests/vectors/${name}.json`, 'utf8')) as Case[]
);

afterEach(() => void vi.unstubAllGlobals());

/** What the program says, in the words of the page. */
function expected(chain: string, expectedVerdict: ChainVerdict): Partial<Verdict> {
	const signers = { pinned: 0, own: 0, retired: 0, known: 0, bundled: 0, unknown: 0 };
	for (const [, count, trust] of expectedVerdict.signers) signers[trust] += count;
	const fault = expectedVerdict.class ?? (expectedVerdict.contradiction === null ? null : 'contradiction');
	const position = expectedVerdict.broken_at ?? expectedVerdict.total;
	return {
		chain,
		isIntact: fault === null,
		checked: expectedVerdict.verified,
		length: expectedVerdict.total,
		brokenAt: fault === null ? null : position,
		faults:
			fault === null
				? []
				: [
						{ code: fault, message: expectedVerdict.message ?? expectedVerdict.contradiction ?? '', position }
					],
		signers
	};
}

function agrees(actual: Verdict, expectedVerdict: ChainVerdict): void {
	if (expectedVerdict.error === undefined) {
		expect(actual).toMatchObject(expected(actual.chain, expectedVerdict));
	} else {
		const code = expectedVerdict.error === 'file_not_found' ? 'missing' : expectedVerdict.error;
		expect(actual).toMatchObject({ isIntact: false, faults: [{ code }] });
	}
}

async function marksAgree(engine: Engine, { chain, length, isIntact }: Verdict): Promise<void> {
	if (length === 0) return;
	const result = await engine.find({ chain, text: '', type: null, order: 'oldest', offset: 0, limit: 99 });
	const rows = result.rows.filter((row) => row !== null);
	expect(rows).toHaveLength(length);
	const isGood = rows.every(({ marks }) => marks.hash && marks.link && marks.signature);
	if (isIntact) expect(isGood).toBe(true);
	for (const { position, marks } of rows) {
		const { problems } = await engine.detail(chain, position);
		expect(problems.length === 0).toBe(marks.hash && marks.link && marks.signature);
	}
}

describe('page and program agree', () => {
	it.each(cases)('$name', { timeout: 60_000 }, async (one) => {
		serveFiles({ ...one.files, 'keys.json': JSON.stringify({ own: one.own, pinned: one.pinned }) });
		const engine = createTestEngine();
		const opening = engine.open(LOCAL_SOURCE, []);
		if (one.verdict.error !== undefined) {
			await expect(opening).rejects.toThrow();
			return;
		}
		const bundle = await opening;
		expect(bundle.keys.map(({ hex, trust }) => [hex, trust])).toEqual(one.verdict.keys);
		const faults = (code: BundleFault['code']) => bundle.faults.filter((fault) => fault.code === code);
		expect(faults('key_refused')).toHaveLength(one.verdict.refused_keys);
		expect(faults('contradiction').map(({ message }) => message)).toEqual(one.verdict.contradictions);
		expect(faults('listed_twice')).toEqual([]);
		expect(bundle.chains).toHaveLength(one.verdict.chains.length);
		for (const [at, expectedVerdict] of one.verdict.chains.entries()) {
			const actual = await engine.verify(bundle.chains[at]?.id ?? '');
			agrees(actual, expectedVerdict);
			await marksAgree(engine, actual);
		}
		const view = await engine.meta();
		expect(view === null).toBe(one.verdict.meta === null);
		if (view && one.verdict.meta) {
			agrees(view.verdict, one.verdict.meta);
			const expectedVerdict = one.verdict.conversations?.map(([tool, , state, count]) => [
				tool,
				state,
				count
			]);
			expect(view.rows.map(({ tool, state, length }) => [tool, state, length])).toEqual(expectedVerdict);
		}
		engine.close();
	});
});
