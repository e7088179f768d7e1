/** How fast a chain is verified in a real browser, in which order, and with how much memory. */
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { cpus, loadavg } from 'node:os';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { generatedBundle } from '../helpers/generatedBundle';
import { launchBrowser, Visitor } from './harness/browser';
import { ScratchFolder, type RunningProgram } from './harness/program';

const isBench = process.env['CAPSID_SOAK'] !== undefined;
const RECORDS = isBench ? 100_000 : 5_000;
/** Of the bench as it was measured; 5,000 records need little more than an empty page. */
const MAX_MIB = 300;
const MAX_SECONDS = 15;

let scratch: ScratchFolder;
let browser: Browser;
let viewer: RunningProgram;

beforeAll(async () => {
	[scratch, browser] = await Promise.all([ScratchFolder.make(), launchBrowser()]);
	const bundle = scratch.at('bundle');
	await mkdir(bundle);
	for (const [name, text] of Object.entries(generatedBundle(RECORDS, 1100)))
		await writeFile(`${bundle}/${name}`, text);
	viewer = await scratch.start(['trail', 'explore', bundle, '--port', '0']);
}, 600_000);

afterAll(async () => {
	await browser?.close();
	await viewer?.stop();
	await scratch?.remove();
});

/** The resident memory of the largest renderer that this test started, in MiB. */
async function measureRenderer(): Promise<number> {
	let largest = 0;
	for (const process of await readdir('/proc').catch(() => [])) {
		if (!/^\d+$/.test(process)) continue;
		const read = (name: string) => readFile(`/proc/${process}/${name}`, 'utf8').catch(() => '');
		// A renderer that was forked writes its words as one text.
		if (!(await read('cmdline')).includes('--type=renderer') || !(await isOurs(process))) continue;
		const resident = /VmRSS:\s+(\d+) kB/.exec(await read('status'))?.[1];
		largest = Math.max(largest, Number(resident ?? 0) / 1024);
	}
	return largest;
}

/** Whether a process was started by this one: others run browsers here too. */
async function isOurs(id: string): Promise<boolean> {
	for (let at = id; Number(at) > 1; ) {
		if (Number(at) === process.pid) return true;
		const status = await readFile(`/proc/${at}/status`, 'utf8').catch(() => '');
		at = /PPid:\s+(\d+)/.exec(status)?.[1] ?? '0';
	}
	return false;
}

test('a long chain is verified in order, with its newest rows first', { timeout: 600_000 }, async () => {
	const visitor = await Visitor.arrive(browser, viewer.origin);
	const { page } = visitor;
	let peak = 0;
	let isOver = false;
	const sampling = (async () => {
		while (!isOver) {
			peak = Math.max(peak, await measureRenderer());
			await new Promise((resume) => setTimeout(resume, 100));
		}
	})();
	const counts: number[] = [];
	await page.exposeFunction('noteCount', (count: number) => counts.push(count));
	await page.addInitScript(() => {
		const note = (window as unknown as { noteCount(count: number): void }).noteCount;
		let last = -1;
		const observe = () => {
			const text = document.querySelector('.counted')?.textContent ?? '';
			const count = Number(/^([\d,]+) of/.exec(text)?.[1]?.replaceAll(',', '') ?? -1);
			if (count !== last && count >= 0) note((last = count));
		};
		new MutationObserver(observe).observe(document, { childList: true, subtree: true, characterData: true });
	});
	const [load] = loadavg();
	const began = performance.now();
	await page.goto(viewer.address);
	const newest = page.getByRole('option').filter({ hasText: `step-${RECORDS - 1}` });
	await newest.first().waitFor({ timeout: 120_000 });
	const firstRows = (performance.now() - began) / 1000;
	expect(await newest.first().innerText()).toContain('verified');
	await page
		.getByRole('status')
		.getByText(/valid, not proven/)
		.first()
		.waitFor({ timeout: 300_000 });
	const seconds = (performance.now() - began) / 1000;
	isOver = true;
	await sampling;
	console.log(
		`${RECORDS} records: first rows after ${firstRows.toFixed(1)} s, verdict after ${seconds.toFixed(1)} s, ` +
			`renderer at most ${Math.round(peak)} MiB, ${cpus().length} cores, load ${load?.toFixed(1)} at the start`
	);
	// In order: the count only grows, and it is told more than once in a long chain.
	expect(counts).toEqual([...counts].sort((one, other) => one - other));
	// Where there is no /proc, memory is not measured.
	if (existsSync('/proc/self/status')) expect(peak).toBeGreaterThan(10);
	expect(peak).toBeLessThan(MAX_MIB);
	expect(counts.length).toBeGreaterThan(0);
	if (isBench) {
		expect(counts.length).toBeGreaterThan(3);
		expect(firstRows).toBeLessThan(1);
		expect(seconds).toBeLessThan(MAX_SECONDS);
	}
	// A link into the middle shows its record, with its marks.
	const middle = Math.floor(RECORDS / 2);
	const record = page.getByRole('article', { name: 'Record' });
	const shows = (position: number) =>
		record
			.getByRole('heading', { level: 2 })
			.filter({ hasText: `step-${position}` })
			.waitFor();
	await page.goto(`${viewer.origin}/explorer#codex-big/${middle}`);
	await shows(middle);
	// A short link wins over what the address says besides, and the page offers one.
	await page.goto(`${viewer.origin}/explorer?chain=codex-big&record=1#codex-big/${middle + 1}`);
	await shows(middle + 1);
	await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
	await record.getByRole('button', { name: 'Copy link' }).click();
	await record.getByText('Copied').waitFor();
	const link = await page.evaluate(() => navigator.clipboard.readText());
	expect(link).toBe(`${viewer.origin}/explorer#codex-big/${middle + 1}`);
	await visitor.leave();
});
