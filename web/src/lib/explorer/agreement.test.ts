/** The page and the program must come to the same verdict on the same bundles, the broken ones included. */
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { BundleFault, Engine, Verdict } from './types';
import { createEngine } from './engine';
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
function expected(chain: string, said: ChainVerdict): Partial<Verdict> {
	const signers = { pinned: 0, own: 0, bundled: 0, unknown: 0 };
	for (const [, count, standing] of said.signers) signers[standing] += count;
	const fault = said.class ?? (said.contradiction === null ? null : 'contradiction');
	const place = said.broken_at ?? said.total;
	return {
		chain,
		isIntact: fault === null,
		checked: said.verified,
		length: said.total,
		brokenAt: fault === null ? null : place,
		faults: fault === null ? [] : [{ code: fault, message: said.message ?? said.contradiction ?? '', place }],
		signers
	};
}

function agrees(found: Verdict, said: ChainVerdict): void {
	if (said.error === undefined) {
		expect(found).toMatchObject(expected(found.chain, said));
	} else {
		const code = said.error === 'file_not_found' ? 'missing' : said.error;
		expect(found).toMatchObject({ isIntact: false, faults: [{ code }] });
	}
}

async function marksAgree(engine: Engine, { chain, length, isIntact }: Verdict): Promise<void> {
	if (length === 0) return;
	const { rows } = await engine.find({ chain, text: '', type: null, order: 'oldest', offset: 0, limit: 99 });
	expect(rows).toHaveLength(length);
	const isGood = rows.every(({ marks }) => marks.hash && marks.link && marks.signature);
	if (isIntact) expect(isGood).toBe(true);
	for (const { place, marks } of rows) {
		const { problems } = await engine.detail(chain, place);
		expect(problems.length === 0).toBe(marks.hash && marks.link && marks.signature);
	}
}

describe('page and program agree', () => {
	it.each(cases)('$name', { timeout: 60_000 }, async (one) => {
		serveFiles({ ...one.files, 'keys.json': JSON.stringify({ own: one.own, pinned: one.pinned }) });
		const engine = createEngine();
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
		expect(faults('ambiguous_chain')).toEqual([]);
		expect(bundle.chains).toHaveLength(one.verdict.chains.length);
		for (const [at, said] of one.verdict.chains.entries()) {
			const found = await engine.verify(bundle.chains[at]?.id ?? '');
			agrees(found, said);
			await marksAgree(engine, found);
		}
		const view = await engine.meta();
		expect(view === null).toBe(one.verdict.meta === null);
		if (view && one.verdict.meta) {
			agrees(view.verdict, one.verdict.meta);
			const said = one.verdict.conversations?.map(([tool, , state, count]) => [tool, state, count]);
			expect(view.rows.map(({ tool, state, length }) => [tool, state, length])).toEqual(said);
		}
		engine.close();
	});
});
