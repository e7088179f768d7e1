import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { VECTORS_MISSING, findSharedVectors } from '../../../tests/helpers/sharedVectors';
import { createTestEngine } from '../../../tests/helpers/testEngine';

const folder = findSharedVectors('sealed/bundle-sample');

describe('a bundle of another tool', () => {
	it('verifies, is compared and is searched', { timeout: 60_000 }, async ({ skip }) => {
		if (!folder) return skip(VECTORS_MISSING);
		const files = Object.fromEntries(
			readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')])
		);
		const engine = createTestEngine();
		const bundle = await engine.open({ kind: 'page', files }, []);
		expect(bundle.chains).toHaveLength(4);
		expect(bundle.meta).toBe(4);
		for (const { id, length } of bundle.chains) {
			const verdict = await engine.verify(id);
			expect(verdict).toMatchObject({
				isIntact: true,
				checked: length,
				signaturesChecked: length,
				faults: []
			});
			expect(verdict.signers.bundled).toBe(length);
		}
		const meta = await engine.meta();
		expect(meta?.verdict.isIntact).toBe(true);
		expect(meta?.rows.map(({ state }) => state)).toEqual(['intact', 'intact', 'intact', 'intact']);
		const all = await engine.find({
			chain: null,
			text: '',
			type: null,
			order: 'newest',
			offset: 0,
			limit: 50
		});
		expect(all.total).toBe(42);
		engine.close();
	});
});
