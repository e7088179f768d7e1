import { mkdir, readFile, writeFile } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FAILED, generatedBundle, PENDING } from '../helpers/generatedBundle';
import { launchBrowser, THEMES, Visitor, WIDTHS, type VisitorOptions, type Theme } from './harness/browser';
import { expectAccessible, expectFits } from './harness/checks';
import { ScratchFolder, type RunningProgram } from './harness/program';
import { sealFourAgents } from './harness/transcripts';

const TITLES = { 'claude-code': /pears/, codex: /plums/, cursor: /figs/, cline: /grapes/ };

let scratch: ScratchFolder;
let browser: Browser;
let viewer: RunningProgram;

beforeAll(async () => {
	[scratch, browser] = await Promise.all([ScratchFolder.make(), launchBrowser()]);
	await sealFourAgents(scratch);
	viewer = await scratch.start(['trail', 'explore', '--port', '0']);
});

afterAll(async () => {
	await browser?.close();
	await viewer?.stop();
	await scratch?.remove();
});

/** Opens the address that the local viewer printed. Its key goes with it. */
async function arrive(at: RunningProgram, options: VisitorOptions = {}): Promise<Visitor> {
	const visitor = await Visitor.arrive(browser, at.origin, options);
	await visitor.page.goto(at.address);
	await visitor.settled();
	return visitor;
}

/** The verdict on the chain that is looked at. Another one is about all of them. */
const verdict = (visitor: Visitor) =>
	visitor.page
		.getByRole('status')
		.filter({ hasText: /valid|broken/ })
		.filter({ hasNotText: /All chains/ });

test('the chains of four agents are listed, signed and verified', async () => {
	const visitor = await arrive(viewer);
	const { page } = visitor;
	expect(page.url()).not.toContain('key=');
	const rail = page.getByRole('listbox', { name: 'Chains' });
	expect(await rail.getByRole('option').count()).toBe(4);
	for (const [tool, title] of Object.entries(TITLES)) {
		await rail.getByRole('option').filter({ hasText: title }).filter({ hasText: tool }).click();
		await page.getByRole('heading', { level: 2, name: title }).waitFor();
		await verdict(visitor)
			.getByText(/^✓ valid$/)
			.waitFor();
		await page.getByText(/checked, signed by keys of this machine/).waitFor();
	}
	await visitor.leave();
});

test('the meta-chain notes every one of them as intact', async () => {
	const visitor = await arrive(viewer);
	const { page } = visitor;
	await page
		.getByRole('navigation', { name: 'Chains' })
		.getByText(/meta-chain/i)
		.first()
		.click();
	await page.getByRole('heading', { level: 2, name: 'Meta-chain' }).waitFor();
	await page.getByRole('button', { name: /intact\s+4/ }).waitFor();
	await visitor.leave();
});

test('a record that was changed is flagged where it is, and restored', async () => {
	const visitor = await arrive(viewer);
	const { page } = visitor;
	await page
		.getByRole('listbox', { name: 'Chains' })
		.getByRole('option')
		.filter({ hasText: TITLES['claude-code'] })
		.click();
	await page.getByRole('heading', { name: TITLES['claude-code'] }).waitFor();
	// Before all is checked the verdict has no number yet.
	const content = await verdict(visitor)
		.getByText(/\d+ records? checked/)
		.innerText();
	const [length] = /\d+/.exec(content) ?? [];
	await page.getByRole('button', { name: 'Tamper' }).click();
	const position = Math.floor(Number(length) / 2);
	const broken = page.getByRole('button', { name: `broken at #${position}` });
	await broken.waitFor();
	await broken.click();
	const record = page.getByRole('article', { name: 'Record' });
	await record
		.getByRole('heading', { level: 2 })
		.filter({ hasText: `#${position}` })
		.waitFor();
	await record.getByRole('alert').filter({ hasText: 'hash' }).first().waitFor();
	await expectAccessible(page);

	await page.getByRole('button', { name: 'Restore' }).click();
	await verdict(visitor)
		.getByText(/^✓ valid$/)
		.waitFor();
	await expect.poll(() => record.getByRole('alert').count()).toBe(0);
	await visitor.leave();
});

test('a record shows its six sections, and its exact text', async () => {
	const visitor = await arrive(viewer);
	const { page } = visitor;
	await page
		.getByRole('listbox', { name: 'Chains' })
		.getByRole('option')
		.filter({ hasText: TITLES['claude-code'] })
		.click();
	await page.getByRole('listbox').nth(1).getByRole('option').first().click();
	const record = page.getByRole('article', { name: 'Record' });
	for (const section of ['Trigger', 'Context', 'Reasoning', 'Authority', 'Execution', 'Outcome']) {
		await record
			.getByRole('heading', { name: new RegExp(section, 'i') })
			.first()
			.waitFor();
	}
	await page.getByRole('button', { name: /Deep dive/ }).click();
	await page.getByRole('dialog').getByText('"previous_hash"').first().waitFor();
	await visitor.leave();
});

test('a bundle that was altered on disk is flagged at the right record', async () => {
	const bundle = scratch.at('bundle');
	await scratch.run(['trail', 'export', '--out', bundle]);
	const index = JSON.parse(await readFile(`${bundle}/index.json`, 'utf8'));
	const chain = index.chains.find(({ tool }: { tool: string }) => tool === 'claude-code');
	const path = `${bundle}/${chain.id}.json`;
	const content = JSON.parse(await readFile(path, 'utf8'));
	content.capsules[1].canonical = content.capsules[1].canonical
		.replace('make test', 'make best')
		.replace('pears', 'bears');
	await writeFile(path, JSON.stringify(content));
	const other = await scratch.start(['trail', 'explore', bundle, '--port', '0']);
	try {
		const visitor = await arrive(other);
		const { page } = visitor;
		const rail = page.getByRole('listbox', { name: 'Chains' });
		await rail.getByRole('option').filter({ hasText: 'claude-code' }).click();
		await page.getByRole('button', { name: 'broken at #1' }).waitFor();
		await rail.getByRole('option').filter({ hasText: 'codex' }).click();
		await verdict(visitor)
			.getByText(/^✓ valid$/)
			.waitFor();
		await visitor.leave();
	} finally {
		await other.stop();
	}
});

test('one file holds chains and pages, and verifies itself from the disk', async () => {
	const file = scratch.at('trail.html');
	await scratch.run(['trail', 'export', '--html', file]);
	const visitor = await Visitor.arrive(browser, 'file://');
	const { page } = visitor;
	await page.goto(`file://${file}`);
	await visitor.settled();
	const rail = page.getByRole('listbox', { name: 'Chains' });
	for (const title of Object.values(TITLES)) {
		await rail.getByRole('option').filter({ hasText: title }).click();
		await verdict(visitor)
			.getByText(/valid, not proven/)
			.waitFor();
	}
	await page.getByRole('button', { name: 'Tamper' }).click();
	await page.getByRole('button', { name: /broken at #/ }).waitFor();
	await page.getByRole('button', { name: 'Restore' }).click();
	await verdict(visitor)
		.getByText(/valid, not proven/)
		.waitFor();
	await expectAccessible(page);
	await visitor.leave();
});

test('one file verifies itself beside the page where no worker starts from a blob', async () => {
	const file = scratch.at('slices.html');
	await scratch.run(['trail', 'export', '--html', file]);
	const visitor = await Visitor.arrive(browser, 'file://');
	const { page } = visitor;
	await page.addInitScript(() => {
		window.Worker = class {
			constructor() {
				throw new DOMException('workers are blocked here', 'SecurityError');
			}
		} as unknown as typeof Worker;
	});
	await page.goto(`file://${file}`);
	await visitor.settled();
	const rail = page.getByRole('listbox', { name: 'Chains' });
	await rail.getByRole('option').filter({ hasText: TITLES.codex }).click();
	await verdict(visitor)
		.getByText(/valid, not proven/)
		.waitFor();
	await page.getByRole('button', { name: 'Tamper' }).click();
	await page.getByRole('button', { name: /broken at #/ }).waitFor();
	expect(page.workers()).toEqual([]);
	await visitor.leave();
});

test('failures, prompts, use over time and the demonstration are shown', async () => {
	const bundle = scratch.at('generated');
	await mkdir(bundle);
	for (const [name, text] of Object.entries(generatedBundle(120))) await writeFile(`${bundle}/${name}`, text);
	const other = await scratch.start(['trail', 'explore', bundle, '--port', '0']);
	try {
		const visitor = await arrive(other);
		const { page } = visitor;
		const rows = page.getByRole('listbox').last().getByRole('option');
		const waitForCount = (count: number) => page.getByText(`${count} shown`).waitFor();
		await waitForCount(120);
		await page.getByLabel('failures and unknown').check();
		await waitForCount(2);
		expect(await rows.allInnerTexts()).toEqual([
			expect.stringContaining(`step-${PENDING}`),
			expect.stringContaining(`step-${FAILED}`)
		]);
		await page.getByLabel('failures and unknown').uncheck();
		await waitForCount(120);

		// Each prompt stands above the first of its records, and nowhere else.
		const prompts = rows.getByText(/please build number/);
		expect(await prompts.count()).toBe(0);
		await page.getByRole('button', { name: /newest first/ }).click();
		await page.getByLabel('by prompt').check();
		await rows.first().getByText('please build number 0').waitFor();
		expect(await prompts.count()).toBe(1);
		await page.getByRole('listbox').last().focus();
		await page.keyboard.press('End');
		await rows.filter({ hasText: 'step-119' }).waitFor();

		await page.getByText('Durations and tokens over time').click();
		// What is drawn stands in a table too.
		const numbers = async (title: string) => {
			const figure = page.getByRole('figure').filter({ has: page.getByRole('table', { name: title }) });
			await figure.locator('canvas').waitFor();
			return (await figure.locator('td').allInnerTexts()).map(Number);
		};
		const sum = (all: number[]) => all.reduce((one, other) => one + other, 0);
		expect(sum(await numbers('Tokens'))).toBe(120 * (10 + 2));
		expect(sum(await numbers('Seconds'))).toBeCloseTo(120 * 0.012, 5);

		await page.getByRole('button', { name: 'Tamper' }).click();
		const note = page.getByRole('complementary', { name: 'Demonstration' });
		await note.getByText('Record #60 was changed in this page only').waitFor();
		const changed = await note.locator('ins').innerText();
		expect(changed).not.toBe('');
		expect(await note.locator('del').innerText()).not.toBe(changed);
		await expectAccessible(page);
		await page.getByRole('button', { name: 'Restore' }).click();
		await note.waitFor({ state: 'detached' });
		await visitor.leave();
	} finally {
		await other.stop();
	}
});

test('the local viewer refuses requests without its key', async () => {
	const visitor = await Visitor.arrive(browser, viewer.origin);
	visitor.expects(/\/local\//);
	await visitor.go('/explorer');
	await visitor.page.getByText(/does not know the key/).waitFor();
	expect((await fetch(`${viewer.origin}/local/trail/index.json`)).status).toBeGreaterThanOrEqual(400);
	await visitor.leave();
});

const variants = WIDTHS.flatMap((width) => THEMES.map((theme): [number, Theme] => [width, theme]));

test.each(variants)('the Explorer at %i pixels, %s', async (width, theme) => {
	const visitor = await arrive(viewer, { width, theme });
	const { page } = visitor;
	await verdict(visitor)
		.getByText(/✓ valid/)
		.waitFor();
	await expectFits(page);
	await expectAccessible(page);
	await page.getByRole('listbox').last().getByRole('option').first().click();
	await page.getByRole('article', { name: 'Record' }).getByRole('heading', { level: 2 }).waitFor();
	await expectFits(page);
	await expectAccessible(page);
	await visitor.leave();
});
