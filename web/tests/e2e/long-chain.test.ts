import { mkdir, writeFile } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { generatedBundle } from '../helpers/generatedBundle';
import { launchBrowser, Visitor } from './harness/browser';
import { ScratchFolder, type RunningProgram } from './harness/program';

const RECORDS = process.env['CAPSID_SOAK'] ? 100_000 : 20_000;
const MAX_ROWS = 200;

let scratch: ScratchFolder;
let browser: Browser;
let viewer: RunningProgram;

beforeAll(async () => {
	[scratch, browser] = await Promise.all([ScratchFolder.make(), launchBrowser()]);
	const bundle = scratch.at('bundle');
	await mkdir(bundle);
	for (const [name, text] of Object.entries(generatedBundle(RECORDS)))
		await writeFile(`${bundle}/${name}`, text);
	viewer = await scratch.start(['trail', 'explore', bundle, '--port', '0']);
}, 600_000);

afterAll(async () => {
	await browser?.close();
	await viewer?.stop();
	await scratch?.remove();
});

test(
	'a very long chain scrolls and is searched, with few rows in the document',
	{ timeout: 600_000 },
	async () => {
		const visitor = await Visitor.arrive(browser, viewer.origin);
		const { page } = visitor;
		await page.goto(viewer.address);
		const list = page.getByRole('listbox').last();
		const rows = list.getByRole('option');
		await rows
			.filter({ hasText: `step-${RECORDS - 1}` })
			.first()
			.waitFor({ timeout: 120_000 });
		const expectFew = async () =>
			expect(await page.getByRole('option').count()).toBeLessThanOrEqual(MAX_ROWS);
		await expectFew();

		await list.focus();
		await page.keyboard.press('End');
		await rows
			.filter({ hasText: /step-0\b/ })
			.first()
			.waitFor();
		await expectFew();
		for (const part of [0.25, 0.5, 0.75]) {
			await list.evaluate((box, part) => (box.scrollTop = box.scrollHeight * part), part);
			await rows
				.filter({ hasText: /step-\d+/ })
				.first()
				.waitFor();
			await expectFew();
		}

		const wanted = Math.floor(RECORDS / 3);
		await page.getByRole('searchbox', { name: 'Search records' }).fill(`make step-${wanted}`);
		await rows
			.filter({ hasText: `step-${wanted}` })
			.first()
			.waitFor({ timeout: 60_000 });
		await expectFew();
		await page.getByRole('searchbox', { name: 'Search records' }).fill('');
		await page.getByText(`${RECORDS.toLocaleString('en')} shown`).waitFor({ timeout: 60_000 });
		await expectFew();
		await visitor.leave();
	}
);
