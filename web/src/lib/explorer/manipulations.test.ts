/** The page comes to the verdict of the manipulation table, as the program and `docs/verify.mjs` do. */
import { describe, expect, it } from 'vitest';
import { applyEdits, table, toRequest, type Policy } from '../../../tests/helpers/manipulations';
import { createTestEngine } from '../../../tests/helpers/testEngine';
import { describeLevel } from './labels';

const POLICIES: Policy[] = ['default', 'any', 'pinned', 'own'];
/** The sign, the colour and the first words of each level. */
const EXPECTED_LABELS: Record<string, [sign: string, tone: string, words: string]> = {
	valid: ['✓', 'good', 'valid'],
	unverified: ['?', 'warn', 'valid, not proven: '],
	incomplete: ['↓', 'bad', 'incomplete'],
	invalid: ['✗', 'bad', 'broken'],
	unreadable: ['–', 'bad', 'cannot be read']
};

describe('the page comes to the verdict of the table', () => {
	it('which has 432 cases', () => {
		expect(table.cases.length * POLICIES.length).toBe(432);
	});

	it.each([1, -1])('and a noted head of the meta-chain that is there changes nothing (%i)', async (from) => {
		const files = applyEdits([]);
		const meta = JSON.parse(files['meta.json'] ?? '') as { capsules: { hash: string }[] };
		const count = from < 0 ? meta.capsules.length : from;
		const head = `${count}:${meta.capsules[count - 1]?.hash}`;
		const levels: string[] = [];
		for (const noted of [null, head]) {
			const engine = createTestEngine();
			await engine.open({ kind: 'page', files }, [], toRequest('own', noted));
			levels.push((await engine.evaluate()).level);
			engine.close();
		}
		expect(levels[1]).toBe(levels[0]);
	});

	it.each(table.cases)('$name', async ({ edits, meta_head: metaHead, expected }) => {
		const files = applyEdits(edits);
		const actual: Record<string, unknown> = {};
		for (const policy of POLICIES) {
			const engine = createTestEngine();
			const pinned = table.policies[policy].pinned ?? [];
			await engine.open({ kind: 'page', files }, pinned, toRequest(policy, metaHead));
			const verdict = await engine.evaluate();
			engine.close();
			const { code = null, chain = null, position = null } = verdict.findings[0] ?? {};
			actual[policy] = [verdict.level, verdict.exit, code, chain, position];
			const [sign, tone, words] = EXPECTED_LABELS[expected[policy][0]] ?? [];
			const label = describeLevel(verdict.level, verdict.findings);
			expect([label.sign, label.tone]).toEqual([sign, tone]);
			expect(label.name.startsWith(words ?? '-')).toBe(true);
		}
		expect(actual).toEqual(expected);
	});
});
