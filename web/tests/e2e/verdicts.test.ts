/** The page, in a browser and over the program, gives the verdict of the manipulation table. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { applyEdits, table, type Manipulation, type Policy } from '../helpers/manipulations';
import { launchBrowser, Visitor } from './harness/browser';
import { expectAccessible } from './harness/checks';
import { ScratchFolder, type RunningProgram } from './harness/program';

/** Every other manipulation, half of them with pinned keys, and those where pinned keys make a difference. */
const ALL = table.cases.filter(({ meta_head: noted }) => noted === null);
const PICKED = ALL.filter((_, at) => at % 2 === 0);
const CASES: [Manipulation, Policy][] = [
	...PICKED.map((one, at): [Manipulation, Policy] => [one, at % 2 === 0 ? 'default' : 'pinned']),
	...ALL.filter((one) => !PICKED.includes(one) && one.expected.default[0] !== one.expected.pinned[0]).map(
		(one): [Manipulation, Policy] => [one, 'pinned']
	),
	...ALL.filter((one) => !PICKED.includes(one)).map((one): [Manipulation, Policy] => [one, 'default'])
].slice(0, 60) as [Manipulation, Policy][];

/** The sign, the first words and the colour of each level. */
const EXPECTED_LABELS: Record<string, [sign: string, words: string, tone: string]> = {
	valid: ['✓', 'valid', 'good'],
	unverified: ['?', 'valid, not proven: ', 'warn'],
	incomplete: ['↓', 'incomplete', 'bad'],
	invalid: ['✗', 'broken', 'bad'],
	unreadable: ['–', 'cannot be read', 'bad']
};

let scratch: ScratchFolder;
let browser: Browser;
let viewer: RunningProgram;
let bundle: string;

async function put(files: Record<string, string>): Promise<void> {
	await rm(bundle, { recursive: true, force: true });
	await mkdir(bundle);
	for (const [name, text] of Object.entries(files)) await writeFile(`${bundle}/${name}`, text);
}

beforeAll(async () => {
	[scratch, browser] = await Promise.all([ScratchFolder.make(), launchBrowser()]);
	bundle = scratch.at('bundle');
	await put(applyEdits([]));
	viewer = await scratch.start(['trail', 'explore', bundle, '--port', '0']);
});

afterAll(async () => {
	await browser?.close();
	await viewer?.stop();
	await scratch?.remove();
});

test('60 manipulations get their verdict, their words and their colour', { timeout: 300_000 }, async () => {
	expect(CASES).toHaveLength(60);
	expect(new Set(CASES.map(([one, policy]) => `${one.name} ${policy}`)).size).toBe(60);
	const wrong: unknown[] = [];
	for (const policy of ['default', 'pinned'] as const) {
		const visitor = await Visitor.arrive(browser, viewer.origin);
		// A file that a case removed is asked for and not there.
		visitor.expects(/\/local\/trail\//);
		const { page } = visitor;
		const pins = JSON.stringify(table.policies[policy].pinned ?? []);
		await page.addInitScript((pins) => {
			if (location.protocol === 'http:') localStorage.setItem('capsid.explorer.pinned', pins);
		}, pins);
		for (const [{ name, edits, expected }] of CASES.filter(([, its]) => its === policy)) {
			await put(applyEdits(edits));
			await (page.url() === 'about:blank' ? page.goto(viewer.address) : page.reload());
			const whole = page.getByRole('status').filter({ hasText: /All chains/ });
			await page.getByText(/Only keys that you pinned|You pinned no key/).waitFor();
			const [level, , code] = expected[policy];
			const [sign, words, tone] = EXPECTED_LABELS[level] ?? ['', '', ''];
			const text = (await whole.innerText()).replace(/\s+/g, ' ');
			const classes = (await page.locator('.whole').getAttribute('class')) ?? '';
			const listed = await page.locator('.whole code').allInnerTexts();
			const isNamed =
				code === null || ['bundled_signer', 'unknown_signer', 'grown'].includes(code) || listed[0] === code;
			if (!text.startsWith(`${sign} All chains: ${words}`) || !classes.split(' ').includes(tone) || !isNamed)
				wrong.push({ name, policy, expected: expected[policy], text, classes, listed });
		}
		await expectAccessible(page);
		await visitor.leave();
	}
	expect(wrong).toEqual([]);
});
